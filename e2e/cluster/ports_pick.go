package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
)

// ports are the listeners of one cluster, all on 127.0.0.1.
type ports struct {
	etcd, etcdPeer, apiserver, controllers, scheduler, kwok int
	kueueHealth, kueueMetrics, kueueWebhook                 int
}

// pickPorts finds free ports below the range the kernel hands out for outgoing
// connections (32768 and up on Linux), so that a port stays free between
// choosing it and the component's listening on it.
func pickPorts() (ports, error) {
	const low, high = 20000, 32000
	free := func() (int, error) {
		for range 200 {
			port := low + rand.IntN(high-low)
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				continue
			}
			return port, l.Close()
		}
		return 0, fmt.Errorf("no free port between %d and %d", low, high)
	}
	taken := map[int]bool{}
	next := make([]int, reflect.TypeFor[ports]().NumField())
	for i := range next {
		port, err := free()
		for err == nil && taken[port] {
			port, err = free()
		}
		if err != nil {
			return ports{}, err
		}
		taken[port], next[i] = true, port
	}
	return ports{next[0], next[1], next[2], next[3], next[4], next[5], next[6], next[7], next[8]}, nil
}

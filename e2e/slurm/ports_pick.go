package slurm

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// ports are the listeners of one installation, all on 127.0.0.1.
type ports struct {
	database, accounting, controller, rest int
	nodes                                  []int
}

// pickPorts finds free ports below the range that the kernel hands out for outgoing
// connections (32768 and up on Linux), so that they stay free until the daemons listen.
func pickPorts() (ports, error) {
	const low, high = 20000, 32000
	next := make([]int, 0, 4+len(Types))
	taken := map[int]bool{}
	for tries := 0; len(next) < cap(next); tries++ {
		if tries > 500 {
			return ports{}, fmt.Errorf("no free ports between %d and %d", low, high)
		}
		port := low + rand.IntN(high-low)
		l, err := net.Listen("tcp", address(port))
		if err != nil || taken[port] {
			continue
		}
		if err := l.Close(); err != nil {
			return ports{}, err
		}
		taken[port] = true
		next = append(next, port)
	}
	return ports{next[0], next[1], next[2], next[3], next[4:]}, nil
}

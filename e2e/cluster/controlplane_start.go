package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"golang.org/x/sync/errgroup"
)

// Names of the components; each has a log of its name.
const (
	etcd        = "etcd"
	apiserver   = "apiserver"
	controllers = "controllers"
	scheduler   = "scheduler"
	kwok        = "kwok"
	kueue       = "kueue"
)

// startAll brings the components up, those that need only the API server side by
// side, then the nodes, the flavors and the portal's own access.
func (c *Cluster) startAll() error {
	if err := c.startEtcd(); err != nil {
		return err
	}
	if err := c.startAPIServer(); err != nil {
		return err
	}
	var all errgroup.Group
	all.Go(c.startControllers)
	all.Go(c.startScheduler)
	all.Go(c.startKwok)
	all.Go(c.startKueue)
	all.Go(c.createNodes)
	all.Go(c.grantPortalAccess)
	if err := all.Wait(); err != nil {
		return err
	}
	return c.createFlavors()
}

func (c *Cluster) startEtcd() error {
	client, peer := local(c.ports.etcd), local(c.ports.etcdPeer)
	err := c.run(etcd, "hyperkube", "etcd", "--name=test", "--data-dir="+filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=test=http://"+peer)
	if err != nil {
		return err
	}
	return c.waitFor(etcd, answers(http.DefaultClient, "http://"+client+"/health"))
}

func (c *Cluster) startAPIServer() error {
	p := c.pki
	err := c.run(apiserver, "hyperkube", "kube-apiserver", "--etcd-servers=http://"+local(c.ports.etcd),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", c.ports.apiserver), "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/16", "--authorization-mode=Node,RBAC", "--anonymous-auth=false",
		"--enable-admission-plugins=NodeRestriction", "--allow-privileged=true", "--profiling=false",
		"--client-ca-file="+p.path("ca.crt"), "--tls-cert-file="+p.path("apiserver.crt"), "--tls-private-key-file="+p.path("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file="+p.path("serviceaccount.pub"), "--service-account-signing-key-file="+p.path("serviceaccount.key"),
		"--kubelet-client-certificate="+p.path("kubelet.crt"), "--kubelet-client-key="+p.path("kubelet.key"))
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c.AdminConfig())
	if err != nil {
		return err
	}
	return c.waitFor(apiserver, answers(client, c.Server()+"/readyz"))
}

// startControllers runs the controllers that tests depend on: Jobs become pods,
// owners' children are collected, ResourceQuotas are counted.
func (c *Cluster) startControllers() error {
	config := c.pki.path("controllers.kubeconfig")
	err := c.run(controllers, "hyperkube", "kube-controller-manager", "--kubeconfig="+config, "--leader-elect=false", "--secure-port=0",
		"--use-service-account-credentials=true", "--service-account-private-key-file="+c.pki.path("serviceaccount.key"), "--root-ca-file="+c.pki.path("ca.crt"),
		"--allocate-node-cidrs=false", "--resource-quota-sync-period=5s")
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	// Pods are refused until their namespace has its default service account.
	return c.waitFor(controllers, func(ctx context.Context) error {
		_, err := clients.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func (c *Cluster) startScheduler() error {
	config := c.pki.path("scheduler.kubeconfig")
	err := c.run(scheduler, "hyperkube", "kube-scheduler", "--kubeconfig="+config, "--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", c.ports.scheduler),
		"--authentication-kubeconfig="+config, "--authorization-kubeconfig="+config, "--authentication-skip-lookup=true")
	if err != nil {
		return err
	}
	// The scheduler signs its own serving certificate; only its readiness is read.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	return c.waitFor(scheduler, answers(client, "https://"+local(c.ports.scheduler)+"/readyz"))
}

func (c *Cluster) startKwok() error {
	stages, err := c.writeManifest("stages.yaml")
	if err != nil {
		return err
	}
	address := local(c.ports.kwok)
	err = c.run(kwok, "kwok", "--kubeconfig="+c.pki.path("kwok.kubeconfig"), "--config="+stages,
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector="+fakeNode+"=fake",
		"--node-ip=127.0.0.1", fmt.Sprintf("--node-port=%d", c.ports.kwok), "--server-address="+address, "--cidr=10.1.0.0/16", "--node-lease-duration-seconds=40",
		"--tls-cert-file="+c.pki.path("kwok-serving.crt"), "--tls-private-key-file="+c.pki.path("kwok-serving.key"))
	if err != nil {
		return err
	}
	return c.waitFor(kwok, answers(http.DefaultClient, "http://"+address+"/healthz"))
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// answers is a readiness check: a GET that returns 200.
func answers(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, answer.Status)
		}
		return nil
	}
}

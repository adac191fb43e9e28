package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"golang.org/x/sync/errgroup"
)

// fakeNode is the annotation by which kwok knows the nodes it plays.
const fakeNode = "kwok.x-k8s.io/node"

// The machines of the test cluster: 32 H100 and 16 A100 in all, and one node
// without accelerators.
var machines = []struct {
	name, product, family string
	count                 int
	gpus, cpu, memory     string
}{
	{"h100", "NVIDIA-H100-80GB-HBM3", "hopper", 4, "8", "96", "1Ti"},
	{"a100", "NVIDIA-A100-SXM4-80GB", "ampere", 2, "8", "64", "1Ti"},
	{"cpu", "", "", 1, "", "64", "256Gi"},
}

func (c *Cluster) createNodes() error {
	clients, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	var all errgroup.Group
	for _, machine := range machines {
		for i := range machine.count {
			node := fakeMachine(fmt.Sprintf("%s-%d", machine.name, i), machine.cpu, machine.memory)
			if machine.gpus != "" {
				addGPUs(node, machine.product, machine.family, machine.gpus)
			}
			all.Go(func() error {
				_, err := clients.CoreV1().Nodes().Create(context.Background(), node, metav1.CreateOptions{})
				return err
			})
		}
	}
	return all.Wait()
}

func fakeMachine(name, cpu, memory string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{fakeNode: "fake"},
			Labels:      map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
		},
		Status: amounts(map[corev1.ResourceName]string{"cpu": cpu, "memory": memory, "pods": "110"}),
	}
}

// addGPUs labels and taints a node as NVIDIA's GPU operator does.
func addGPUs(node *corev1.Node, product, family, count string) {
	for key, value := range map[string]string{
		"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": product, "nvidia.com/gpu.family": family,
		"nvidia.com/gpu.count": count, "nvidia.com/gpu.replicas": "1", "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "single",
	} {
		node.Labels[key] = value
	}
	node.Spec.Taints = []corev1.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse(count)
	node.Status.Capacity["nvidia.com/gpu"] = resource.MustParse(count)
}

func amounts(of map[corev1.ResourceName]string) corev1.NodeStatus {
	status := corev1.NodeStatus{Allocatable: corev1.ResourceList{}, Capacity: corev1.ResourceList{}}
	for name, amount := range of {
		status.Allocatable[name] = resource.MustParse(amount)
		status.Capacity[name] = resource.MustParse(amount)
	}
	return status
}

// createFlavors names the machines for Kueue: ResourceFlavors h100 and a100.
func (c *Cluster) createFlavors() error {
	if !c.options.kueue {
		return nil
	}
	text, err := manifests.ReadFile("manifests/flavors.yaml")
	if err != nil {
		return err
	}
	objects, err := parseObjects(text)
	if err != nil {
		return err
	}
	return c.create(context.Background(), objects)
}

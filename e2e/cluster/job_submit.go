package cluster

import (
	"encoding/json"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// finishAnnotation on a pod lets kwok end it (manifests/stages.yaml).
const finishAnnotation = "quartermaster.test/finish"

// SubmitJob submits a batch Job of one pod with so many GPUs to a LocalQueue. It
// also asks for cpu and memory, as real pods do, and tolerates the GPU taint. Its
// pod runs until FinishJob.
func (c *Cluster) SubmitJob(t testing.TB, namespace, queue, name string, gpus int) {
	t.Helper()
	c.SubmitPods(t, namespace, queue, name, 1, gpus)
}

// SubmitPods is SubmitJob with several pods side by side, for more GPUs than one
// machine has.
func (c *Cluster) SubmitPods(t testing.TB, namespace, queue, name string, pods, gpus int) {
	t.Helper()
	clients := c.clients(t)
	request := corev1.ResourceList{
		"nvidia.com/gpu": *resource.NewQuantity(int64(gpus), resource.DecimalSI),
		"cpu":            resource.MustParse("4"), "memory": resource.MustParse("16Gi"),
	}
	suspended, retries, parallel := true, int32(0), int32(pods)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"kueue.x-k8s.io/queue-name": queue}},
		Spec: batchv1.JobSpec{Suspend: &suspended, BackoffLimit: &retries, Parallelism: &parallel, Completions: &parallel, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "train", Image: "registry.invalid/train:1",
				Resources: corev1.ResourceRequirements{Requests: request, Limits: request},
			}},
		}}},
	}
	err := untilMade(t.Context(), func() error {
		_, err := clients.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FinishJob lets the pods of a running Job end well and waits until the Job is
// complete.
func (c *Cluster) FinishJob(t testing.TB, namespace, name string) {
	t.Helper()
	clients := c.clients(t)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{finishAnnotation: "yes"}}})
	if err != nil {
		t.Fatal(err)
	}
	pods := clients.CoreV1().Pods(namespace)
	c.Eventually(t, "job "+name+" is complete", func() (bool, error) {
		// An admitted Job gets its pods a moment later.
		found, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
		if err != nil {
			return false, err
		}
		for _, pod := range found.Items {
			if _, done := pod.Annotations[finishAnnotation]; done {
				continue
			}
			if _, err := pods.Patch(t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return false, err
			}
		}
		job, err := clients.BatchV1().Jobs(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && job.Status.Succeeded > 0, err
	})
}

// DeleteJob removes a Job with its pods; Kueue gives its quota back.
func (c *Cluster) DeleteJob(t testing.TB, namespace, name string) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	if err := c.clients(t).BatchV1().Jobs(namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
}

// Eventually polls until holds is true and fails the test after a minute.
func (c *Cluster) Eventually(t testing.TB, what string, holds func() (bool, error)) {
	t.Helper()
	end := time.After(time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := holds()
		if ok && err == nil {
			return
		}
		select {
		case <-end:
			t.Fatalf("after a minute still not so: %s (last error: %v)", what, err)
		case <-tick.C:
		}
	}
}

func (c *Cluster) clients(t testing.TB) *kubernetes.Clientset {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

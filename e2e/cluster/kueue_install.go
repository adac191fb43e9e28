package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// startKueue installs Kueue's own manifests, as rendered into bin/kueue.json by
// the control plane's build, and runs its manager out of the cluster: webhooks
// and conversions are reached by URL and the webhook certificate is ours.
func (c *Cluster) startKueue() error {
	if !c.options.kueue && !c.options.onlyBeta {
		return nil
	}
	objects, err := c.kueueObjects()
	if err != nil {
		return err
	}
	if err := c.create(context.Background(), objects); err != nil {
		return fmt.Errorf("install Kueue: %w", err)
	}
	if c.options.onlyBeta {
		return nil
	}
	config, err := c.writeKueueConfig()
	if err != nil {
		return err
	}
	// Without the visibility server nothing is written outside the test's directory.
	err = c.run(kueue, "kueue", "--config="+config, "--kubeconfig="+c.pki.path("kueue.kubeconfig"), "--zap-log-level=2", "--feature-gates=VisibilityOnDemand=false")
	if err != nil {
		return err
	}
	return c.waitFor(kueue, answers(http.DefaultClient, "http://"+local(c.ports.kueueHealth)+"/readyz"))
}

func (c *Cluster) writeKueueConfig() (string, error) {
	certs := filepath.Join(c.dir, "kueue-certs")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return "", err
	}
	for _, end := range []string{".crt", ".key"} {
		if err := os.WriteFile(filepath.Join(certs, "tls"+end), c.pki.pem("kueue-webhook"+end), 0o600); err != nil {
			return "", err
		}
	}
	config := map[string]any{
		"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "namespace": "kueue-system",
		"health":                 map[string]any{"healthProbeBindAddress": local(c.ports.kueueHealth)},
		"metrics":                map[string]any{"bindAddress": local(c.ports.kueueMetrics), "enableClusterQueueResources": true},
		"webhook":                map[string]any{"host": "127.0.0.1", "port": c.ports.kueueWebhook, "certDir": certs},
		"leaderElection":         map[string]any{"leaderElect": false},
		"internalCertManagement": map[string]any{"enable": true},
		"clientConnection":       map[string]any{"qps": 200, "burst": 400},
		"integrations":           map[string]any{"frameworks": []string{"batch/job"}},
		"controller": map[string]any{"groupKindConcurrency": map[string]any{
			"Job.batch": 5, "Workload.kueue.x-k8s.io": 5, "LocalQueue.kueue.x-k8s.io": 1, "ClusterQueue.kueue.x-k8s.io": 1, "ResourceFlavor.kueue.x-k8s.io": 1,
		}},
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, "kueue-config.yaml")
	return path, os.WriteFile(path, text, 0o600)
}

// kueueObjects reads the rendered manifests and points them at this cluster's
// manager.
func (c *Cluster) kueueObjects() ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(filepath.Join(c.binaries, "kueue.json"))
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for lines := json.NewDecoder(bytes.NewReader(text)); ; {
		object := &unstructured.Unstructured{}
		if err := lines.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		keep, err := c.adaptKueueObject(object)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if keep {
			objects = append(objects, object)
		}
	}
}

func (c *Cluster) adaptKueueObject(object *unstructured.Unstructured) (keep bool, err error) {
	switch kind := object.GetKind(); {
	case kind == "CustomResourceDefinition" && c.options.onlyBeta:
		return serveOnlyV1beta1(object)
	case c.options.onlyBeta:
		return false, nil
	case kind == "CustomResourceDefinition":
		client, has, err := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig")
		if err != nil || !has {
			return true, err
		}
		return true, unstructured.SetNestedMap(object.Object, c.byURL(client), "spec", "conversion", "webhook", "clientConfig")
	case strings.HasSuffix(kind, "WebhookConfiguration"):
		hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			return false, err
		}
		for _, hook := range hooks {
			m := hook.(map[string]any)
			m["clientConfig"] = c.byURL(m["clientConfig"].(map[string]any))
		}
		return true, unstructured.SetNestedSlice(object.Object, hooks, "webhooks")
	case kind == "Secret":
		data := map[string]any{}
		for key, file := range map[string]string{"ca.crt": "kueue-ca.crt", "ca.key": "kueue-ca.key", "tls.crt": "kueue-webhook.crt", "tls.key": "kueue-webhook.key"} {
			data[key] = base64.StdEncoding.EncodeToString(c.pki.pem(file))
		}
		object.Object["data"] = data
	}
	return true, nil
}

// byURL turns a webhook's reference to a Service into the manager's address.
func (c *Cluster) byURL(client map[string]any) map[string]any {
	path, _, _ := unstructured.NestedString(client, "service", "path")
	return map[string]any{
		"url":      "https://" + local(c.ports.kueueWebhook) + path,
		"caBundle": base64.StdEncoding.EncodeToString(c.pki.pem("kueue-ca.crt")),
	}
}

// serveOnlyV1beta1 leaves the old version as the only one, or drops a
// definition that never had it.
func serveOnlyV1beta1(object *unstructured.Unstructured) (keep bool, err error) {
	versions, _, err := unstructured.NestedSlice(object.Object, "spec", "versions")
	if err != nil {
		return false, err
	}
	for _, version := range versions {
		m := version.(map[string]any)
		if m["name"] != "v1beta1" {
			continue
		}
		m["served"], m["storage"] = true, true
		unstructured.RemoveNestedField(object.Object, "spec", "conversion")
		return true, unstructured.SetNestedSlice(object.Object, []any{m}, "spec", "versions")
	}
	return false, nil
}

package cluster

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"golang.org/x/sync/errgroup"
)

//go:embed manifests
var manifests embed.FS

// Create makes the objects of a YAML stream as administrator: what a cluster
// had before the portal was connected.
func (c *Cluster) Create(t testing.TB, text string) {
	t.Helper()
	objects, err := parseObjects([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.create(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
}

// create makes namespaces first and the rest side by side.
func (c *Cluster) create(ctx context.Context, objects []*unstructured.Unstructured) error {
	disco, err := discovery.NewDiscoveryClientForConfig(c.admin)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(disco)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	client, err := dynamic.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	one := func(object *unstructured.Unstructured) error {
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return err
		}
		var target dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			target = client.Resource(mapping.Resource).Namespace(object.GetNamespace())
		}
		return untilMade(ctx, func() error {
			_, err := target.Create(ctx, object, metav1.CreateOptions{FieldManager: "kubectl-create"})
			return err
		})
	}
	var rest errgroup.Group
	rest.SetLimit(8)
	for _, namespacesFirst := range []bool{true, false} {
		for _, object := range objects {
			if (object.GetKind() == "Namespace") != namespacesFirst {
				continue
			}
			rest.Go(func() error {
				if err := one(object); err != nil {
					return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
				}
				return nil
			})
		}
		if err := rest.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// untilMade repeats what a cluster refuses only while it is coming up: a webhook
// that does not listen yet (500), a default service account not made yet (403).
func untilMade(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do()
		if err == nil || !apierrors.IsInternalError(err) && !apierrors.IsForbidden(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// parseObjects reads a stream of YAML documents.
func parseObjects(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// writeManifest copies one of our files to where a component can read it.
func (c *Cluster) writeManifest(name string) (path string, err error) {
	text, err := manifests.ReadFile("manifests/" + name)
	if err != nil {
		return "", err
	}
	path = filepath.Join(c.dir, name)
	return path, os.WriteFile(path, text, 0o600)
}

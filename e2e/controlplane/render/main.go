// Command render writes Kueue's own manifests, as its release ships them, for a
// test cluster: one JSON object a line on standard output. It is run by build.sh;
// the harness in e2e/cluster adds addresses and certificates when it starts.
//
//	render MODULEDIR VERSION
//
// MODULEDIR is the source of the kueue module; VERSION goes into the image.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: render MODULEDIR VERSION")
		os.Exit(2)
	}
	if err := render(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func render(module, version string) error {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), module+"/config/default")
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, resource := range built.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			return err
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(text); err != nil {
			return err
		}
		keep, err := adapt(u, version)
		if err != nil {
			return fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
		}
		if !keep {
			continue
		}
		if err := out.Encode(u.Object); err != nil {
			return err
		}
	}
	return nil
}

// adapt drops what the tests do not use (the visibility server, roles for
// people, webhooks of job kinds other than batch/v1) because each costs start-up
// time. The Deployment stays, at no replicas and with a release's image: the
// manager runs outside, and its version is read from there as on a real cluster.
func adapt(u *unstructured.Unstructured, version string) (keep bool, err error) {
	name := u.GetName()
	switch kind := u.GetKind(); {
	case kind == "APIService" || strings.Contains(name, "visibility"):
		return false, nil
	case kind == "ClusterRole" && (strings.HasSuffix(name, "-viewer-role") || strings.HasSuffix(name, "-editor-role")):
		return false, nil
	case strings.HasSuffix(kind, "WebhookConfiguration"):
		return true, keepWebhooks(u)
	case kind == "Deployment":
		return true, park(u, version)
	}
	return true, nil
}

func keepWebhooks(u *unstructured.Unstructured) error {
	hooks, _, err := unstructured.NestedSlice(u.Object, "webhooks")
	if err != nil {
		return err
	}
	var kept []any
	for _, hook := range hooks {
		rules, _, err := unstructured.NestedSlice(hook.(map[string]any), "rules")
		if err != nil || len(rules) == 0 {
			return fmt.Errorf("webhook without rules: %w", err)
		}
		groups, _, err := unstructured.NestedStringSlice(rules[0].(map[string]any), "apiGroups")
		if err != nil {
			return err
		}
		if len(groups) == 1 && (groups[0] == "kueue.x-k8s.io" || groups[0] == "batch") {
			kept = append(kept, hook)
		}
	}
	return unstructured.SetNestedSlice(u.Object, kept, "webhooks")
}

func park(u *unstructured.Unstructured, version string) error {
	if err := unstructured.SetNestedField(u.Object, int64(0), "spec", "replicas"); err != nil {
		return err
	}
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(u.Object, path...)
	if err != nil {
		return err
	}
	for _, container := range containers {
		container.(map[string]any)["image"] = "registry.k8s.io/kueue/kueue:" + version
	}
	return unstructured.SetNestedSlice(u.Object, containers, path...)
}

// Package deploy owns the manifests that give the portal its rights on a
// cluster: namespace, service account, role and binding. The page that connects
// a cluster shows them and the cluster tests apply them unchanged. It must never
// know a credential or talk to a cluster.
package deploy

import (
	"bytes"
	"embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Names in the manifests.
const (
	Namespace      = "quartermaster"
	ServiceAccount = "quartermaster"
)

//go:embed *.yaml
var files embed.FS

// Manifests returns what `kubectl apply -k` would apply, as one YAML stream.
func Manifests() ([]byte, error) {
	text, err := files.ReadFile("kustomization.yaml")
	if err != nil {
		return nil, err
	}
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, fmt.Errorf("kustomization.yaml: %w", err)
	}
	var stream [][]byte
	for _, name := range kustomization.Resources {
		document, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		stream = append(stream, document)
	}
	return bytes.Join(stream, []byte("---\n")), nil
}

package k8s

import (
	"context"
	"strings"

	"quartermaster/internal/fault"
)

// kueueGroup is Kueue's API group.
const kueueGroup = "kueue.x-k8s.io"

// kueueAPI is what of Kueue a cluster serves. The zero value: none.
type kueueAPI struct {
	version string // v1beta2, v1beta1
	cohorts bool   // Cohort objects exist in that version, not just their names
}

func (k kueueAPI) served() bool { return k.version != "" }

// path of a collection, cluster-wide or in a namespace.
func (k kueueAPI) path(resource, namespace string, name ...string) string {
	path := "/apis/" + kueueGroup + "/" + k.version
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return strings.Join(append([]string{path, resource}, name...), "/")
}

// cohortField is the field of a ClusterQueue that names its cohort: v1beta2
// renamed it.
func (k kueueAPI) cohortField() string {
	if k.version == "v1beta1" {
		return "cohort"
	}
	return "cohortName"
}

// detectKueue asks what is served. It is asked anew for each operation: one small
// call, and an upgrade of Kueue needs no restart here.
func (c *Cluster) detectKueue(ctx context.Context) (kueueAPI, error) {
	var group struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	}
	found, err := c.get(ctx, "/apis/"+kueueGroup, &group)
	if err != nil || !found {
		return kueueAPI{}, err
	}
	served := map[string]bool{}
	for _, v := range group.Versions {
		served[v.Version] = true
	}
	var k kueueAPI
	for _, version := range []string{"v1beta2", "v1beta1"} {
		if served[version] {
			k.version = version
			break
		}
	}
	if k.version == "" {
		return k, fault.New(fault.Invalid, "This release of Kueue is too old: it serves neither v1beta2 nor v1beta1 of its API.")
	}
	var resources struct {
		Resources []struct {
			Name string `json:"name"`
		} `json:"resources"`
	}
	if _, err := c.get(ctx, "/apis/"+kueueGroup+"/"+k.version, &resources); err != nil {
		return kueueAPI{}, err
	}
	for _, r := range resources.Resources {
		k.cohorts = k.cohorts || r.Name == "cohorts"
	}
	return k, nil
}

// versions reads the API server's version and, where it can be told, Kueue's
// release: the tag of its manager's image, or what an installer wrote on its
// definitions. An unknown release is "" and not a problem.
func (c *Cluster) versions(ctx context.Context, k kueueAPI) (server, kueue string, err error) {
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if _, err := c.get(ctx, "/version", &version); err != nil {
		return "", "", err
	}
	if !k.served() {
		return version.GitVersion, "", nil
	}
	return version.GitVersion, c.kueueRelease(ctx), nil
}

func (c *Cluster) kueueRelease(ctx context.Context) string {
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Image string `json:"image"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if found, err := c.get(ctx, "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager", &deployment); err == nil && found {
		for _, container := range deployment.Spec.Template.Spec.Containers {
			if tag := imageTag(container.Image); tag != "" && strings.Contains(container.Image, "kueue") {
				return tag
			}
		}
	}
	var definition struct {
		Metadata metadata `json:"metadata"`
	}
	if found, err := c.get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues."+kueueGroup, &definition); err == nil && found {
		return definition.Metadata.Labels["app.kubernetes.io/version"]
	}
	return ""
}

// imageTag is the tag of an image reference, "" for one by digest alone.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	last := image[strings.LastIndex(image, "/")+1:]
	_, tag, _ := strings.Cut(last, ":")
	return tag
}

package k8s

import "strings"

// owner is who else keeps an object as it is. reconciled means that they write
// it again whenever it differs: whatever the portal changed would be undone, so
// such an object is listed and refused, never taken over.
type owner struct {
	name       string
	reconciled bool
}

// ownerOf reads the marks that deployment tools leave. No mark: nobody known.
// Sources: the resource-tracking pages of Argo CD (tracking-id, instance label),
// Flux (toolkit labels), Config Sync and Helm.
func ownerOf(m metadata) owner {
	for _, reference := range m.OwnerReferences {
		if reference.Controller {
			return owner{reference.Kind + " " + reference.Name, true}
		}
	}
	if id := m.Annotations["argocd.argoproj.io/tracking-id"]; id != "" {
		application, _, _ := strings.Cut(id, ":")
		return owner{"Argo CD application " + application, true}
	}
	if application := m.Labels["argocd.argoproj.io/instance"]; application != "" {
		return owner{"Argo CD application " + application, true}
	}
	if name := m.Labels["kustomize.toolkit.fluxcd.io/name"]; name != "" {
		return owner{"Flux Kustomization " + name, true}
	}
	if name := m.Labels["helm.toolkit.fluxcd.io/name"]; name != "" {
		return owner{"Flux HelmRelease " + name, true}
	}
	if m.Annotations["configmanagement.gke.io/managed"] == "enabled" {
		return owner{"Config Sync", true}
	}
	for _, fields := range m.ManagedFields {
		switch fields.Manager {
		case "argocd-controller", "argocd-application-controller":
			return owner{"Argo CD", true}
		case "kustomize-controller", "helm-controller":
			return owner{"Flux", true}
		}
	}
	if m.Labels["app.kubernetes.io/managed-by"] == "Helm" {
		return owner{"Helm release " + m.Annotations["meta.helm.sh/release-name"], false}
	}
	return owner{}
}

// ours reports whether the portal wrote the object.
func ours(m metadata) bool {
	for _, fields := range m.ManagedFields {
		if fields.Manager == ShapeManager || fields.Manager == LimitsManager {
			return true
		}
	}
	return false
}

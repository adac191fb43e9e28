package k8s

import (
	"context"

	"golang.org/x/sync/errgroup"

	"quartermaster/internal/fleet"
)

// autoClaim marks a ResourceClaim that the scheduler made for a pod which asks
// for an extended resource the old way (KEP-5004). It is an annotation: anybody
// may write it.
const autoClaim = "resource.kubernetes.io/extended-resource-claim"

// pod is what counting needs of a Pod.
type pod struct {
	Metadata metadata `json:"metadata"`
	Spec     podSpec  `json:"spec"`
	Status   struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// resourceClaim is a ResourceClaim (resource.k8s.io/v1).
type resourceClaim struct {
	Metadata metadata  `json:"metadata"`
	Spec     claimSpec `json:"spec"`
}

type claimSpec struct {
	Devices struct {
		Requests []claimRequest `json:"requests"`
	} `json:"devices"`
}

// claimRequest asks for devices of one class. v1beta1 has the fields of exactly
// in the request itself; only files still show that.
type claimRequest struct {
	Exactly         *exactRequest `json:"exactly"`
	DeviceClassName string        `json:"deviceClassName"`
	Count           int64         `json:"count"`
}

type exactRequest struct {
	DeviceClassName string `json:"deviceClassName"`
	Count           int64  `json:"count"`
}

// exact is nil where the request names no class until it is allocated.
func (r claimRequest) exact() *exactRequest {
	if r.Exactly == nil && r.DeviceClassName != "" {
		return &exactRequest{r.DeviceClassName, r.Count}
	}
	return r.Exactly
}

// deviceClass maps a DRA class to the extended resource it also serves.
type deviceClass struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		ExtendedResourceName string `json:"extendedResourceName"`
	} `json:"spec"`
}

// namespaced is a namespace and a resource or class in it.
type namespaced struct{ namespace, name string }

// deviceCount is what pods and claims hold, counted by hand. A nil count knows nothing.
type deviceCount struct {
	pods   map[namespaced]fleet.Quantity // by extended resource
	claims map[namespaced]fleet.Quantity // by device class, automatic ones included
	// inUse is both together by extended resource, a pod and the claim that the
	// scheduler made for it counted once.
	inUse map[namespaced]fleet.Quantity
}

func (d *deviceCount) podsAsk(namespace, resource string) (fleet.Quantity, bool) {
	if d == nil {
		return fleet.Quantity{}, false
	}
	return d.pods[namespaced{namespace, resource}], true
}

func (d *deviceCount) claimed(namespace, class string) (fleet.Quantity, bool) {
	if d == nil {
		return fleet.Quantity{}, false
	}
	return d.claims[namespaced{namespace, class}], true
}

// countDevices counts what running and waiting pods and all claims ask for.
func countDevices(pods []pod, claims []resourceClaim, classes []deviceClass) *deviceCount {
	count := &deviceCount{map[namespaced]fleet.Quantity{}, map[namespaced]fleet.Quantity{}, map[namespaced]fleet.Quantity{}}
	add := func(to map[namespaced]fleet.Quantity, namespace, name string, q fleet.Quantity) {
		key := namespaced{namespace, name}
		to[key] = to[key].Add(q)
	}
	askedBy := map[string]map[string]fleet.Quantity{} // pod uid → extended resources
	for _, p := range pods {
		if p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
			continue
		}
		requests := p.Spec.requests()
		askedBy[p.Metadata.UID] = requests
		for name, q := range requests {
			if isExtended(name) {
				add(count.pods, p.Metadata.Namespace, name, q)
				add(count.inUse, p.Metadata.Namespace, name, q)
			}
		}
	}
	resourceOfClass := map[string]string{}
	for _, class := range classes {
		resourceOfClass[class.Metadata.Name] = class.Spec.ExtendedResourceName
	}
	for _, claim := range claims {
		for _, request := range claim.Spec.Devices.Requests {
			exact := request.exact()
			if exact == nil {
				continue // "first available"
			}
			class := exact.DeviceClassName
			devices := fleet.Count(max(exact.Count, 1))
			add(count.claims, claim.Metadata.Namespace, class, devices)
			resource := resourceOfClass[class]
			if resource != "" && !alreadyCounted(claim, resource, askedBy) {
				add(count.inUse, claim.Metadata.Namespace, resource, devices)
			}
		}
	}
	return count
}

// alreadyCounted reports whether the claim's devices are those its pod asked
// for. The mark alone is not believed: the pod must exist and ask.
func alreadyCounted(claim resourceClaim, resource string, askedBy map[string]map[string]fleet.Quantity) bool {
	if claim.Metadata.Annotations[autoClaim] != "true" {
		return false
	}
	for _, reference := range claim.Metadata.OwnerReferences {
		if reference.Kind == "Pod" {
			if asked, ok := askedBy[reference.UID][resource]; ok && asked.Sign() > 0 {
				return true
			}
		}
	}
	return false
}

// readDevices lists pods and claims of the namespaces whose quotas need counting
// by hand, which on most clusters are none.
func (c *Cluster) readDevices(ctx context.Context, quotas []resourceQuota) (*deviceCount, error) {
	namespaces, dra := map[string]bool{}, false
	for _, q := range quotas {
		for key := range q.Spec.Hard {
			if devices := len(key) > len(devicesSuffix) && key[len(key)-len(devicesSuffix):] == devicesSuffix; devices || isExtended(key) {
				namespaces[q.Metadata.Namespace] = true
				dra = dra || devices
			}
		}
	}
	if len(namespaces) == 0 {
		return nil, nil
	}
	var pods []pod
	var claims []resourceClaim
	var classes []deviceClass
	var reads errgroup.Group
	reads.Go(func() error {
		for namespace := range namespaces {
			in, err := listAll[pod](ctx, c, "/api/v1/namespaces/"+namespace+"/pods")
			if err != nil {
				return err
			}
			pods = append(pods, in...)
		}
		return nil
	})
	if dra {
		reads.Go(func() (err error) {
			for namespace := range namespaces {
				in, err := listAll[resourceClaim](ctx, c, "/apis/resource.k8s.io/v1/namespaces/"+namespace+"/resourceclaims")
				if err != nil {
					return err
				}
				claims = append(claims, in...)
			}
			classes, err = listAll[deviceClass](ctx, c, "/apis/resource.k8s.io/v1/deviceclasses")
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	return countDevices(pods, claims, classes), nil
}

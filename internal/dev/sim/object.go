package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/internal/fleet"
)

// object is what the cluster stores: fields by path, each with the manager that
// owns it, as server-side apply keeps it.
type object struct {
	Ref         fleet.ObjectRef   `json:"ref"`
	Version     int64             `json:"version"`
	Fields      map[string]value  `json:"fields"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type value struct {
	Text    string `json:"value"`
	Manager string `json:"manager"`
}

func (o *object) resourceVersion() string {
	if o == nil {
		return ""
	}
	return strconv.FormatInt(o.Version, 10)
}

// text of a field; nil = absent.
func (o *object) text(path string) *string {
	if o == nil {
		return nil
	}
	if v, ok := o.Fields[path]; ok {
		return &v.Text
	}
	return nil
}

func (o *object) get(path string) string {
	if t := o.text(path); t != nil {
		return *t
	}
	return ""
}

// Paths of the fields. Limits are written as a queue's users say them.
const (
	cohortPath   = "cohortName"
	parentPath   = "parentName"
	selectorPath = "namespaceSelector"
	stopPath     = "stopPolicy"
	queuePath    = "clusterQueue"
	labelPath    = "labels quartermaster/project"
)

func limitPath(k fleet.PoolKey, field string) string {
	return k.Flavor + " " + k.Resource + " " + field
}

const (
	nominalField   = "nominalQuota"
	borrowingField = "borrowingLimit"
	lendingField   = "lendingLimit"
)

// limits of a ClusterQueue's object, in the order of flavors and resources.
func (o *object) limits() []fleet.Limit {
	var out []fleet.Limit
	for _, path := range slices.Sorted(maps.Keys(o.Fields)) {
		parts := strings.Split(path, " ")
		if len(parts) != 3 || parts[2] != nominalField {
			continue
		}
		key := fleet.PoolKey{Flavor: parts[0], Resource: parts[1]}
		out = append(out, fleet.Limit{
			Pool: key, Nominal: fleet.MustQuantity(o.Fields[path].Text),
			Borrowing: o.quantity(limitPath(key, borrowingField)),
			Lending:   o.quantity(limitPath(key, lendingField)),
		})
	}
	return out
}

func (o *object) quantity(path string) *fleet.Quantity {
	t := o.text(path)
	if t == nil {
		return nil
	}
	q := fleet.MustQuantity(*t) // refused before it was stored
	return &q
}

// managers of the limits of a queue.
func (o *object) managers() []string {
	seen := map[string]bool{}
	for path, v := range o.Fields {
		if strings.HasSuffix(path, nominalField) {
			seen[v.Manager] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func queueRef(name string) fleet.ObjectRef { return fleet.ObjectRef{Kind: "ClusterQueue", Name: name} }

func localRef(namespace, name string) fleet.ObjectRef {
	return fleet.ObjectRef{Kind: "LocalQueue", Namespace: namespace, Name: name}
}

func cohortRef(name string) fleet.ObjectRef { return fleet.ObjectRef{Kind: "Cohort", Name: name} }

// seed makes the queues that exist before the portal.
func (c *Cluster) seed() {
	put := func(ref fleet.ObjectRef, manager string, fields map[string]string) {
		if c.objects[ref] != nil {
			return
		}
		c.version++
		o := &object{Ref: ref, Version: c.version, Fields: map[string]value{}}
		for path, text := range fields {
			o.Fields[path] = value{text, manager}
		}
		c.objects[ref] = o
	}
	for _, q := range c.cfg.Queues {
		if q.Parent != "" {
			put(cohortRef(q.Parent), q.Manager, map[string]string{})
		}
		if q.Cohort != "" {
			put(cohortRef(q.Cohort), q.Manager, map[string]string{parentPath: q.Parent})
		}
		put(fleet.ObjectRef{Kind: "Namespace", Name: q.Namespace}, q.Manager, map[string]string{})
		fields := map[string]string{cohortPath: q.Cohort, selectorPath: "{}", stopPath: "None"}
		for _, l := range q.Limits {
			fields[limitPath(l.Pool, nominalField)] = l.Nominal.String()
			if l.Borrowing != nil {
				fields[limitPath(l.Pool, borrowingField)] = l.Borrowing.String()
			}
			if l.Lending != nil {
				fields[limitPath(l.Pool, lendingField)] = l.Lending.String()
			}
		}
		put(queueRef(q.Name), q.Manager, fields)
		put(localRef(q.Namespace, q.LocalQueue), q.Manager, map[string]string{queuePath: q.Name})
	}
}

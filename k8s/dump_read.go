package k8s

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// maxObjects of one file.
const maxObjects = 20_000

// ReadDump reads a file of manifests or of what kubectl get -o yaml|json wrote,
// with the same decoders as a live cluster: several documents, lists, either
// language. Each object has a line in Documents that says what became of it; a bad one
// costs none of the others. It is an error only when the file cannot be read at all.
func ReadDump(file []byte, at time.Time) (fleet.Dump, error) {
	text, err := plainText(file)
	if err != nil {
		return fleet.Dump{}, err
	}
	d := &dump{reading: reading{errs: map[string]error{}}, seen: map[fleet.ObjectRef]int{}, counting: map[string]bool{}}
	d.parse(text)
	if len(d.documents) == 0 {
		return fleet.Dump{}, fault.New(fault.Invalid, "The file holds no object.").At("file", "Choose a file with objects of a cluster.")
	}
	if len(d.documents) > maxObjects {
		return fleet.Dump{}, fault.Newf(fault.Invalid, "The file holds more than %d objects. Split it.", maxObjects).At("file", "It holds too many objects.")
	}
	return d.finish(at.UTC()), nil
}

// dump is a file under way. What an object adds is kept until all are read,
// because a later object of the same name replaces it.
type dump struct {
	reading
	documents []fleet.Document
	add       []func() // by document; nil where it adds nothing
	seen      map[fleet.ObjectRef]int
	version   string // newest of Kueue's versions in the file

	counting  map[string]bool // namespaces whose quotas count devices
	pods      []pod
	claims    []resourceClaim
	templates []claimTemplate
	classes   []deviceClass
	profiles  []profile
	clusters  []clusterQuota
}

func (d *dump) parse(text string) {
	if first := strings.TrimLeft(text, " \t\n"); strings.HasPrefix(first, "{") || strings.HasPrefix(first, "[") {
		values, err := parseJSON(text)
		for i, v := range values {
			d.document(i+1, v)
		}
		if err == nil {
			return
		}
		if len(values) > 0 || json.Valid([]byte(text)) {
			d.broken(len(values)+1, 1, err)
			return
		}
		// YAML of one line may begin with a brace as well.
	}
	for i, c := range splitDocuments(text) {
		v, err := parseYAML(c)
		if err != nil {
			d.broken(i+1, c.line, err)
			continue
		}
		d.document(i+1, v)
	}
}

func (d *dump) broken(number, line int, err error) {
	var at *lineError
	if errors.As(err, &at) {
		line = at.line
	}
	d.note(fleet.Document{Number: number, Line: line, State: fleet.DocumentRefused, Reason: "It cannot be read: " + err.Error() + "."}, nil)
}

func (d *dump) note(doc fleet.Document, add func()) {
	d.documents, d.add = append(d.documents, doc), append(d.add, add)
}

// document takes one document, or each item of a list.
func (d *dump) document(number int, v located) {
	doc := fleet.Document{Number: number, Line: v.line}
	if v.value == nil {
		return
	}
	raw, ok := v.value.(map[string]any)
	if !ok {
		doc.State, doc.Reason = fleet.DocumentRefused, "It is no object: an object has apiVersion, kind and metadata."
		d.note(doc, nil)
		return
	}
	kind, version := stringOf(raw["kind"]), stringOf(raw["apiVersion"])
	items, isList := raw["items"].([]any)
	if !isList || !strings.HasSuffix(kind, "List") {
		d.object(doc, raw)
		return
	}
	for i, item := range items {
		doc := fleet.Document{Number: number, Item: i + 1, Line: v.line}
		if i < len(v.items) {
			doc.Line = v.items[i]
		}
		inner, ok := item.(map[string]any)
		if !ok {
			doc.State, doc.Reason = fleet.DocumentRefused, "It is no object."
			d.note(doc, nil)
			continue
		}
		// The items of a typed list leave out what the list says.
		if kind != "List" && inner["kind"] == nil {
			inner["kind"], inner["apiVersion"] = strings.TrimSuffix(kind, "List"), version
		}
		d.object(doc, inner)
	}
}

// object takes one object.
func (d *dump) object(doc fleet.Document, raw map[string]any) {
	doc.Object.Kind, doc.APIVersion = stringOf(raw["kind"]), stringOf(raw["apiVersion"])
	doc.Object.Name, doc.Object.Namespace = stringOf(nested(raw, "metadata", "name")), stringOf(nested(raw, "metadata", "namespace"))
	var add func()
	switch {
	case doc.Object.Kind == "" || doc.APIVersion == "":
		doc.State, doc.Reason = fleet.DocumentRefused, "It names no apiVersion or no kind."
	case doc.Object.Name == "":
		doc.State, doc.Reason = fleet.DocumentRefused, "It has no name."
	default:
		var err error
		if add, err = d.take(&doc, raw); err != nil {
			doc.State, doc.Reason, add = fleet.DocumentRefused, sentence(err), nil
		}
	}
	if doc.State == fleet.DocumentRead || doc.State == fleet.DocumentConverted {
		if before, twice := d.seen[doc.Object]; twice {
			old := &d.documents[before]
			old.State, old.Reason = fleet.DocumentReplaced, fmt.Sprintf("It stands again at line %d; that one counts.", doc.Line)
			d.add[before] = nil
		}
		d.seen[doc.Object] = len(d.documents)
	}
	d.note(doc, add)
}

func sentence(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return fmt.Sprintf("Its field %s is a %s, which does not fit there.", wrongType.Field, wrongType.Value)
	}
	s := strings.TrimSuffix(err.Error(), ".")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// finish adds up what is left.
func (d *dump) finish(at time.Time) fleet.Dump {
	for _, add := range d.add {
		if add != nil {
			add()
		}
	}
	// Without a pod or a claim in the file nothing is known of their use.
	if len(d.counting) > 0 && len(d.pods)+len(d.claims) > 0 {
		d.devices = countDevices(d.pods, append(d.claims, d.promised()...), d.classes)
	}
	out := fleet.Dump{Discovery: d.discovery(), Documents: d.documents}
	for i := range d.clusters {
		out.Quotas = append(out.Quotas, readClusterQuota(&d.clusters[i])...)
	}
	for i := range d.profiles {
		out.Quotas = append(out.Quotas, readProfile(&d.profiles[i])...)
	}
	out.KueueAPI, out.At = d.version, at
	return out
}

package fleet

// Marks are the labels and annotations of an object, by which rules match it to a
// project. Long values, such as a whole manifest kept by kubectl, are left out.
type Marks struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Object is what is known of a thing that carries no limit of a project itself.
type Object struct {
	Ref ObjectRef `json:"ref"`
	// Parent is the Cohort above a Cohort, the ClusterQueue behind a LocalQueue.
	Parent string `json:"parent"`
	// Limits of a Cohort of its own, which its queues share.
	Limits   []FlavorUse `json:"limits"`
	Marks    Marks       `json:"marks"`
	Managers []string    `json:"managers"` // who manages its specification
	Owner    string      `json:"owner"`    // Argo CD, Flux, Helm … "" = nobody known
	Ours     bool        `json:"ours"`
	Notes    []string    `json:"notes"`
}

// Dump is what a file of objects says, read as a live cluster would be.
type Dump struct {
	Discovery
	Documents []Document `json:"documents"`
}

// DocumentState is what became of one object of a file.
type DocumentState string

const (
	DocumentRead      DocumentState = "read"
	DocumentConverted DocumentState = "converted" // of an older shape
	DocumentReplaced  DocumentState = "replaced"  // the same object stands again further down
	DocumentSkipped   DocumentState = "skipped"   // carries no limit
	DocumentRefused   DocumentState = "refused"   // cannot be read, or not by this program
)

// Document is one object of a file: where it stands and what became of it.
type Document struct {
	Number     int           `json:"number"` // of the document, from 1
	Item       int           `json:"item"`   // in a list, from 1; 0 outside of one
	Line       int           `json:"line"`
	Object     ObjectRef     `json:"object"`
	APIVersion string        `json:"api_version"`
	State      DocumentState `json:"state"`
	Reason     string        `json:"reason"`
}

// helpers are resources that describe a card's parts beside the resource that counts cards.
var helpers = map[string]bool{
	"nvidia.com/gpucores": true, "nvidia.com/gpumem": true, "nvidia.com/gpumem-percentage": true, "nvidia.com/priority": true,
	"nvidia.com/total-gpucores": true, "nvidia.com/total-gpumem": true, "gpu.intel.com/i915_monitoring": true,
	"gpu.intel.com/xe_monitoring": true, "volcano.sh/vgpu-memory": true, "volcano.sh/vgpu-cores": true, "volcano.sh/vgpu-memory-percentage": true,
}

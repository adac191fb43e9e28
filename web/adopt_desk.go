package web

// AdoptDesk lists what exists on a cluster with the project each queue belongs to. It
// posts to paths.ClusterAdoptAll(id):
//
//	row         index of each chosen row
//	queue.N     its queue
//	place.N     "project/environment"
//	local.N     "namespace/LocalQueue" where several point to the queue
//	idempotency_key
type AdoptDesk struct {
	Action         string
	Import         string // address; "" hides
	IdempotencyKey string
	Proof          string // of the second factor, once it was given for this form
	Source         string // "read now"
	Problem        string // why what is shown is older
	Rules          []string
	Places         []Option
	Rows           []AdoptRow
	Shown          string // "1 to 100 of 1,000 queues"
	Next           string
	MayAdopt       bool
	WhyNot         string
	Ready          int
	Errors         []string
	Others         []AdoptObject
	Cancel         Link
}

// AdoptRow is one queue.
type AdoptRow struct {
	Index  string
	Queue  string
	Where  string // cohort and LocalQueues
	Limits []string
	Notes  []string
	Owner  string
	Reason string // of the match, or why it cannot be adopted
	Place  string
	Locals []Option
	Local  string
	Chosen bool
	Open   bool // may be adopted
	State  Badge
	Bound  Link // to whom it belongs already
}

// AdoptObject is something found that is no queue.
type AdoptObject struct {
	Object string
	What   string
	Owner  string
	Theirs bool // kept by a tool
	Notes  []string
}

// AdoptReport is what became of each chosen row.
type AdoptReport struct {
	Adopted, Failed int
	Rows            []AdoptOutcome
	Back            Link
}

// AdoptOutcome is one row of it.
type AdoptOutcome struct {
	Queue string
	Place string
	State Badge
	Text  string
}

// PlanView is what enforcing would change. Enforce posts to paths.ClusterMode(id).
type PlanView struct {
	Cluster        string
	ModeAction     string
	Mode           string
	IdempotencyKey string
	Asked          string // when
	Rows           []PlanRow
	Bindings       int
	Changing       int // of the rows shown
	Next           string
	MayEnforce     bool
	MaySteer       bool
	WhyNot         string
}

// PlanRow is one binding.
type PlanRow struct {
	Project  Link
	Env      string
	Object   string
	State    Badge
	Text     string
	Objects  []DiffObject
	Warnings []string
}

// ImportView takes a file of objects and shows how it differs. It posts to paths.ClusterImport(id)
// as multipart/form-data:
//
//	file, action = report
//	content (gzip, base64), name, reason, action = keep
//	idempotency_key
type ImportView struct {
	Action         string
	IdempotencyKey string
	Proof          string
	Cluster        string
	Hint           string
	Errors         []string
	Report         *ImportReport
	Reason         Field
	Cancel         Link
}

// ImportReport is what a file says beside what was held.
type ImportReport struct {
	Name, Digest string
	Held         string
	Content      string // to send again
	New          int
	Changed      int
	Same         int
	Refused      []ImportDocument
	Skipped      []ImportDocument
	Rows         []ImportRow
	Kept         Link // entry of a kept one
}

// ImportDocument is one object of the file that is not compared.
type ImportDocument struct {
	Where  string // "document 3, line 41"
	Object string
	State  Badge
	Reason string
}

// ImportRow is one object that is compared.
type ImportRow struct {
	Object string
	State  Badge
	Owner  string
	Fields []DiffField // changed ones, or all of a new object
	Notes  []string
}

func planNothing(v PlanView) string {
	return "Enforcing would change nothing on " + Many(int64(len(v.Rows)), "binding", "bindings") + " of " + Count(int64(v.Bindings)) + "."
}

func planSomething(v PlanView) string {
	return "Enforcing would not leave " + Many(int64(v.Changing), "binding", "bindings") + " of " + Count(int64(v.Bindings)) + " as they are."
}

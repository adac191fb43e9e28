package web

// AdoptView binds a found queue to a project and environment. It posts to
// paths.ClusterAdopt(id):
//
//	object                  the ClusterQueue
//	project                 "project/environment"
//	namespace, local_queue  where the queue is used by more than one
//	idempotency_key
type AdoptView struct {
	Action         string
	IdempotencyKey string
	Proof          string // of the second factor, once it was given for this form
	Queue          string
	Project        Field
	Namespace      Field
	LocalQueue     Field
	Errors         []string
	Cancel         Link
}

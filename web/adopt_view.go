package web

// AdoptView binds a found queue to a project and environment. It posts to
// paths.ClusterAdopt(id):
//
//	object                  the ClusterQueue, or the account on Slurm
//	project                 "project/environment"
//	namespace, local_queue  where the queue is used by more than one
//	idempotency_key
type AdoptView struct {
	Action         string
	IdempotencyKey string
	Proof          string // of the second factor, once it was given for this form
	Queue          string
	Word           string // what the object is: ClusterQueue, account
	NoQueues       bool   // Slurm: an account has no namespace and no LocalQueue
	Project        Field
	Namespace      Field
	LocalQueue     Field
	Errors         []string
	Cancel         Link
}

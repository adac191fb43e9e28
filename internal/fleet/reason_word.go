package fleet

// slurmReasons say in words what Slurm's reason for a waiting job means
// (squeue(1), JOB REASON CODES).
var slurmReasons = map[string]string{
	"AssocGrpGRES":           "the account's GPU limit is in use",
	"AssocGrpGRESMinutes":    "the account's GPU-minutes are used up",
	"AssocGrpGRESRunMinutes": "the running jobs of the account take all GPU-minutes it may hold",
	"AssocMaxGRESPerJob":     "the job asks for more GPUs than one job of the account may have",
	"QOSGrpGRES":             "the GPU limit of its QOS is in use",
	"QOSMaxGRESPerUser":      "its user has all GPUs that the QOS gives one user",
	"QOSMaxGRESPerJob":       "the job asks for more GPUs than its QOS gives one job",
	"MaxGRESPerAccount":      "the account has all GPUs that the QOS gives one account",
	"Resources":              "no node has enough free now",
	"Priority":               "other jobs come first",
	"ReqNodeNotAvail":        "its nodes are reserved, drained or down",
	"BeginTime":              "its start time has not come",
	"Dependency":             "it waits for another job",
	"JobHeldUser":            "its user holds it",
	"JobHeldAdmin":           "an administrator holds it",
	"JobArrayTaskLimit":      "as many tasks of the array run as may",
	"PartitionTimeLimit":     "it asks for more time than its partition gives",
}

// Why is the scheduler's own word on a waiting or evicted workload, with what it
// means where that is one of Slurm's.
func (w Workload) Why() string {
	if w.Message != "" {
		return w.Message
	}
	if meaning := slurmReasons[w.Reason]; meaning != "" {
		return w.Reason + ": " + meaning
	}
	return w.Reason
}

package slurm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// jobsAnswer is what "squeue --json" and slurmrestd answer.
type jobsAnswer struct {
	Errors []answerError     `json:"errors"`
	Jobs   []json.RawMessage `json:"jobs"`
}

// job is one of them, in the fields that v0.0.38 to v0.0.44 share.
type job struct {
	ID          number `json:"job_id"`
	ArrayTasks  string `json:"array_task_string"`
	Name        string `json:"name"`
	Account     string `json:"account"`
	Partition   string `json:"partition"`
	User        string `json:"user_name"`
	UserID      number `json:"user_id"`
	State       words  `json:"job_state"`
	Reason      string `json:"state_reason"`
	Description string `json:"state_description"`
	Nodes       string `json:"nodes"`
	NodeCount   number `json:"node_count"`
	Submitted   number `json:"submit_time"`
	Started     number `json:"start_time"`
	Ended       number `json:"end_time"`
	Asked       string `json:"tres_req_str"`
	Given       string `json:"tres_alloc_str"`
	PerNode     string `json:"tres_per_node"`
	PerJob      string `json:"tres_per_job"`
	GRES        words  `json:"gres_detail"`
}

// readJobs reads the jobs; one that cannot be read is named in problems and never
// drops the others. An answer with errors is a fault, whatever list comes with it.
func readJobs(text []byte) (jobs []fleet.Workload, problems []string, err error) {
	var answer jobsAnswer
	if err := decode("squeue", text, &answer); err != nil {
		return nil, nil, err
	}
	if err := refused("squeue", answer.Errors); err != nil {
		return nil, nil, err
	}
	if answer.Jobs == nil {
		return nil, nil, fault.New(fault.Unavailable, "Slurm's answer to squeue has no list of jobs.")
	}
	for i, raw := range answer.Jobs {
		var j job
		if err := json.Unmarshal(raw, &j); err != nil || !j.ID.Set {
			problems = append(problems, fmt.Sprintf("Job %d of the list could not be read.", i+1))
			continue
		}
		w, problem := j.workload()
		if problem != "" {
			problems = append(problems, problem)
		}
		jobs = append(jobs, w)
	}
	return jobs, problems, nil
}

// decode reads Slurm's JSON; an address that is not served answers in plain text.
func decode(program string, text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fault.Newf(fault.Unavailable, "Slurm's answer to %s is not JSON: %s.", program, clip(string(text[:min(len(text), 200)]))).Because(err)
	}
	return nil
}

func (j job) workload() (w fleet.Workload, problem string) {
	id := fmt.Sprint(j.ID.Value)
	w = fleet.Workload{
		// Numbers begin anew after MaxJobId, and one job keeps its own through a requeue.
		UID: fmt.Sprintf("%s.%d", id, j.Submitted.Value), Name: orElse(j.Name, "job "+id), Namespace: strings.ToLower(j.Account), LocalQueue: j.Partition,
		Queue: strings.ToLower(j.Account), Submitter: j.User, State: j.state(), Node: j.Nodes,
	}
	tasks := int64(1)
	if j.ArrayTasks != "" {
		id += "_[" + j.ArrayTasks + "]"
		tasks = arrayTasks(j.ArrayTasks)
	}
	w.Job = "job " + id
	if j.Name != "" {
		w.Job += " " + j.Name
	}
	if w.Submitter == "" && j.UserID.Set {
		w.Submitter = fmt.Sprintf("uid %d", j.UserID.Value)
	}
	if at := j.Submitted.moment(); at != nil {
		w.CreatedAt = *at
	}
	switch w.State {
	case fleet.Pending:
		w.Reason, w.Message = j.Reason, j.Description
	case fleet.Admitted:
		w.AdmittedAt = j.Started.moment()
	default:
		w.AdmittedAt, w.FinishedAt = j.Started.moment(), j.Ended.moment()
		w.Reason, w.Message = strings.Join(j.State, " "), j.Description
	}
	amounts, err := j.amounts(w.State)
	if err != nil {
		problem = fmt.Sprintf("What job %s takes could not be read: %s", id, fault.As(err).Public)
	}
	if w.State == fleet.Pending && tasks > 1 {
		for i := range amounts {
			amounts[i].Amount = amounts[i].Amount.Mul(tasks)
		}
	}
	w.Amounts = amounts
	return w, problem
}

// state folds Slurm's into the portal's. Newer releases list flags after the state.
func (j job) state() fleet.WorkloadState {
	has := func(names ...string) bool {
		return slices.ContainsFunc(j.State, func(s string) bool { return slices.Contains(names, strings.ToUpper(s)) })
	}
	switch {
	case has("PREEMPTED"):
		return fleet.Evicted
	case has("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL") && !has("COMPLETING"):
		return fleet.Finished
	case has("RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"):
		return fleet.Admitted
	}
	return fleet.Pending
}

// amounts are the job's GPUs: from the TRES where Slurm tracks them, else from the
// GRES, which are there whether they are counted or not.
func (j job) amounts(state fleet.WorkloadState) ([]fleet.Amount, error) {
	text := j.Given
	if state == fleet.Pending || text == "" {
		text = j.Asked
	}
	all, err := readTRES(text)
	if err != nil {
		return nil, err
	}
	if out := gpus(all); len(out) > 0 {
		return out, nil
	}
	if state != fleet.Pending && len(j.GRES) > 0 {
		return gresAmounts(1, j.GRES...)
	}
	if j.PerJob != "" {
		return gresAmounts(1, j.PerJob)
	}
	return gresAmounts(max(j.NodeCount.Value, 1), j.PerNode)
}

func gresAmounts(times int64, texts ...string) ([]fleet.Amount, error) {
	var all []tres
	for _, text := range texts {
		list, err := readGRES(text)
		if err != nil {
			return nil, err
		}
		for _, g := range list {
			all = append(all, tres{Name: g.tres(), Amount: g.Count * times})
		}
	}
	return gpus(all), nil
}

// arrayTasks counts the tasks of "1-3,7,10-20:5%4"; 1 where it cannot be said.
func arrayTasks(text string) int64 {
	text, _, _ = strings.Cut(text, "%")
	n := int64(0)
	for _, part := range strings.Split(text, ",") {
		ends, step, stepped := strings.Cut(part, ":")
		from, to, ranged := strings.Cut(ends, "-")
		a, err := readCount(from)
		if err != nil || from == "" {
			return 1 // "…" of a long list
		}
		b, by := a, int64(1)
		if ranged {
			if b, err = readCount(to); err != nil || b < a {
				return 1
			}
		}
		if stepped {
			if by, err = readCount(step); err != nil || by < 1 {
				return 1
			}
		}
		n += (b-a)/by + 1
	}
	return max(n, 1)
}

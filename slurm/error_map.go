package slurm

import (
	"errors"
	"strings"

	"quartermaster/internal/fault"
)

// complaint is a piece of what Slurm's commands say and what it means.
type complaint struct {
	says   []string
	kind   fault.Kind
	public string
}

// complaints in the order in which they are looked for. A token that Slurm does not
// accept is Unavailable, not Forbidden: what waits goes on once there is a new one.
var complaints = []complaint{
	{[]string{"no tres known by type", "unknown option: grptres"}, fault.Invalid, "Slurm does not track that GRES, so it cannot limit it: add it to AccountingStorageTRES in slurm.conf."},
	{[]string{"doesn't have privilege", "access/permission denied", "only admins", "only operators"}, fault.Forbidden,
		"The token's Slurm user may not change accounts. Make it an operator: sacctmgr modify user set adminlevel=Operator."},
	{[]string{"protocol authentication error", "invalid authentication credential", "persist_init", "authentication failure"}, fault.Unavailable,
		"Slurm does not accept the token: it has ended, belongs to another cluster, or its user does not exist there. Make a new one with scontrol token and connect it."},
	{[]string{"zero bytes were transmitted"}, fault.Unavailable,
		"The controller closed the connection without an answer. Most often it does not accept the token: it has ended, belongs to another cluster, or its user does not exist there."},
	{[]string{"unable to contact slurm controller", "connection refused", "connect failure", "connection timed out", "no route to host", "unable to establish"}, fault.Unavailable,
		"Slurm does not answer: a daemon is down or its address is wrong."},
	{[]string{"nothing modified", "nothing new added"}, fault.Stale, "The account on the cluster is not what the plan saw. Look at the plan again."},
	{[]string{"unrecognized option", "invalid option"}, fault.Unavailable, "Slurm's commands on the portal's machine are too old: 21.08 or newer is needed."},
}

// explain makes a fault of what a command said.
func explain(program, said string, cause error) error {
	lower := strings.ToLower(said)
	cause = errors.Join(cause, errors.New(strings.TrimSpace(said)))
	for _, c := range complaints {
		for _, text := range c.says {
			if strings.Contains(lower, text) {
				return fault.New(c.kind, c.public).Because(cause)
			}
		}
	}
	return fault.Newf(fault.Unavailable, "Slurm's command %s fails. The log has what it said.", program).Because(cause)
}

// answerError is one entry of "errors" in Slurm's JSON.
type answerError struct {
	Number      number `json:"error_number"`
	Errno       number `json:"errno"` // v0.0.38 of slurmctld
	Text        string `json:"error"`
	Description string `json:"description"`
	Source      string `json:"source"`
}

// refused makes a fault of an answer's errors: a list that comes with errors says nothing.
func refused(program string, errs []answerError) error {
	if len(errs) == 0 {
		return nil
	}
	var said []string
	for _, e := range errs {
		said = append(said, strings.TrimSpace(e.Source+": "+e.Text+" "+e.Description))
	}
	text := strings.Join(said, "; ")
	err := explain(program, text, errors.New("the answer carries errors"))
	if f := fault.As(err); strings.HasPrefix(f.Public, "Slurm's command") {
		return fault.Newf(fault.Unavailable, "Slurm could not answer %s: %s.", program, clip(orElse(errs[0].Description, errs[0].Text))).Because(err)
	}
	return err
}

// clip keeps a sentence of somebody else's from filling the page.
func clip(s string) string {
	const most = 200
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return strings.TrimRight(s, ".")
}

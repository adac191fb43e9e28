package slurm

import (
	"bufio"
	"regexp"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// account is what the controller enforces on one account now.
type account struct {
	Name, Parent string
	// Limits are the GRES that Slurm tracks, in its order.
	Limits []limited
	// Minutes are GPU-minutes, of which Slurm forgets part with time (PriorityDecayHalfLife).
	Minutes []limited
}

// limited is one TRES of an account: its limit, if any, and what is used of it.
type limited struct {
	Name  string
	Limit *int64 // nil: no limit
	Used  fleet.Measure
}

// find returns what is said of a TRES.
func find(all []limited, name string) (limited, bool) {
	for _, l := range all {
		if l.Name == name {
			return l, true
		}
	}
	return limited{}, false
}

// keyAt finds where the next Key= of a record begins, so that a value may hold blanks.
var keyAt = regexp.MustCompile(`(?:^|\s)(ClusterName|Account|UserName|Partition|Priority|ID|SharesRaw/Norm/Level/Factor|UsageRaw/Norm/Efctv|ParentAccount|Lft|Rgt|DefAssoc|GrpJobs|GrpJobsAccrue|GrpSubmitJobs|GrpWall|GrpTRES|GrpTRESMins|GrpTRESRunMins|MaxJobs|MaxJobsAccrue|MaxSubmitJobs|MaxWallPJ|MaxTRESPJ|MaxTRESPN|MaxTRESMinsPJ|MinPrioThresh|Comment|Lineage)=`)

// values cuts a record at the keys that keys finds.
func values(record string, keys *regexp.Regexp) map[string]string {
	at := keys.FindAllStringSubmatchIndex(record, -1)
	out := make(map[string]string, len(at))
	for i, m := range at {
		end := len(record)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		out[record[m[2]:m[3]]] = strings.TrimSpace(record[m[1]:end])
	}
	return out
}

// readAccounts reads "scontrol show assoc_mgr flags=assoc": the rows without a user.
// cluster "" takes every cluster's.
func readAccounts(text, cluster string) ([]account, error) {
	if !strings.Contains(text, "Association Manager") {
		return nil, fault.New(fault.Unavailable, "The controller answered, but not with its accounts.")
	}
	var out []account
	var record strings.Builder
	keep := func() error {
		if record.Len() == 0 {
			return nil
		}
		v := values(record.String(), keyAt)
		record.Reset()
		if v["UserName"] != "" || v["Account"] == "" || cluster != "" && !strings.EqualFold(v["ClusterName"], cluster) {
			return nil
		}
		a, err := readAccount(v)
		if err != nil {
			return err
		}
		out = append(out, a)
		return nil
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "ClusterName=") {
			if err := keep(); err != nil {
				return nil, err
			}
		} else if !strings.HasPrefix(line, " ") {
			continue // headings
		}
		record.WriteString(line)
		record.WriteByte(' ')
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.Unavailable, "The controller's accounts could not be read to the end.").Because(err)
	}
	return out, keep()
}

func readAccount(v map[string]string) (account, error) {
	a := account{Name: strings.ToLower(v["Account"])}
	a.Parent, _, _ = strings.Cut(v["ParentAccount"], "(")
	var err error
	if a.Limits, err = readLimits(v["GrpTRES"]); err == nil {
		a.Minutes, err = readLimits(v["GrpTRESMins"])
	}
	if err != nil {
		return a, fault.Newf(fault.Unavailable, "Account %s: %s", a.Name, fault.As(err).Public)
	}
	return a, nil
}

// readLimits reads "gres/gpu=6(4),gres/gpu:a100=N(4)": limit(used), N for no limit.
func readLimits(text string) ([]limited, error) {
	var out []limited
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if name = tresName(name); !ok || !accelerator(name) {
			continue
		}
		limit, used, bracket := strings.Cut(value, "(")
		l := limited{Name: name}
		if !unlimited(limit) {
			n, err := readAmount(limit)
			if err != nil {
				return nil, err
			}
			l.Limit = &n
		}
		if bracket {
			n, err := readAmount(strings.TrimSuffix(used, ")"))
			if err != nil {
				return nil, err
			}
			l.Used = fleet.Known(fleet.Count(n))
		}
		out = append(out, l)
	}
	return out, nil
}

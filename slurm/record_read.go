package slurm

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/fault"
)

// Reservation is what "scontrol show reservation" says of one.
type Reservation struct {
	Name       string
	Start, End *time.Time // UTC; nil: open
	Duration   span
	Nodes      string // a hostlist
	NodeCount  int64
	Partition  string
	Accounts   []string
	Users      []string
	Flags      []string
	TRES       []tres
	State      string
}

// reservationKeys and partitionKeys are the keys that records of these kinds have. Keys
// are found by their names, never by blanks: names and comments may hold blanks.
var (
	reservationKeys = keysOf("ReservationName StartTime EndTime Duration Nodes NodeCnt CoreCnt Features PartitionName Flags TRES Users Groups Accounts Licenses State BurstBuffer Watts MaxStartDelay Comment")
	partitionKeys   = keysOf("PartitionName AllowGroups AllowAccounts AllowQos AllocNodes Default QoS DefaultTime DisableRootJobs ExclusiveUser ExclusiveTopo GraceTime Hidden MaxNodes MaxTime MinNodes LLN MaxCPUsPerNode MaxCPUsPerSocket Nodes PriorityJobFactor PriorityTier RootOnly ReqResv OverSubscribe OverTimeLimit PreemptMode State TotalCPUs TotalNodes SelectTypeParameters JobDefaults DefMemPerNode DefMemPerCPU MaxMemPerNode MaxMemPerCPU TRES TRESBillingWeights")
)

func keysOf(names string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)(` + strings.ReplaceAll(names, " ", "|") + `)=`)
}

// record is one record of scontrol's text output and the line it begins on.
type record struct {
	line   int
	values map[string]string
}

// readRecords cuts scontrol's output into records: each begins with the key first at
// the start of a line. "No reservations in the system" is an empty list.
func readRecords(text, first string, keys *regexp.Regexp) (out []record, problems []LineError) {
	var current strings.Builder
	began := 0
	keep := func() {
		if began > 0 {
			out = append(out, record{began, values(current.String(), keys)})
		}
		current.Reset()
		began = 0
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || strings.HasPrefix(bare, "No ") && strings.HasSuffix(bare, " in the system"):
			keep()
		case strings.HasPrefix(line, first+"="):
			keep()
			began = i + 1
			current.WriteString(line)
		case began > 0 && line != bare: // continued, indented
			current.WriteString(" " + bare)
		default:
			keep()
			problems = append(problems, lineErrorf(i+1, "This is no part of a record."))
		}
	}
	keep()
	return out, problems
}

// ReadReservations reads "scontrol show reservation" in the cluster's own time zone.
// A record that cannot be read is named by its line and never drops the others.
func ReadReservations(text string, zone *time.Location) ([]Reservation, []LineError) {
	records, problems := readRecords(text, "ReservationName", reservationKeys)
	var out []Reservation
	for _, r := range records {
		v := r.values
		x := Reservation{Name: v["ReservationName"], Nodes: some(v["Nodes"]), Partition: some(v["PartitionName"]),
			Accounts: list(v["Accounts"]), Users: list(v["Users"]), Flags: list(v["Flags"]), State: v["State"]}
		var err error
		if x.Start, err = readMoment(v["StartTime"], zone); err == nil {
			x.End, err = readMoment(v["EndTime"], zone)
		}
		if err == nil {
			x.Duration, err = readSpan(v["Duration"])
		}
		if err == nil {
			x.NodeCount, err = readCount(v["NodeCnt"])
		}
		if err == nil {
			x.TRES, err = readTRES(v["TRES"])
		}
		if err != nil {
			problems = append(problems, lineErrorf(r.line, "Reservation %s: %s", x.Name, fault.As(err).Public))
			continue
		}
		out = append(out, x)
	}
	return out, problems
}

func some(s string) string {
	if absent(s) {
		return ""
	}
	return s
}

// Partition is what "scontrol show partition" says of one. MaxTime nil: none is said.
type Partition struct {
	Name    string
	Default bool
	State   string
	Nodes   string
	MaxTime *span
	Weights map[string]float64 // TRESBillingWeights
}

// ReadPartitions reads "scontrol show partition", with -o or without.
func ReadPartitions(text string) ([]Partition, []LineError) {
	records, problems := readRecords(text, "PartitionName", partitionKeys)
	var out []Partition
	for _, r := range records {
		v := r.values
		p := Partition{Name: v["PartitionName"], Default: v["Default"] == "YES", State: v["State"], Nodes: some(v["Nodes"])}
		var err error
		if !absent(v["MaxTime"]) {
			var s span
			if s, err = readSpan(v["MaxTime"]); err == nil {
				p.MaxTime = &s
			}
		}
		if err == nil {
			p.Weights, err = readWeights(v["TRESBillingWeights"])
		}
		if err != nil {
			problems = append(problems, lineErrorf(r.line, "Partition %s: %s", p.Name, fault.As(err).Public))
			continue
		}
		out = append(out, p)
	}
	return out, problems
}

// readWeights reads TRESBillingWeights such as "CPU=1.0,Mem=.25G,GRES/gpu=3". A weight of
// memory is per GiB where it says G, and is kept so.
func readWeights(text string) (map[string]float64, error) {
	text = strings.Trim(text, `"`)
	if absent(text) {
		return nil, nil
	}
	out := map[string]float64{}
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		n, err := strconv.ParseFloat(strings.TrimRight(value, "KMGTPkmgtp"), 64)
		if !ok || err != nil || n < 0 {
			return nil, fault.Newf(fault.Invalid, "%q is no billing weight.", part)
		}
		out[tresName(name)] = n
	}
	return out, nil
}

// hostCount is how many hosts a hostlist names: gpu[01-11,20],login is 13.
func hostCount(text string) (int64, error) {
	if absent(text) {
		return 0, nil
	}
	total := int64(0)
	for _, entry := range splitOutside(text) {
		n := int64(1)
		for rest := entry; ; {
			open := strings.IndexByte(rest, '[')
			if open < 0 {
				break
			}
			end := strings.IndexByte(rest, ']')
			if end < open {
				return 0, fault.Newf(fault.Invalid, "%q is no list of hosts.", entry)
			}
			inside := int64(0)
			for _, r := range strings.Split(rest[open+1:end], ",") {
				from, to, ranged := strings.Cut(r, "-")
				a, err := readCount(from)
				b := a
				if err == nil && ranged {
					b, err = readCount(to)
				}
				if err != nil || from == "" || b < a {
					return 0, fault.Newf(fault.Invalid, "%q is no list of hosts.", entry)
				}
				inside += b - a + 1
			}
			n *= inside
			rest = rest[end+1:]
		}
		total += n
	}
	return total, nil
}

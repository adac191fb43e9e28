package slurm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// A dump with typed TRES, quoted colons, comments and an abbreviation comes back as it was.
func TestADumpIsReadAndWrittenBack(t *testing.T) {
	const records = `QOS - 'day':Description='until noon: short':GrpTRES=cpu=64,gres/gpu:h100=12:MaxWallDurationPerJob=90
Cluster - 'hill':Fairshare=1:QOS='day,normal'
Parent - 'root'
Account - 'optics':Description='Light: and dark':GrpTRES=mem=2T,gres/gpu:h100=6,gres/gpu=8:GrpJob=20
Account - 'waves':Description='ondes é':Fairshare=2147483647
Parent - 'optics'
User - 'ida':DefaultAccount='optics':MaxJobs=4:QOS='+day'
User - 'ida':Partition='big':DefaultAccount='optics'
`
	d := ReadDump("# a comment\r\n\n" + strings.ReplaceAll(records, "\n", "\r\n") + "   ")
	require.Empty(t, d.Problems)
	require.Equal(t, records, d.Write())
	all, err := d.Lines[3].TRES("GrpTRES")
	require.NoError(t, err)
	require.Equal(t, []tres{{Name: "mem", Amount: 2 << 20}, {Name: "gres/gpu:h100", Amount: 6}, {Name: "gres/gpu", Amount: 8}}, all)
	jobs, ok := d.Lines[3].Option("GrpJobs")
	require.True(t, ok, "GrpJob is short for it")
	require.Equal(t, "20", jobs)
	require.Equal(t, "optics", d.Lines[6].Parent)
	require.Equal(t, 6, d.Lines[3].Line)
	require.Equal(t, "Cluster - 'hill':\n", ReadDump("Cluster - 'hill':\n").Write())
}

// What follows a number is never dropped in silence: the line is refused and nothing of it kept.
func TestADumpRefusesWhatFollowsANumber(t *testing.T) {
	d := ReadDump("Parent - 'root'\nAccount - 'a':GrpJobs=20x:GrpTRES=cpu=4\nAccount - 'b':MaxJobs=5;\nAccount - 'c':GrpTRES=gres/gpu=4x\nAccount - 'd':Grp=4\nAccount - 'e\nnonsense\nAccount - 'f':GrpJobs=7\n")
	var lines []string
	for _, p := range d.Problems {
		lines = append(lines, fmt.Sprintf("%d: %s", p.Line, p.Reason))
	}
	require.Equal(t, []string{
		`2: GrpJobs: "20x" is not a whole number.`, `3: MaxJobs: "5;" is not a whole number.`, `4: GrpTRES: gres/gpu: "4x" is not a whole number.`,
		`5: "Grp" is no option that is known.`, `6: A quote is not closed.`, `7: No record: it begins with a kind, a hyphen and a name.`,
	}, lines)
	require.Equal(t, "Parent - 'root'\nAccount - 'f':GrpJobs=7\n", d.Write())
}

func TestTimesAreReadAsSlurmReadsThem(t *testing.T) {
	for text, seconds := range map[string]int64{"0": 0, "45": 2700, "3:20": 200, "0:01": 1, "02:00:01": 7201, "200:00:00": 720000, "3-": 259200, "3-4": 273600,
		"3-4:05": 273900, "3-4:05:06": 273906, "0-00:30:00": 1800} {
		s, err := readSpan(text)
		require.NoError(t, err, text)
		require.Equal(t, span{Seconds: seconds}, s, text)
	}
	require.Equal(t, int64(31), span{Seconds: 1801}.Minutes())
	for _, text := range []string{"-1", "unlimited", "INFINITE"} {
		s, err := readSpan(text)
		require.NoError(t, err)
		require.True(t, s.Unlimited, text)
	}
	for _, text := range []string{"", "NONE", "N/A", "(null)", "3-:05", "3:4:5:6", "3h", " 45", "45 ", "4.5", "3-4:", "3-4:5:6:7", "-2", "9999999999"} {
		_, err := readSpan(text)
		require.Equal(t, fault.Invalid, fault.KindOf(err), "%q", text)
	}
}

func TestMemoryIsInMiBWithoutAUnit(t *testing.T) {
	for text, mib := range map[string]int64{"0": 0, "64G": 65536, "900M": 900, "900": 900, "2.5T": 2621440, ".5G": 512, "1K": 1, "2048K": 2} {
		n, err := readMemory(text)
		require.NoError(t, err, text)
		require.Equal(t, mib, n, text)
	}
	for _, text := range []string{"", "G", "1X", "1e3", "-1", "1.2.3", "٣"} {
		_, err := readMemory(text)
		require.Error(t, err, text)
	}
}

// A list that says a total and its types is not added up twice.
func TestTRESCountEachGPUOnce(t *testing.T) {
	of := func(text string) string {
		all, err := readTRES(text)
		require.NoError(t, err)
		return fmt.Sprint(gpus(all))
	}
	h := fleet.PoolKey{Flavor: "h100", Resource: "gres/gpu:h100"}
	amount := func(k fleet.PoolKey, n int64) fleet.Amount { return fleet.Amount{Pool: k, Amount: fleet.Count(n)} }
	require.Equal(t, fmt.Sprint([]fleet.Amount{amount(h, 4)}), of("cpu=2,gres/gpu:h100=4,gres/gpu=4,mem=16G,node=1"))
	require.Equal(t, fmt.Sprint([]fleet.Amount{amount(anyGPU, 1), amount(h, 4)}), of("gres/gpu=5,gres/gpu:h100=4"))
	require.Equal(t, "[]", of("cpu=1,mem=0,node=1,billing=1"))
	all, err := readTRES("GRES/gpu=N,mem=0,")
	require.NoError(t, err)
	require.Equal(t, []tres{{Name: "gres/gpu", NoEnd: true}, {Name: "mem"}}, all)
}

func TestNodesWithSlicesAndWithoutTRES(t *testing.T) {
	nodes, problems, err := readNodes([]byte(`{"errors":[],"nodes":[
		{"name":"a","gres":"gpu:h100:4(S:0-1)","gres_used":"gpu:h100:2(IDX:0,3)","state":["ALLOCATED"],"partitions":["big"],"cpus":64,"real_memory":1024,"tres":"cpu=64"},
		{"name":"b","gres":"gpu:1g.10gb:7(S:1)","gres_used":"gpu:1g.10gb:5(IDX:0-3,6)","state":["IDLE","DRAIN"],"partitions":["small"],"cpus":64},
		{"name":"c","gres":"","gres_used":"gpu:0","state":"idle","cpus":{"set":true,"infinite":false,"number":8}},
		{"name":"d","gres":"gpu:what:many","state":"idle"}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{`The GRES of node d could not be read: "gpu:what:many" is no GRES: write name:type:count.`}, problems)
	require.Len(t, nodes, 3)
	require.Equal(t, []gres{{"gpu", "h100", 2}}, nodes[0].Used)
	require.Equal(t, []gres{{"gpu", "1g.10gb", 5}}, nodes[1].Used)
	pools, _ := poolsOf(nodes, func(string) bool { return true })
	var said []string
	for _, p := range pools {
		said = append(said, fmt.Sprintf("%s %s %s %s", p.Key, p.Capacity, p.Unit, strings.Join(p.Notes, "; ")))
	}
	require.Equal(t, []string{
		"gpu gres/gpu 11 unit reached by partition big, small; an account's limit holds in all partitions together; 7 of them are on nodes that are down or drained; counts whole cards and MIG devices alike",
		"1g.10gb gres/gpu:1g.10gb 7 MIG device reached by partition small; an account's limit holds in all partitions together; 7 of them are on nodes that are down or drained",
		"h100 gres/gpu:h100 4 card reached by partition big; an account's limit holds in all partitions together",
	}, said)
	_, untracked := poolsOf(nodes, func(name string) bool { return name == "gres/gpu" })
	require.Len(t, untracked, 2, "what Slurm does not track is no pool, and is said")
}

// An empty list that comes with errors is a failed poll; so is text that is no JSON.
func TestAListWithErrorsSaysNothing(t *testing.T) {
	for _, text := range []string{
		`{"jobs":[],"errors":[{"error_number":1007,"error":"Protocol authentication error","source":"slurm_load_jobs"}]}`,
		`{"jobs":[],"errors":[{"error":"Unspecified error","errno":-1}]}`,
		`{"errors":[]}`, `Unable to find requested URL endpoint.`, ``, `Authentication failure`,
	} {
		jobs, _, err := readJobs([]byte(text))
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%s: %v", text, err)
		require.Nil(t, jobs)
	}
	jobs, problems, err := readJobs([]byte(`{"jobs":[{"job_id":"x"},{"job_id":7,"account":"Lab","job_state":["RUNNING"],"tres_alloc_str":"cpu=1,node=1","gres_detail":["gpu:h100:1(IDX:0)"],"submit_time":{"set":true,"infinite":false,"number":1700000000},"end_time":{"set":false,"infinite":true,"number":0}}],"errors":[]}`))
	require.NoError(t, err)
	require.Len(t, problems, 1, "one that cannot be read never drops the others")
	require.Equal(t, "lab", jobs[0].Queue)
	require.Equal(t, "1", jobs[0].Amounts[0].Amount.String(), "GPUs that no TRES counts")
}

func TestNumbersOfThreeStates(t *testing.T) {
	for text, want := range map[string]number{
		`{"set":false,"infinite":true,"number":0}`: {Infinite: true}, `{"set":true,"infinite":false,"number":0}`: {Set: true}, `null`: {}, `5`: {Set: true, Value: 5},
		`{"set":false,"infinite":false,"number":0}`: {}, `"7"`: {Set: true, Value: 7}, `1.0`: {Set: true, Value: 1}, `{}`: {},
	} {
		var n number
		require.NoError(t, json.Unmarshal([]byte(text), &n), text)
		require.Equal(t, want, n, text)
	}
}

// Values with blanks are found by the known keys.
func TestRecordsKeepBlanks(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	all, problems := ReadReservations(`ReservationName=spring clean 2026 StartTime=2026-03-28T20:00:00 EndTime=2026-03-30T20:00:00 Duration=1-23:00:00
   Nodes=3dx[1-2],n[01-10,12],login NodeCnt=14 CoreCnt=2 Features=(null) PartitionName=(null) Flags=
   TRES=cpu=4
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null) Comment=all of it, once

ReservationName=wrong StartTime=2026-03-28T20:00:00 EndTime=NONE Duration=1h
   Nodes=a NodeCnt=1
ReservationName=open StartTime=2026-03-28T20:00:00 EndTime=N/A Duration=UNLIMITED NodeCnt=1
`, zone)
	require.Len(t, all, 2)
	require.Equal(t, "spring clean 2026", all[0].Name)
	require.Equal(t, all[0].Duration.Seconds, int64(all[0].End.Sub(*all[0].Start).Seconds()), "an hour less: the clocks change")
	n, err := hostCount(all[0].Nodes)
	require.NoError(t, err)
	require.Equal(t, all[0].NodeCount, n)
	require.Nil(t, all[1].End, "open")
	require.Equal(t, []LineError{{7, `Reservation wrong: "1h" is no time limit: write minutes, hours:minutes:seconds or days-hours:minutes:seconds.`}}, problems)
	all, problems = ReadReservations("No reservations in the system\n", zone)
	require.Empty(t, all)
	require.Empty(t, problems)
	parts, problems := ReadPartitions("PartitionName=day AllowGroups=ALL Default=YES QoS=N/A OverTimeLimit=NONE MaxTime=3-00:00:00 Nodes=(null) State=UP TRESBillingWeights=CPU=1,Mem=.25G,GRES/gpu=3\n")
	require.Empty(t, problems)
	require.Equal(t, int64(4320), parts[0].MaxTime.Minutes())
	require.Equal(t, map[string]float64{"cpu": 1, "mem": .25, "gres/gpu": 3}, parts[0].Weights)
}

// What the accounting has counted and what Slurm enforces are two numbers.
func TestMinutesLeftAreThoseSlurmEnforces(t *testing.T) {
	counted, accounted := int64(300), int64(900)
	b := MinuteBudget{Limit: 1000, Counted: &counted, Accounted: &accounted}
	left, ok := b.Left()
	require.True(t, ok)
	require.Equal(t, int64(700), left)
	require.Equal(t, "minutes: limit 1000, counted by Slurm now (decays) 300, left 700, used by the accounting 900", b.String())
	_, ok = MinuteBudget{Limit: 1000}.Left()
	require.False(t, ok, "unknown is not 0")
}

func TestTheEndOfAJobMayBeOpen(t *testing.T) {
	for _, text := range []string{"NONE", "N/A", "Unknown", "(null)", ""} {
		at, err := readMoment(text, time.UTC)
		require.NoError(t, err, text)
		require.Nil(t, at, text)
	}
	at, err := readMoment("2026-12-01T10:00:00", time.UTC)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), *at)
	_, err = readMoment("soon", time.UTC)
	require.Error(t, err)
}

// One bad line never drops the others; a line that ends in | has no empty last column.
func TestJobLinesWithOpenEnds(t *testing.T) {
	jobs, problems := ReadJobLines("JobID|Start|End|AllocTRES|\n1|2026-12-01T09:00:00|NONE|gres/gpu=2,gres/gpu:h100=2|\n2|2026-12-01T09:00:00|N/A||\n3|Unknown|Unknown|mem=0|\n"+
		"4|2026-12-01T09:00:00|yesterday||\n5|2026-12-01T09:00:00|2026-12-01T10:00:00|cpu=1|\n6|short|\n", time.UTC)
	require.Len(t, jobs, 4)
	for i, id := range []string{"1", "2", "3", "5"} {
		require.Equal(t, id, jobs[i].ID)
		require.Equal(t, id != "5", jobs[i].End == nil)
	}
	require.Equal(t, []LineError{{7, "The line has 2 columns, the heading 4."}, {5, `Job 4: "yesterday" is no time.`}}, problems)
}

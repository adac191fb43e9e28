package request_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func content(asked int64) request.Content {
	return request.Content{
		Kind: request.Quota, ProjectID: "street-scenes", Environment: "production", DataClass: "internal", WorkloadType: "training",
		Purpose: "Train the detector", Justification: "The present limit makes one run take nine days.",
		Lines: []request.Line{{PoolID: "h100", Current: fleet.Known(fleet.Count(8)), InUse: fleet.Known(fleet.Count(8)), Asked: fleet.Count(asked), Kind: request.Hard}},
	}
}

func route() approval.Route {
	at := []org.Place{{TeamID: "vision"}}
	return approval.Route{Version: 1, Stages: []approval.Stage{
		{Key: "team", Name: "Team manager", Role: org.TeamManager, Places: at, Quorum: 1},
		{Key: "capacity", Name: "Capacity manager", Role: org.CapacityManager, Places: []org.Place{{PoolID: "h100"}}, Quorum: 1},
	}}
}

func draft(t *testing.T, asked int64) request.Request {
	t.Helper()
	r, err := request.Request{ID: "r", State: request.Draft, RequesterID: "ana", CreatedAt: noon}.Edit(content(asked), "ana", noon)
	require.NoError(t, err)
	return r
}

func submitted(t *testing.T, asked int64) request.Request {
	t.Helper()
	r, err := draft(t, asked).Submit(route(), noon)
	require.NoError(t, err)
	return r
}

func decision(r request.Request, stage, who string, o approval.Outcome, granted ...int64) approval.Decision {
	d := approval.Decision{Digest: r.Revision.Digest, StageKey: stage, PersonID: who, Identity: who, Outcome: o, At: noon}
	for i, g := range granted {
		d.Granted = append(d.Granted, approval.Granted{PoolID: r.Revision.Content.Lines[i].PoolID, Amount: fleet.Count(g)})
	}
	return d
}

// in puts a request of one decided revision into any state.
func in(t *testing.T, s request.State) request.Request {
	t.Helper()
	r := submitted(t, 16)
	if s == request.InReview || s == request.Returned {
		var err error
		r, err = r.Decide(decision(r, "team", "ben", approval.Approve, 16))
		require.NoError(t, err)
		if s == request.Returned {
			r, err = r.Decide(decision(r, "capacity", "cleo", approval.Return))
			require.NoError(t, err)
		}
	}
	r.State = s
	return r
}

// The whole state machine on one page: what each command does in each state.
func TestStateByCommandGolden(t *testing.T) {
	commands := []struct {
		name string
		run  func(r request.Request) (request.Request, error)
	}{
		{"edit", func(r request.Request) (request.Request, error) { return r.Edit(content(12), "ana", noon) }},
		{"submit", func(r request.Request) (request.Request, error) { return r.Submit(route(), noon) }},
		{"edit and submit", func(r request.Request) (request.Request, error) {
			r, err := r.Edit(content(12), "ana", noon)
			if err != nil {
				return r, err
			}
			return r.Submit(route(), noon)
		}},
		{"withdraw", func(r request.Request) (request.Request, error) { return r.Withdraw(noon) }},
		{"approve", func(r request.Request) (request.Request, error) {
			return r.Decide(decision(r, waiting(r), "someone", approval.Approve, 16))
		}},
		{"return", func(r request.Request) (request.Request, error) {
			return r.Decide(decision(r, waiting(r), "someone", approval.Return))
		}},
		{"reject", func(r request.Request) (request.Request, error) {
			return r.Decide(decision(r, waiting(r), "someone", approval.Reject))
		}},
		{"schedule", func(r request.Request) (request.Request, error) { return r.To(request.Scheduled, noon) }},
		{"apply", func(r request.Request) (request.Request, error) { return r.To(request.Applying, noon) }},
		{"activate", func(r request.Request) (request.Request, error) { return r.To(request.Active, noon) }},
		{"expire", func(r request.Request) (request.Request, error) { return r.To(request.Expired, noon) }},
		{"revoke", func(r request.Request) (request.Request, error) { return r.To(request.Revoked, noon) }},
		{"supersede", func(r request.Request) (request.Request, error) { return r.To(request.Superseded, noon) }},
		{"lapse", func(r request.Request) (request.Request, error) { return r.To(request.Lapsed, noon) }},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s", "")
	for _, c := range commands {
		fmt.Fprintf(&b, "%-17s", c.name)
	}
	b.WriteString("\n")
	for _, s := range request.States {
		fmt.Fprintf(&b, "%-12s", s)
		for _, c := range commands {
			r := in(t, s)
			if s == request.Draft {
				r = draft(t, 16)
			}
			got, err := c.run(r)
			word := "→ " + string(got.State)
			if err != nil {
				word = string(fault.KindOf(err))
				assert.Equal(t, r.State, got.State, "%s %s: a refused command changes nothing", s, c.name)
			} else if got.State.Terminal() {
				assert.NotNil(t, got.ClosedAt, "%s %s: an ended request says when", s, c.name)
			}
			fmt.Fprintf(&b, "%-17s", word)
		}
		b.WriteString("\n")
	}
	golden(t, "state_by_command.txt", trimLines(b.String()))
}

func waiting(r request.Request) string {
	if s, ok := r.Stage(); ok {
		return s.Key
	}
	return "capacity"
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestDecideTakesWhatFits(t *testing.T) {
	later, sooner := noon.AddDate(0, 2, 0), noon.AddDate(0, 1, 0)
	lowering := func(t *testing.T) request.Request { return submitted(t, 4) } // 8 → 4
	until := func(t *testing.T) request.Request {
		c := content(16)
		c.Lines[0].End = &later
		r, err := request.Request{State: request.Draft}.Edit(c, "ana", noon)
		require.NoError(t, err)
		r, err = r.Submit(route(), noon)
		require.NoError(t, err)
		return r
	}
	raise := func(t *testing.T) request.Request { return submitted(t, 16) }
	for name, c := range map[string]struct {
		make func(*testing.T) request.Request
		edit func(*approval.Decision)
		kind fault.Kind
		then request.State
	}{
		"as asked":                  {raise, func(*approval.Decision) {}, "", request.InReview},
		"less than asked":           {raise, func(d *approval.Decision) { d.Granted[0].Amount = fleet.Count(12) }, "", request.InReview},
		"more than asked":           {raise, func(d *approval.Decision) { d.Granted[0].Amount = fleet.Count(17) }, fault.Invalid, ""},
		"below zero":                {raise, func(d *approval.Decision) { d.Granted[0].Amount = fleet.MustQuantity("-1") }, fault.Invalid, ""},
		"another pool":              {raise, func(d *approval.Decision) { d.Granted[0].PoolID = "a100" }, fault.Invalid, ""},
		"no figures":                {raise, func(d *approval.Decision) { d.Granted = nil }, fault.Invalid, ""},
		"two figures":               {raise, func(d *approval.Decision) { d.Granted = append(d.Granted, d.Granted[0]) }, fault.Invalid, ""},
		"an older revision":         {raise, func(d *approval.Decision) { d.Digest = "other" }, fault.Stale, ""},
		"another stage":             {raise, func(d *approval.Decision) { d.StageKey = "capacity" }, fault.Stale, ""},
		"no outcome":                {raise, func(d *approval.Decision) { d.Outcome = "" }, fault.Invalid, ""},
		"return without figures":    {raise, func(d *approval.Decision) { d.Outcome, d.Granted = approval.Return, nil }, "", request.Returned},
		"reject without figures":    {raise, func(d *approval.Decision) { d.Outcome, d.Granted = approval.Reject, nil }, "", request.Rejected},
		"a decrease as asked":       {lowering, func(d *approval.Decision) { d.Granted[0].Amount = fleet.Count(4) }, "", request.InReview},
		"a decrease cut deeper":     {lowering, func(d *approval.Decision) { d.Granted[0].Amount = fleet.Count(2) }, fault.Invalid, ""},
		"a decrease granted higher": {lowering, func(d *approval.Decision) { d.Granted[0].Amount = fleet.Count(6) }, fault.Invalid, ""},
		"the end as asked":          {until, func(d *approval.Decision) { d.Granted[0].End = &later }, "", request.InReview},
		"an earlier end":            {until, func(d *approval.Decision) { d.Granted[0].End = &sooner }, "", request.InReview},
		"no end where one is asked": {until, func(d *approval.Decision) { d.Granted[0].End = nil }, fault.Invalid, ""},
		"an end before the start": {until, func(d *approval.Decision) {
			d.Granted[0].Start, d.Granted[0].End = &later, &sooner
		}, fault.Invalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.make(t)
			d := decision(r, "team", "ben", approval.Approve, 16)
			c.edit(&d)
			got, err := r.Decide(d)
			assert.Equal(t, c.kind, fault.KindOf(err))
			if c.kind == "" {
				require.NoError(t, err)
				assert.Equal(t, c.then, got.State)
				assert.Len(t, got.Decisions, 1)
				assert.Empty(t, r.Decisions, "the request given in stays as it was")
			}
		})
	}
}

// A later stage sees the reduced figure and cannot raise it again.
func TestLaterStageCannotRaiseWhatAnEarlierReduced(t *testing.T) {
	r := submitted(t, 16)
	r, err := r.Decide(decision(r, "team", "ben", approval.Approve, 12))
	require.NoError(t, err)
	assert.Equal(t, "12", r.Granted()[0].Amount.String())
	_, err = r.Decide(decision(r, "capacity", "cleo", approval.Approve, 16))
	assert.Equal(t, fault.Invalid, fault.KindOf(err))
	r, err = r.Decide(decision(r, "capacity", "cleo", approval.Approve, 10))
	require.NoError(t, err)
	assert.Equal(t, request.Approved, r.State)
	assert.Equal(t, "10", r.Granted()[0].Amount.String())
	assert.Equal(t, "16", r.Revision.Content.Lines[0].Asked.String(), "asked stays beside granted")
}

// A revision that somebody decided on is never rewritten, and decisions on it do
// not count for the next one.
func TestReturnedRequestBeginsAnew(t *testing.T) {
	r := in(t, request.Returned)
	_, err := r.Submit(route(), noon)
	assert.Equal(t, fault.Conflict, fault.KindOf(err), "unchanged, it was answered already")
	same, err := r.Edit(r.Revision.Content, "ana", noon)
	require.NoError(t, err)
	assert.Equal(t, 1, same.Revision.Number, "an edit that changes nothing makes no revision")
	r, err = r.Edit(content(12), "gia", noon)
	require.NoError(t, err)
	assert.Equal(t, 2, r.Revision.Number)
	r, err = r.Edit(content(10), "ana", noon)
	require.NoError(t, err)
	assert.Equal(t, 2, r.Revision.Number, "nobody decided on revision 2 yet")
	assert.Equal(t, []string{"ana", "gia"}, r.EditorIDs)
	back, err := r.Edit(content(16), "ana", noon)
	require.NoError(t, err)
	_, err = back.Submit(route(), noon)
	assert.Equal(t, fault.Conflict, fault.KindOf(err), "the old wording again would inherit the old decisions")
	r, err = r.Submit(route(), noon)
	require.NoError(t, err)
	stage, ok := r.Stage()
	require.True(t, ok)
	assert.Equal(t, "team", stage.Key, "the approval of revision 1 does not count")
}

func TestDigestSaysTheSameForTheSameContent(t *testing.T) {
	a, err := content(16).Digest()
	require.NoError(t, err)
	c := content(16)
	c.Purpose = "Train the de\u0301tector"
	d1, err := c.Digest()
	require.NoError(t, err)
	c.Purpose = "Train the d\u00e9tector"
	d2, err := c.Digest()
	require.NoError(t, err)
	assert.Equal(t, d1, d2, "one text in two Unicode forms")
	for name, change := range map[string]func(*request.Content){
		"amount": func(c *request.Content) { c.Lines[0].Asked = fleet.Count(17) }, "kind": func(c *request.Content) { c.Lines[0].Kind = request.Soft },
		"justification": func(c *request.Content) { c.Justification += "!" }, "beneficiary": func(c *request.Content) { c.BeneficiaryID = "x" },
		"end": func(c *request.Content) { c.Lines[0].End = &noon }, "base": func(c *request.Content) { c.Lines[0].Current = fleet.Unknown },
	} {
		c := content(16)
		change(&c)
		b, err := c.Digest()
		require.NoError(t, err)
		assert.NotEqual(t, a, b, name)
	}
}

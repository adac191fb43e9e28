package portal_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/policy"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

func fields(err error) map[string]string {
	out := map[string]string{}
	if f := fault.As(err); f != nil {
		for _, x := range f.Fields {
			out[x.Name] = x.Message
		}
	}
	return out
}

// C083: blanks, dashes and invisible characters are no justification.
func TestSubmitRefusesWhatIsIncomplete(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct {
		edit  func(*request.Content)
		field string
	}{
		"blank purpose":           {func(c *request.Content) { c.Purpose = " \t\n" }, "purpose"},
		"blank justification":     {func(c *request.Content) { c.Justification = "   " }, "justification"},
		"no-break spaces":         {func(c *request.Content) { c.Justification = "\u00a0\u2003" }, "justification"},
		"zero-width characters":   {func(c *request.Content) { c.Justification = "\u200b\u200d\ufeff" }, "justification"},
		"dashes":                  {func(c *request.Content) { c.Justification = "---" }, "justification"},
		"no environment":          {func(c *request.Content) { c.Environment = "" }, "environment"},
		"unknown environment":     {func(c *request.Content) { c.Environment = "moon" }, "environment"},
		"environment not allowed": {func(c *request.Content) { c.Environment = "staging" }, "checks"},
		"no data class":           {func(c *request.Content) { c.DataClass = "" }, "data_class"},
		"data class not allowed":  {func(c *request.Content) { c.DataClass = "secret" }, "checks"},
		"no workload type":        {func(c *request.Content) { c.WorkloadType = "" }, "workload_type"},
		"no lines":                {func(c *request.Content) { c.Lines = nil }, "lines"},
		"half a card":             {func(c *request.Content) { c.Lines[0].Asked = fleet.MustQuantity("500m") }, "checks"},
		"below zero":              {func(c *request.Content) { c.Lines[0].Asked = fleet.MustQuantity("-1") }, "checks"},
		"more than the pool":      {func(c *request.Content) { c.Lines[0].Asked = fleet.Count(33) }, "checks"},
		"burst without end":       {func(c *request.Content) { c.Lines[0].Kind = request.Burst }, "checks"},
		"negative runtime":        {func(c *request.Content) { c.RuntimeHours = -1 }, "runtime_hours"},
	} {
		t.Run(name, func(t *testing.T) {
			content := quota(ask("h100", 16))
			c.edit(&content)
			ref, err := d.DraftRequest(t.Context(), d.as("ana"), portal.DraftInput{Content: content})
			require.NoError(t, err, "a draft may be incomplete")
			_, err = d.SubmitRequest(t.Context(), d.as("ana"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
			require.Equal(t, fault.Invalid, fault.KindOf(err))
			assert.Contains(t, fields(err), c.field)
			v, err := d.PreviewRequest(t.Context(), d.as("ana"), content)
			require.NoError(t, err)
			_, denied := policy.Denied(v.Checks)
			assert.True(t, len(v.Fields) > 0 || denied, "the preview says so too")
			assert.Equal(t, request.Draft, d.detail(ref.Number).Request.State)
		})
	}
}

func TestDraftRefusesWhatDoesNotExist(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct {
		edit  func(*request.Content)
		field string
	}{
		"no project":       {func(c *request.Content) { c.ProjectID = "" }, "project"},
		"unknown project":  {func(c *request.Content) { c.ProjectID = "nope" }, "project"},
		"unknown pool":     {func(c *request.Content) { c.Lines[0].PoolID = "nope" }, "line.0.pool"},
		"a pool twice":     {func(c *request.Content) { c.Lines = append(c.Lines, c.Lines[0]) }, "line.1.pool"},
		"unknown kind":     {func(c *request.Content) { c.Lines[0].Kind = "firm" }, "line.0.kind"},
		"for nobody known": {func(c *request.Content) { c.BeneficiaryID = "11111111-1111-4111-8111-111111111111" }, "on_behalf_of"},
		"for oneself":      {func(c *request.Content) { c.BeneficiaryID = d.people["ana"].ID }, "on_behalf_of"},
		"a long purpose":   {func(c *request.Content) { c.Purpose = strings.Repeat("x", 201) }, "purpose"},
	} {
		t.Run(name, func(t *testing.T) {
			content := quota(ask("h100", 16))
			c.edit(&content)
			_, err := d.DraftRequest(t.Context(), d.as("ana"), portal.DraftInput{Content: content})
			require.Equal(t, fault.Invalid, fault.KindOf(err), "%v", err)
			assert.Contains(t, fields(err), c.field)
		})
	}
	_, err := d.DraftRequest(t.Context(), d.as("tom"), portal.DraftInput{Content: quota(ask("h100", 1))})
	assert.Equal(t, fault.Forbidden, fault.KindOf(err), "another team does not ask for this project")
	_, err = d.DraftRequest(t.Context(), d.as("otto"), portal.DraftInput{Content: quota(ask("h100", 1))})
	assert.Equal(t, fault.Forbidden, fault.KindOf(err), "an auditor changes nothing")
	d.intact()
}

// No figure is taken from the form: what the requester sees as current and in use
// is what the portal read.
func TestFiguresComeFromTheServer(t *testing.T) {
	d := newDesk(t)
	line := ask("h100", 16)
	line.Current, line.InUse = fleet.Known(fleet.Count(99)), fleet.Known(fleet.Count(98))
	ref := d.submitted(quota(line))
	l := d.detail(ref.Number).Lines[0]
	assert.Equal(t, "0", l.Current.String(), "nothing bound yet: 0, which is known")
	assert.Equal(t, "0", l.InUse.String())

	d.decide("ben", approve(ref, "team"))
	d.decide("cleo", approve(ref, "capacity"))
	next := d.submitted(quota(ask("h100", 20)))
	l = d.detail(next.Number).Lines[0]
	assert.Equal(t, "unknown", l.Current.String(), "bound and never read: unknown, not 0")
	assert.Equal(t, "East was not read yet", l.Now.Why)
	d.poll(32, 16, d.used(ref, 16, 5))
	assert.Equal(t, "5", d.detail(next.Number).Lines[0].Now.InUse.String())
	assert.Equal(t, "unknown", d.detail(next.Number).Lines[0].InUse.String(), "what was captured stays as it was")
}

// The route needs enough distinct people: who is missing and who can mend it is said.
func TestSubmitNeedsPeopleWhoCanDecide(t *testing.T) {
	d := newDesk(t)
	c := request.Content{ProjectID: "asr", Environment: "development", DataClass: "internal", WorkloadType: "training",
		Purpose: "Dictate", Justification: "More voices.", Lines: []request.Line{ask("h100", 1)}}
	ref, err := d.DraftRequest(t.Context(), d.as("tom"), portal.DraftInput{Content: c})
	require.NoError(t, err)
	_, err = d.SubmitRequest(t.Context(), d.as("tom"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	said := err.Error()
	assert.Contains(t, said, "Team manager: 1 needed, 0 can decide")
	assert.Contains(t, said, "Platform admin: Pia")
	v, err := d.PreviewRequest(t.Context(), d.as("tom"), c)
	require.NoError(t, err)
	require.Len(t, v.Stages, 2)
	assert.NotEmpty(t, v.Stages[0].Missing)
	assert.Equal(t, 4, v.Stages[1].Count, "Cleo, Kofi, Allround and Ana (admin)")
}

func TestFormKeyMakesOneDraft(t *testing.T) {
	d := newDesk(t)
	refs := make([]portal.RequestRef, 5)
	var all sync.WaitGroup
	for i := range refs {
		all.Add(1)
		go func() {
			defer all.Done()
			var err error
			refs[i], err = d.DraftRequest(t.Context(), d.as("ana"), portal.DraftInput{Content: quota(ask("h100", 16)), Key: "k"})
			assert.NoError(t, err)
		}()
	}
	all.Wait()
	for _, r := range refs {
		assert.Equal(t, refs[0], r)
	}
	page, err := d.ListRequests(t.Context(), d.as("ana"), portal.RequestQuery{})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 1)
	in := portal.SubmitInput{Number: refs[0].Number, Digest: refs[0].Digest, Key: "k"}
	a, err := d.SubmitRequest(t.Context(), d.as("ana"), in)
	require.NoError(t, err, "the same form submits under the same key")
	b, err := d.SubmitRequest(t.Context(), d.as("ana"), in)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	assert.Len(t, d.entries(a.Number, ledger.RequestSubmitted, ledger.Done), 1)
}

func TestWithdrawnAndCommentedStayListed(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	_, err := d.WithdrawRequest(t.Context(), d.as("ben"), portal.WithdrawInput{Number: ref.Number})
	assert.Equal(t, fault.Forbidden, fault.KindOf(err), "only who asked")
	_, err = d.CommentRequest(t.Context(), d.as("ben"), portal.CommentInput{Number: ref.Number, Text: "Which detector?"})
	require.NoError(t, err)
	_, err = d.CommentRequest(t.Context(), d.as("otto"), portal.CommentInput{Number: ref.Number, Text: "I only read."})
	assert.Equal(t, fault.Forbidden, fault.KindOf(err))
	_, err = d.CommentRequest(t.Context(), d.as("ben"), portal.CommentInput{Number: ref.Number, Text: "  "})
	assert.Equal(t, fault.Invalid, fault.KindOf(err))
	out, err := d.WithdrawRequest(t.Context(), d.as("ana"), portal.WithdrawInput{Number: ref.Number, Reason: "Found another way."})
	require.NoError(t, err)
	assert.Equal(t, request.Withdrawn, out.State)
	v := d.detail(ref.Number)
	require.Len(t, v.Comments, 1)
	assert.Equal(t, "Which detector?", v.Comments[0].Text)
	assert.True(t, v.Next.Over)
	page, err := d.ListRequests(t.Context(), d.as("otto"), portal.RequestQuery{})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 1)
	d.intact()
}

// Each sees what the roles open: the own team, or everything; the queue holds what
// one could decide now.
func TestListsShowWhatOneMaySee(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	for subject, n := range map[string]int{"ana": 1, "bob": 1, "ben": 1, "tom": 0, "cleo": 1, "otto": 1, "pia": 1} {
		page, err := d.ListRequests(t.Context(), d.as(subject), portal.RequestQuery{})
		require.NoError(t, err)
		assert.Len(t, page.Rows, n, subject)
		_, err = d.ViewRequest(t.Context(), d.as(subject), ref.Number)
		assert.Equal(t, n == 0, fault.KindOf(err) == fault.NotFound, subject)
	}
	waiting := func(subject string) int {
		page, err := d.ListApprovals(t.Context(), d.as(subject), portal.RequestQuery{})
		require.NoError(t, err)
		return len(page.Rows)
	}
	assert.Equal(t, map[string]int{"ben": 1, "cleo": 0, "ana-admin": 0, "ana": 0},
		map[string]int{"ben": waiting("ben"), "cleo": waiting("cleo"), "ana-admin": waiting("ana-admin"), "ana": waiting("ana")})
	d.decide("ben", approve(ref, "team"))
	assert.Equal(t, []int{0, 1, 0}, []int{waiting("ben"), waiting("cleo"), waiting("ana-admin")})
}

// What the page says: next step, stages with people and due time, cost, manifest.
func TestRequestPageAnswersItsQuestions(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	v, err := d.ViewRequest(t.Context(), d.as("ben"), ref.Number)
	require.NoError(t, err)
	assert.Equal(t, "Team manager decides", v.Next.What)
	assert.True(t, v.Next.Yours)
	assert.True(t, v.MayDecide)
	require.NotNil(t, v.Next.By)
	assert.Equal(t, noon.Add(48*time.Hour), v.Next.By.UTC())
	require.Len(t, v.Stages, 2)
	assert.Equal(t, 3, v.Stages[0].Count, "Ben, Eve and Allround; not Ana by her other account")
	assert.Equal(t, []portal.Money{{Cents: 16 * 320 * 730, Currency: "EUR"}}, v.Cost.Totals)
	mine, err := d.ViewRequest(t.Context(), d.as("ana-admin"), ref.Number)
	require.NoError(t, err)
	assert.False(t, mine.MayDecide)
	assert.Contains(t, mine.WhyNot, "You asked for this yourself")
	d.decide("ben", approve(ref, "team"))
	d.decide("cleo", approve(ref, "capacity", 12))
	v = d.detail(ref.Number)
	require.Len(t, v.Places, 1)
	assert.Equal(t, "vision-street-production", v.Places[0].Namespace)
	assert.Contains(t, v.Places[0].Manifest, "kueue.x-k8s.io/queue-name: default")
	assert.Contains(t, v.Places[0].Manifest, `nvidia.com/gpu: "1"`)
	assert.NotEmpty(t, v.Checks)
}

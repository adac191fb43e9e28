package portal_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

func during(l request.Line, start, end *time.Time) request.Line {
	l.Start, l.End = start, end
	return l
}

func after(d time.Duration) *time.Time {
	at := noon.Add(d)
	return &at
}

func (y *yard) tick() int {
	y.t.Helper()
	n, err := y.TickGrants(y.t.Context())
	require.NoError(y.t, err)
	return n
}

// open changes of the cluster are applied, as the jobs would.
func (y *yard) applyOpen() {
	y.t.Helper()
	open, err := y.store.OpenChanges(y.t.Context(), "east")
	require.NoError(y.t, err)
	for _, c := range open {
		y.apply(c.ID)
	}
}

func TestAGrantStartsAndEndsByTheClock(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 4))
	y.apply(out.Changes[0])
	ref, out := y.granted(during(ask("h100", 16), after(24*time.Hour), after(48*time.Hour)))
	require.Empty(t, out.Changes)
	require.Equal(t, request.Scheduled, y.state(ref.Number))
	require.Equal(t, 0, y.tick())
	due, err := y.GrantsDue(t.Context())
	require.NoError(t, err)
	require.False(t, due)

	y.pass(24 * time.Hour)
	due, err = y.GrantsDue(t.Context())
	require.NoError(t, err)
	require.True(t, due)
	require.Equal(t, 1, y.tick())
	require.Equal(t, 0, y.tick(), "never twice")
	require.Equal(t, request.Applying, y.state(ref.Number))
	y.applyOpen()
	require.Equal(t, "16", y.live(place))
	require.Equal(t, request.Active, y.state(ref.Number))

	y.pass(24 * time.Hour)
	require.Equal(t, 1, y.tick())
	require.Equal(t, request.Expired, y.state(ref.Number))
	y.applyOpen()
	require.Equal(t, "4", y.live(place), "what was granted before counts again")
	due, err = y.GrantsDue(t.Context())
	require.NoError(t, err)
	require.False(t, due)
	y.intact()
}

// C088: the process was down over the end; the first tick afterwards handles it, and
// only the first, however many replicas start.
func TestAnEndMissedWhileDownIsHandledOnce(t *testing.T) {
	y := newYard(t)
	ref, out := y.granted(during(ask("h100", 16), nil, after(12*time.Hour)))
	y.apply(out.Changes[0])
	require.Equal(t, 0, y.tick())
	y.pass(72 * time.Hour) // nobody ticked
	var mu sync.Mutex
	var all sync.WaitGroup
	handled := 0
	for range 4 {
		all.Go(func() {
			n, err := y.TickGrants(t.Context())
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			handled += n
		})
	}
	all.Wait()
	require.Equal(t, 1, handled)
	require.Len(t, y.entries(ref.Number, ledger.GrantEnded, ledger.Done), 1)
	open, err := y.store.OpenChanges(t.Context(), "east")
	require.NoError(t, err)
	require.Len(t, open, 1)
	y.applyOpen()
	require.Equal(t, "0", y.live(place))
	require.Equal(t, request.Expired, y.state(ref.Number))
}

// A grant that is over before it was ever applied gives nothing.
func TestWhatEndedBeforeItWasAppliedGivesNothing(t *testing.T) {
	y := newYard(t)
	ref, out := y.granted(during(ask("h100", 16), nil, after(time.Hour)))
	y.pass(2 * time.Hour)
	require.Equal(t, 1, y.tick())
	require.Equal(t, portal.ChangeSuperseded, y.apply(out.Changes[0]).State)
	y.applyOpen()
	require.Equal(t, "0", y.live(place))
	require.Equal(t, request.Expired, y.state(ref.Number))
}

// A scheduled grant without an end takes the one before it over when it starts.
func TestAStartTakesOverForGood(t *testing.T) {
	y := newYard(t)
	first, out := y.granted(ask("h100", 4))
	y.apply(out.Changes[0])
	second, _ := y.granted(during(ask("h100", 16), after(time.Hour), nil))
	require.Equal(t, request.Active, y.state(first.Number), "until then it counts")
	y.pass(time.Hour)
	require.Equal(t, 1, y.tick())
	y.applyOpen()
	require.Equal(t, request.Superseded, y.state(first.Number))
	require.Equal(t, request.Active, y.state(second.Number))
	require.Equal(t, "16", y.live(place))
}

package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"quartermaster/db/dbload"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/signin"
)

// crowd is how many readers ask at the same time.
const crowd = 8

// floors puts what the portal does beside the least that could do it, in
// one run: only the ratios say anything about the portal, and those of another run less.
func (l *large) floors(b *testing.B) {
	fmt.Printf("\n%-42s %14s %14s %7s\n", "what", "portal", "floor", "ratio")
	l.approvals(b)
	l.csv(b)
	l.verify(b)
}

func row(what, portal, floor string, ratio float64) {
	fmt.Printf("%-42s %14s %14s %7.2f\n", what, portal, floor, ratio)
}

// approvals: the page of 10,000 that wait beside the same 50 rows as JSON from a
// bare handler. The two take turns, so that a busy machine is busy for both.
func (l *large) approvals(b *testing.B) {
	bare := bareList(l.owner)
	page := l.h
	var pages, floors []time.Duration
	var pageTime, floorTime time.Duration
	for range 4 {
		took, all := storm(b, page, paths.Approvals, time.Second)
		pages, pageTime = append(pages, took...), pageTime+all
		took, all = storm(b, bare, "/", time.Second)
		floors, floorTime = append(floors, took...), floorTime+all
	}
	rate := func(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
	p, f := rate(len(pages), pageTime), rate(len(floors), floorTime)
	row("approvals, requests/s", fmt.Sprintf("%.0f", p), fmt.Sprintf("%.0f", f), p/f)
	p99 := func(all []time.Duration) float64 {
		slices.Sort(all)
		return all[len(all)*99/100].Seconds() * 1000
	}
	row("approvals, p99 ms", fmt.Sprintf("%.0f", p99(pages)), fmt.Sprintf("%.0f", p99(floors)), p99(pages)/p99(floors))
}

// storm asks for target again and again from a crowd, for about as long.
func storm(b *testing.B, h http.Handler, target string, long time.Duration) (took []time.Duration, all time.Duration) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range crowd {
		wg.Go(func() {
			var own []time.Duration
			for time.Since(start) < long {
				r := httptest.NewRequest(http.MethodGet, target, nil)
				r.Header.Set("Cookie", "as="+dbload.Decider)
				w := httptest.NewRecorder()
				began := time.Now()
				h.ServeHTTP(w, r)
				own = append(own, time.Since(began))
				if w.Code != http.StatusOK {
					b.Errorf("%s: %d", target, w.Code)
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	wg.Wait()
	require.NotEmpty(b, took)
	return took, time.Since(start)
}

// bareList answers the 50 requests that wait longest, with their names, and looks at nobody's rights.
func bareList(pool *sqlx.DB) http.Handler {
	type line struct {
		ID      string    `json:"id" db:"id"`
		Number  int64     `json:"number" db:"number"`
		Project string    `json:"project" db:"project"`
		Team    string    `json:"team" db:"team"`
		Person  string    `json:"person" db:"person"`
		Purpose string    `json:"purpose" db:"purpose"`
		Since   time.Time `json:"since" db:"waiting_since"`
		Due     time.Time `json:"due" db:"due_at"`
	}
	m := chi.NewRouter()
	m.Get("/", func(w http.ResponseWriter, r *http.Request) {
		var rows []line
		err := pool.SelectContext(r.Context(), &rows, `
			SELECT r.id, r.number, p.name AS project, t.name AS team, q.name AS person, r.purpose, r.waiting_since, r.due_at
			FROM request r JOIN project p ON p.id = r.project_id JOIN team t ON t.id = r.team_id JOIN person q ON q.id = r.requester_id
			WHERE r.stage_key <> '' ORDER BY r.waiting_since, r.number LIMIT 50`)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(rows) // the reader is a recorder
	})
	return m
}

// counted counts the bytes that are written to it.
type counted struct{ n int64 }

func (c *counted) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// csv: the whole record as an auditor downloads it beside COPY of its rows, and how much memory it takes.
func (l *large) csv(b *testing.B) {
	actor := l.presence.actors[dbload.Auditor]
	before, stop := resident(b), make(chan struct{})
	var peak atomic.Int64
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				peak.Store(max(peak.Load(), resident(b)))
			}
		}
	})
	var ours counted
	var need *portal.StepUpNeeded
	require.ErrorAs(b, l.portal.ExportHistory(b.Context(), actor, portal.EntryQuery{}, &ours, nil), &need)
	_, err := l.portal.RecordStepUp(b.Context(), actor, portal.StepUpInput{By: signin.ProofTOTP, Digests: need.Digests})
	require.NoError(b, err)
	start := time.Now()
	require.NoError(b, l.portal.ExportHistory(b.Context(), actor, portal.EntryQuery{}, &ours, nil))
	export := time.Since(start)
	close(stop)
	watch.Wait()

	conn, err := pgx.Connect(b.Context(), l.address)
	require.NoError(b, err)
	defer conn.Close(context.Background())
	var floor counted
	start = time.Now()
	_, err = conn.PgConn().CopyTo(b.Context(), &floor, `COPY (SELECT * FROM ledger_entry ORDER BY ordinal DESC) TO STDOUT (FORMAT csv)`)
	require.NoError(b, err)
	copied := time.Since(start)
	row(fmt.Sprintf("CSV of %d entries beside COPY, s", dbload.Entries), fmt.Sprintf("%.1f", export.Seconds()), fmt.Sprintf("%.1f", copied.Seconds()), export.Seconds()/copied.Seconds())
	fmt.Printf("  %d MiB of CSV (COPY: %d MiB); resident memory grew by %d MiB at its peak\n", ours.n>>20, floor.n>>20, max(0, peak.Load()-before)>>20)
}

// verify: the check of the whole record beside SHA-256 of the same bytes.
func (l *large) verify(b *testing.B) {
	began := time.Now()
	n, err := l.portal.NewSequencer().Run(b.Context(), false)
	require.NoError(b, err)
	if n > 0 {
		fmt.Printf("  %d entries sequenced in %.1f s\n", n, time.Since(began).Seconds())
	}
	start := time.Now()
	// The rows beside these entries are made up for the pages and have no entries of their own.
	report, err := l.portal.VerifyRecord(b.Context(), portal.VerifyInput{OnlyEntries: true})
	require.NoError(b, err)
	took := time.Since(start)
	require.Empty(b, report.Problems)
	require.GreaterOrEqual(b, int64(report.Entries), int64(dbload.Entries))

	var hashed time.Duration
	h := sha256.New()
	for s, err := range l.store.StreamStored(b.Context()) {
		require.NoError(b, err)
		began := time.Now()
		h.Write(s.Canonical)
		hashed += time.Since(began)
	}
	row("verify beside SHA-256 alone, s", fmt.Sprintf("%.1f", took.Seconds()), fmt.Sprintf("%.2f", hashed.Seconds()), took.Seconds()/hashed.Seconds())
}

// resident is the memory of this process in bytes.
func resident(b *testing.B) int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Errorf("resident memory: %v", err)
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Errorf("resident memory: %v", err)
			}
			return n << 10
		}
	}
	b.Error("resident memory: not said")
	return 0
}

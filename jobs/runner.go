// Package jobs runs the background work on River: one file a worker, and the
// schedule that says when a cluster is read and when grants start and end. cmd
// starts a Runner in each replica; workers call use cases of portal and know
// nothing else. A worker never holds a rule of its own, and each is safe to run twice: River runs
// a job again whenever it is not sure that it ran.
//
// Jobs are not completed inside the use case's transaction (River's JobCompleteTx):
// every use case re-reads where things stand and finds its work done. A process
// that dies between the two only makes the job run once more, to no effect.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"riverqueue.com/riverui"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

// Config is what a Runner needs.
type Config struct {
	// DB is a pool of its own or shared; it has to allow more connections than Changes + Polls.
	DB *sql.DB
	// Listen is the address of one more connection, by which new jobs are noticed at
	// once; "" looks for them every PollInterval.
	Listen string
	Portal *portal.Portal
	// Signer signs checkpoints; nil: another replica does.
	Signer *portal.Signer
	// Every is how often each cluster is read; 0 = 30 s.
	Every time.Duration
	// Changes and Polls run at the same time; 0 = 8 each.
	Changes, Polls int
	// PollInterval is how often jobs are looked for without a notice; 0 = 1 s.
	PollInterval time.Duration
	// UIPrefix is the path under which UI is mounted.
	UIPrefix string
	Log      *slog.Logger
}

const (
	// changeTimeout bounds one run of a change; a poll has its own, shorter one.
	changeTimeout = time.Minute
	// rescueAfter is when a job whose process died runs again. It has to be above every time-out.
	rescueAfter = 90 * time.Second
	// stopWithin is how long a stop waits for running jobs before it cancels them.
	stopWithin = 15 * time.Second
)

// Runner is the background work of one process.
type Runner struct {
	cfg    Config
	client *river.Client[*sql.Tx]
	ui     *riverui.Handler
	listen *pgxpool.Pool
	cancel context.CancelFunc
	loops  sync.WaitGroup
}

// New prepares a Runner; nothing runs before Start.
func New(cfg Config) (*Runner, error) {
	if cfg.Every <= 0 {
		cfg.Every = 30 * time.Second
	}
	if cfg.Changes <= 0 {
		cfg.Changes = 8
	}
	if cfg.Polls <= 0 {
		cfg.Polls = 8
	}
	if cfg.PollInterval <= 0 {
		cfg.PollInterval = time.Second
	}
	r := &Runner{cfg: cfg}
	driver := riverdatabasesql.New(cfg.DB)
	if cfg.Listen != "" {
		listen, err := pgxpool.ParseConfig(cfg.Listen)
		if err != nil {
			return nil, errors.New("jobs: the address to listen on cannot be read") // the cause would show its password
		}
		listen.MaxConns = 1
		if r.listen, err = pgxpool.NewWithConfig(context.Background(), listen); err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		driver = riverdatabasesql.NewWithPgxListener(cfg.DB, r.listen)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &changeApply{portal: cfg.Portal})
	river.AddWorker(workers, &usagePoll{portal: cfg.Portal})
	river.AddWorker(workers, &grantTick{portal: cfg.Portal})
	river.AddWorker(workers, &usageRoll{portal: cfg.Portal})
	river.AddWorker(workers, &usageTidy{portal: cfg.Portal})
	var err error
	r.client, err = river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{
			work.ChangeQueue: {MaxWorkers: cfg.Changes},
			work.PollQueue:   {MaxWorkers: cfg.Polls},
			work.UsageQueue:  {MaxWorkers: 1},
		},
		Workers: workers, Logger: quiet(cfg.Log),
		FetchCooldown: 5 * time.Millisecond, FetchPollInterval: cfg.PollInterval,
		JobTimeout: changeTimeout, RescueStuckJobsAfter: rescueAfter, SoftStopTimeout: stopWithin,
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	r.ui, err = riverui.NewHandler(&riverui.HandlerOpts{
		Endpoints: riverui.NewEndpoints(r.client, nil), Prefix: cfg.UIPrefix, Logger: quiet(cfg.Log), JobListHideArgsByDefault: true,
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: pages: %w", err)
	}
	return r, nil
}

// UI is River's own pages. Whoever mounts it lets only people in who may see them, and
// only GET and HEAD: what it can change is changed by recorded actions instead.
func (r *Runner) UI() http.Handler { return r.ui }

// Start begins to work, takes up what an earlier process left, and keeps the schedule.
func (r *Runner) Start(ctx context.Context) error {
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := r.client.Start(ctx); err != nil {
		r.cancel()
		return fmt.Errorf("start jobs: %w", err)
	}
	if err := r.ui.Start(ctx); err != nil {
		r.cancel()
		return fmt.Errorf("start pages of jobs: %w", err)
	}
	n, err := r.cfg.Portal.ResumeChanges(ctx)
	if err != nil {
		r.cfg.Log.Error("changes left by an earlier process", "err", err) // the rescue finds them later
	} else if n > 0 {
		r.cfg.Log.Info("changes left by an earlier process run again", "count", n)
	}
	r.loops.Go(func() { r.keepSchedule(ctx) })
	r.loops.Go(func() { r.keepWatching(ctx) })
	r.loops.Go(func() { r.keepSequencing(ctx) })
	if r.cfg.Signer != nil {
		r.loops.Go(func() { r.keepSigning(ctx) })
	}
	return nil
}

// Stop takes no new jobs, waits for those that run (at most stopWithin, or until ctx
// ends) and returns. What was cut short runs again elsewhere.
func (r *Runner) Stop(ctx context.Context) error {
	if r.cancel == nil {
		return nil
	}
	err := r.client.Stop(ctx)
	if err != nil {
		stop, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		err = r.client.StopAndCancel(stop)
	}
	r.cancel()
	r.loops.Wait()
	if r.listen != nil {
		r.listen.Close()
	}
	if err != nil {
		return fmt.Errorf("stop jobs: %w", err)
	}
	return nil
}

// quiet passes on what River warns of; its news about every job are in the database.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

func (w warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{w.Handler.WithAttrs(a)} }
func (w warnings) WithGroup(n string) slog.Handler      { return warnings{w.Handler.WithGroup(n)} }

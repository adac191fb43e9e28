package portal

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/work"
)

// discoverEvery is how old the discovery of a cluster may become before a poll renews it.
const discoverEvery = 10 * time.Minute

// PollCluster reads a cluster once, within its own time-out, and keeps what it says.
// A failed poll keeps the last good figures and their time. The first good one
// releases the changes that wait for the cluster. The error is the portal's own.
func (p *Portal) PollCluster(ctx context.Context, clusterID string) (ok bool, err error) {
	began := p.Now()
	o, problem := p.observe(ctx, clusterID)
	took := p.Now().Sub(began)
	if ctx.Err() != nil {
		return false, ctx.Err() // the job was stopped: that says nothing about the cluster
	}
	if problem != nil {
		p.Log.Warn("poll", "cluster", clusterID, "took", took, "err", problem)
		err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
			return tx.SaveFailedPoll(ctx, clusterID, pollProblem(problem), began, took)
		})
		if err != nil {
			return false, fmt.Errorf("poll of cluster %s: %w", clusterID, err)
		}
		return false, nil
	}
	o.Every = orElse(p.PollEvery, 30*time.Second)
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		rows, err := usageRows(ctx, tx, clusterID, o)
		if err != nil {
			return err
		}
		if err := tx.SavePoll(ctx, clusterID, o, rows, took); err != nil {
			return err
		}
		if err := p.scanFindings(ctx, tx, clusterID, o, began); err != nil {
			return fmt.Errorf("findings: %w", err)
		}
		return p.release(ctx, tx, clusterID, ChangeWaiting)
	})
	if err != nil {
		return false, fmt.Errorf("poll of cluster %s: %w", clusterID, err)
	}
	return true, p.rediscover(ctx, clusterID)
}

// RecallUsage keeps what a simulated cluster would have shown at a time in the past,
// so that the charts of a demonstration do not begin empty. A real cluster has no such past.
func (p *Portal) RecallUsage(ctx context.Context, clusterID string, o fleet.Observation) error {
	return p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		c, err := tx.Cluster(ctx, clusterID)
		if err != nil {
			return err
		}
		if c.Kind != fleet.Simulated {
			return fault.New(fault.Conflict, "Only a simulated cluster has a past that was never read.")
		}
		rows, err := usageRows(ctx, tx, clusterID, o)
		if err != nil {
			return err
		}
		return tx.SavePoll(ctx, clusterID, o, rows, 0)
	})
}

// observe reads the cluster; an error is what to show of the failed poll.
func (p *Portal) observe(ctx context.Context, clusterID string) (fleet.Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, orElse(p.PollTimeout, 20*time.Second))
	defer cancel()
	remote, err := p.Dial(ctx, clusterID)
	if err != nil {
		return fleet.Observation{}, err
	}
	o, err := remote.Observe(ctx)
	if err != nil {
		return o, err
	}
	if !o.QueuesKnown && !o.QuotasKnown && !o.PoolsKnown && !o.WorkloadsKnown {
		return o, fault.New(fault.Unavailable, "The cluster answered, but nothing of it could be read.")
	}
	return o, nil
}

// pollProblem is the sentence that people may see of a failed poll.
func pollProblem(err error) string {
	if f := fault.As(err); f != nil {
		return f.Public
	}
	return "The cluster could not be read. The log has the cause."
}

// release makes changes of a cluster that stand in one of from run again.
func (p *Portal) release(ctx context.Context, tx Tx, clusterID string, from ...ChangeState) error {
	ids, err := tx.ReleaseChanges(ctx, clusterID, from)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := tx.Enqueue(ctx, work.ChangeApply{ChangeID: id}); err != nil {
			return err
		}
	}
	return nil
}

// rediscover renews the discovery when it is old. That it fails does not spoil a good poll.
func (p *Portal) rediscover(ctx context.Context, clusterID string) error {
	if at, ok := p.discovered.Load(clusterID); ok && p.Now().Sub(at.(time.Time)) < discoverEvery {
		return nil
	}
	c, err := p.Store.Cluster(ctx, clusterID)
	if err != nil {
		return err
	}
	if c.Discovery != nil && p.Now().Sub(c.Discovery.At) < discoverEvery {
		p.discovered.Store(clusterID, c.Discovery.At)
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, orElse(p.PollTimeout, 20*time.Second))
	defer cancel()
	remote, err := p.Dial(limited, clusterID)
	if err == nil {
		var d fleet.Discovery
		if d, err = remote.Discover(limited); err == nil {
			err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error { return tx.SaveDiscovery(ctx, clusterID, d) })
			if err == nil {
				p.discovered.Store(clusterID, p.Now())
			}
			return err
		}
	}
	p.Log.Warn("discover", "cluster", clusterID, "err", err)
	return nil
}

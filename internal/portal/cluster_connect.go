package portal

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/work"
)

// testTimeout bounds a connection test: somebody waits for it.
const testTimeout = 15 * time.Second

// TestConnection asks a cluster with the given credentials who it is; it stores nothing.
func (p *Portal) TestConnection(ctx context.Context, actor Actor, in ConnectInput) (Tested, error) {
	if _, err := p.manages(actor, ""); err != nil {
		return Tested{}, err
	}
	in, err := checkConnection(in)
	if err != nil {
		return Tested{}, err
	}
	return p.probe(ctx, in)
}

func (p *Portal) probe(ctx context.Context, in ConnectInput) (Tested, error) {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	began := p.Now()
	remote, err := p.Probe(ctx, Connection{ClusterID: in.ID, Kind: in.Kind, Server: in.Server, CA: in.CA, Token: in.Token})
	if err != nil {
		return Tested{}, fmt.Errorf("test connection: %w", err)
	}
	if c, ok := remote.(io.Closer); ok {
		defer c.Close()
	}
	d, err := remote.Discover(ctx)
	if err != nil {
		return Tested{}, fmt.Errorf("test connection: %w", err)
	}
	return Tested{ClusterID: in.ID, Discovery: d, Took: p.Now().Sub(began)}, nil
}

// ConnectCluster keeps a cluster whose test is good, in mode observe. Its token is
// sealed for this cluster before it reaches the store, and stands nowhere else: not in the
// record, not in a log.
func (p *Portal) ConnectCluster(ctx context.Context, actor Actor, in ConnectInput) (Tested, error) {
	id := in.ID
	out, err := p.connect(ctx, actor, in)
	if err != nil {
		if id == "" {
			id = "new"
		}
		return Tested{}, p.refused(ctx, actor, ledger.ClusterConnected, "cluster", id, EntryRefs{}, err)
	}
	return out, nil
}

func (p *Portal) connect(ctx context.Context, actor Actor, in ConnectInput) (Tested, error) {
	authority, err := p.manages(actor, "")
	if err != nil {
		return Tested{}, err
	}
	if in, err = checkConnection(in); err != nil {
		return Tested{}, err
	}
	// A second click gets the first one's result, although its proof is used up.
	if done, found, err := before[Tested](ctx, p, actor, "connect", in.Key, in.withoutSecrets()); found || err != nil {
		return done, err
	}
	// Asked before the credentials go anywhere, used up when the cluster is kept.
	shown := actDigest("connect", in.ID, in.Name, string(in.Kind), in.Server, in.CA)
	if err := p.provenUnlessSystem(ctx, actor, shown); err != nil {
		return Tested{}, err
	}
	tested, err := p.probe(ctx, in)
	if err != nil {
		return Tested{}, err
	}
	sealed, err := p.Seal([]byte(in.Token), in.ID)
	if err != nil {
		return Tested{}, fmt.Errorf("seal token of cluster %s: %w", in.ID, err)
	}
	return once(ctx, p, actor, "connect", in.Key, in.withoutSecrets(), func(ctx context.Context, tx Tx) (Tested, error) {
		proof, err := p.spendUnlessSystem(ctx, tx, actor, shown)
		if err != nil {
			return Tested{}, err
		}
		now := p.Now()
		c := Cluster{Cluster: org.Cluster{ID: in.ID, Name: in.Name, Kind: in.Kind, RootCohort: "quartermaster"}, Mode: fleet.Observe,
			Server: in.Server, HasToken: true, TokenSetAt: &now, Discovery: &tested.Discovery, CreatedAt: now}
		if in.Kind == fleet.Slurm {
			c.RootCohort = ""
		}
		if known, err := tx.Cluster(ctx, in.ID); err == nil && known.RootCohort != "" {
			c.RootCohort = known.RootCohort // the organisation file named it before it was connected
		}
		if err := tx.InsertCluster(ctx, c, in.CA, sealed); err != nil {
			return Tested{}, err
		}
		if err := p.addPools(ctx, tx, in.ID, tested.Discovery.Pools); err != nil {
			return Tested{}, err
		}
		if err := tx.SaveDiscovery(ctx, in.ID, tested.Discovery); err != nil {
			return Tested{}, err
		}
		e := provenBy(by(p.entry(actor, ledger.ClusterConnected, "cluster", in.ID), authority), proof)
		e.Facts["server"], e.Facts["kind"], e.Facts["version"], e.Facts["mode"] = in.Server, string(in.Kind), tested.Discovery.Version, string(fleet.Observe)
		if _, err := tx.Append(ctx, e, EntryRefs{ClusterID: in.ID}, openingsOf(actor, nil)); err != nil {
			return Tested{}, err
		}
		return tested, tx.Enqueue(ctx, work.UsagePoll{ClusterID: in.ID})
	})
}

// addPools makes a pool of each accelerator that was found and that no pool names yet.
func (p *Portal) addPools(ctx context.Context, tx Tx, clusterID string, found []fleet.Pool) error {
	known, err := tx.Pools(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		added, err := p.addPool(ctx, tx, known, clusterID, f)
		if err != nil {
			return err
		}
		known = append(known, added...)
	}
	return nil
}

// addPool makes one, without a rate, unless the cluster has it. cpu and memory only
// accompany accelerators and are no pools.
func (p *Portal) addPool(ctx context.Context, tx Tx, known []PoolState, clusterID string, f fleet.Pool) (added []PoolState, err error) {
	if !f.Key.Accelerator() {
		return nil, nil
	}
	for _, k := range known {
		if k.ClusterID == clusterID && k.Key == f.Key {
			return nil, nil
		}
	}
	name := f.Key.Flavor
	if f.Product != "" {
		name = f.Product
	}
	id := objectName(clusterID, f.Key.Flavor)
	for _, k := range known {
		if k.ID == id { // one flavor with two resources
			id = objectName(clusterID, f.Key.Flavor, f.Key.Resource)
		}
	}
	pool := org.Pool{ID: id, ClusterID: clusterID, Name: name, Key: f.Key, Currency: "EUR"}
	pool.CPUPerUnit, pool.MemoryPerUnit = share(f.CPU, f.Capacity, 1), share(f.Memory, f.Capacity, 1<<30)
	if err := tx.UpsertPool(ctx, pool); err != nil {
		return nil, err
	}
	return []PoolState{{Pool: pool}}, nil
}

// share is what comes with one unit of a pool when its nodes' cpu or memory is
// divided evenly, rounded down to a multiple of step; 0 where either is unknown.
func share(whole, units fleet.Measure, step int64) fleet.Quantity {
	if !whole.Known || !units.Known || units.Amount.Int64() <= 0 {
		return fleet.Quantity{}
	}
	n := whole.Amount.Int64()
	if fleet.Count(n).Cmp(whole.Amount) > 0 {
		n-- // Int64 rounds up
	}
	n = n / units.Amount.Int64() / step * step
	if step > 1 {
		return fleet.Bytes(n)
	}
	return fleet.Count(n)
}

var clusterID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// checkConnection refuses anything but an https address, certificates and a token (for
// Slurm, whose adapter reads the address, a token alone): nothing that is typed here can
// name a file, run a program or carry credentials elsewhere.
func checkConnection(in ConnectInput) (ConnectInput, error) {
	wrong := fault.New(fault.Invalid, "The connection is not complete.")
	in.Name, in.Server, in.Token = strings.TrimSpace(in.Name), strings.TrimSpace(in.Server), strings.TrimSpace(in.Token)
	in.CA = strings.TrimSpace(in.CA)
	if in.Kind == "" {
		in.Kind = fleet.Kubernetes
	}
	if in.Kind != fleet.Kubernetes && in.Kind != fleet.Slurm {
		wrong.At("kind", "Choose Kubernetes or Slurm.")
	}
	if in.Name == "" || len([]rune(in.Name)) > 60 {
		wrong.At("name", "Give the cluster a name of at most 60 characters.")
	}
	if in.ID == "" {
		in.ID = objectName(strings.ReplaceAll(strings.ToLower(in.Name), " ", "-"))
	}
	if !clusterID.MatchString(in.ID) && in.Name != "" {
		wrong.At("name", "The name has to give an id of at most 40 lower-case letters, digits and hyphens; %q does not.", in.ID)
	}
	if in.Token == "" || len(in.Token) > 16<<10 || strings.ContainsFunc(in.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		wrong.At("token", "Paste the token: one line, without spaces.")
	}
	if in.Kind == fleet.Slurm {
		in.CA = "" // Slurm's own protocol has none
		return in, wrong.OrNil()
	}
	u, err := url.Parse(in.Server)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		wrong.At("server", "Write the API server's address, such as https://10.0.0.1:6443.")
	}
	if in.CA != "" && !certificates(in.CA) {
		wrong.At("ca", "Paste the CA certificate as PEM: it begins with -----BEGIN CERTIFICATE-----.")
	}
	return in, wrong.OrNil()
}

// certificates reports whether text is PEM certificates and nothing else.
func certificates(text string) bool {
	rest, n := []byte(text), 0
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			return n > 0 && strings.TrimSpace(string(rest)) == ""
		}
		if _, err := x509.ParseCertificate(block.Bytes); block.Type != "CERTIFICATE" || err != nil {
			return false
		}
		n++
	}
}

// TestCluster asks a connected cluster who it is, now, and has it read at once.
func (p *Portal) TestCluster(ctx context.Context, actor Actor, id string) (Tested, error) {
	authority, err := p.manages(actor, id)
	if err != nil {
		return Tested{}, err
	}
	if _, err := p.Store.Cluster(ctx, id); err != nil {
		return Tested{}, err
	}
	limited, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	began := p.Now()
	remote, err := p.Dial(limited, id)
	var d fleet.Discovery
	if err == nil {
		d, err = remote.Discover(limited)
	}
	took := p.Now().Sub(began)
	problem := err
	if problem != nil && fault.KindOf(problem) == "" {
		return Tested{}, fmt.Errorf("test cluster %s: %w", id, problem)
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		e := by(p.entry(actor, ledger.ClusterTested, "cluster", id), authority)
		if problem != nil {
			e.Outcome, e.Facts["problem"] = ledger.Failed, pollProblem(problem)
		} else {
			e.Facts["version"] = d.Version
			if err := tx.SaveDiscovery(ctx, id, d); err != nil {
				return err
			}
		}
		if _, err := tx.Append(ctx, e, EntryRefs{ClusterID: id}, openingsOf(actor, nil)); err != nil {
			return err
		}
		return tx.Enqueue(ctx, work.UsagePoll{ClusterID: id})
	})
	if err != nil {
		return Tested{}, fmt.Errorf("test cluster %s: %w", id, err)
	}
	return Tested{ClusterID: id, Discovery: d, Took: took}, problem
}

package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
)

// templateBinding names the objects of a new project and environment on a
// cluster: one namespace, one ClusterQueue behind its LocalQueue, the team's
// Cohort below the cluster's root. The LocalQueue is called default, because Kueue
// puts Jobs without a queue name into the one of that name, so that they do not pass by.
func templateBinding(id string, project org.Project, environment string, cluster org.Cluster) fleet.Binding {
	name := objectName(project.TeamID, project.ID, environment)
	b := fleet.Binding{ID: id, ProjectID: project.ID, Environment: environment, ClusterID: cluster.ID}
	if cluster.Kind == fleet.Slurm {
		b.Account = name
		return b
	}
	b.Namespace, b.LocalQueue, b.ClusterQueue = name, "default", name
	b.Cohort, b.RootCohort = objectName(project.TeamID), cluster.RootCohort
	b.ResourceQuota = "quartermaster"
	return b
}

// objectName joins parts to a name that is a DNS label (RFC 1123: at most 63
// characters, lower-case letters, digits and hyphens, which every kind takes).
// Where that changes or cuts the parts, a digest keeps two names apart.
func objectName(parts ...string) string {
	whole := strings.Join(parts, "-")
	var s strings.Builder
	for _, r := range strings.ToLower(whole) {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			s.WriteRune(r)
		} else {
			s.WriteByte('-')
		}
	}
	name := strings.Trim(s.String(), "-")
	if name == whole && len(name) <= 63 {
		return name
	}
	sum := sha256.Sum256([]byte(whole))
	suffix := "-" + hex.EncodeToString(sum[:4])
	if len(name) > 63-len(suffix) {
		name = name[:63-len(suffix)]
	}
	return strings.Trim(name, "-") + suffix
}

// ensureBinding returns the binding of a place on a cluster, made from the template if there is none.
func (p *Portal) ensureBinding(ctx context.Context, tx Tx, actor Actor, project org.Project, environment, clusterID string, pools []string, refs EntryRefs) (fleet.Binding, error) {
	b, err := tx.BindingAt(ctx, project.ID, environment, clusterID)
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return b, err
	}
	cluster, err := tx.Cluster(ctx, clusterID)
	if err != nil {
		return b, fmt.Errorf("cluster %s: %w", clusterID, err)
	}
	b = templateBinding(p.NewID(), project, environment, cluster.Cluster)
	if err := tx.InsertBinding(ctx, b); err != nil {
		return b, fmt.Errorf("bind %s %s to %s: %w", project.ID, environment, clusterID, err)
	}
	for _, pool := range pools {
		if err := tx.InsertBaseline(ctx, b.ID, pool, emptyBase(), p.Now()); err != nil {
			return b, fmt.Errorf("baseline of binding %s: %w", b.ID, err)
		}
	}
	e := p.entry(actor, ledger.BindingMade, "binding", b.ID)
	for name, v := range map[string]string{"project": b.ProjectID, "environment": b.Environment, "cluster": b.ClusterID,
		"namespace": b.Namespace, "queue": b.ClusterQueue, "cohort": b.Cohort, "account": b.Account} {
		if v != "" {
			e.Facts[name] = v
		}
	}
	refs.ClusterID = clusterID
	_, err = tx.Append(ctx, e, refs, nil)
	return b, err
}

package portal

import (
	"context"

	"quartermaster/internal/finding"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
)

// findingEntries says under which type an event of a finding is recorded.
var findingEntries = map[finding.Event]ledger.Type{
	finding.Opened: ledger.FindingOpened, finding.Changed: ledger.FindingChanged,
	finding.ReopenedNow: ledger.FindingReopened, finding.ResolvedNow: ledger.FindingResolved,
}

// findingAct is something that happened to a finding, for the record.
type findingAct struct {
	actor     Actor
	authority org.Assignment
	proof     StepUp
	t         ledger.Type
	event     string // as the finding's own history says it
	reason    string
	projectID string
}

// saveFinding stores f with the entry of what happened to it, in one transaction.
func (p *Portal) saveFinding(ctx context.Context, tx Tx, f finding.Finding, act findingAct) error {
	if err := tx.SaveFinding(ctx, f); err != nil {
		return err
	}
	e := p.entry(act.actor, act.t, "finding", f.ID)
	if act.authority.Role != "" {
		e = by(e, act.authority)
	}
	e = provenBy(e, act.proof)
	for name, v := range map[string]string{"cluster": f.ClusterID, "binding": f.BindingID, "pool": f.PoolID, "kind": string(f.Kind), "severity": f.Severity.Word(),
		"object": f.Object.String(), "field": f.Field, "granted": shown(f.Granted), "live": shown(f.Live), "manager": f.Manager,
		"how": string(f.How), "change": f.ChangeID, "request": f.RequestID} {
		if v != "" {
			e.Facts[name] = v
		}
	}
	refs := EntryRefs{ProjectID: act.projectID, ClusterID: f.ClusterID}
	if f.PoolID != "" {
		refs.PoolIDs = []string{f.PoolID}
	}
	row, err := tx.Append(ctx, e, refs, openingsOf(act.actor, map[string]string{OpeningReason: act.reason}))
	if err != nil {
		return err
	}
	return tx.InsertFindingEvent(ctx, FindingEvent{FindingID: f.ID, EntryID: row.Entry.ID, Event: act.event, At: p.Now(), By: e.Actor.ID,
		Granted: f.Granted, Live: f.Live, Manager: f.Manager, Note: f.Note})
}

// settleFinding stores what a poll or a change made of f; nothing is recorded where nothing happened.
func (p *Portal) settleFinding(ctx context.Context, tx Tx, actor Actor, f finding.Finding, event finding.Event, projectID string) error {
	if event == finding.None {
		return nil
	}
	return p.saveFinding(ctx, tx, f, findingAct{actor: actor, t: findingEntries[event], event: string(event), projectID: projectID})
}

package handlers

import (
	"context"

	"quartermaster/internal/portal"
)

// UseCases is what the handlers call; *portal.Portal is it. Nothing else of the
// portal is in reach here: no store, no cluster, no key.
type UseCases interface {
	portal.RequestUse
	portal.RecordUse
	portal.FleetUse
	portal.UsageUse
	portal.FindingUse
	// RequestChoices are the projects, pools and people that actor may name in a request.
	RequestChoices(ctx context.Context, actor portal.Actor, q portal.ChoiceQuery) (portal.Choices, error)
	// CountApprovals counts what waits for actor, up to limit.
	CountApprovals(ctx context.Context, actor portal.Actor, limit int) (int, error)
	// RecordRefusal puts on record that actor tried what the roles do not open.
	RecordRefusal(ctx context.Context, actor portal.Actor, in portal.Refusal) error
}

var _ UseCases = (*portal.Portal)(nil)

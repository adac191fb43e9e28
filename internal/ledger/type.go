package ledger

// Type of an entry. Frozen strings.
type Type string

const (
	SignedIn        Type = "person.signed_in"
	SignInRefused   Type = "person.sign_in_refused"
	SignedOut       Type = "person.signed_out"
	SteppedUp       Type = "person.stepped_up"
	FactorEnrolled  Type = "person.factor_enrolled"
	FactorReplaced  Type = "person.factor_replaced"
	RecoveryUsed    Type = "person.recovery_code_used"
	RecoveryRenewed Type = "person.recovery_codes_renewed"

	OrgImported Type = "org.imported"
	IssuerMoved Type = "identity_provider.moved"

	ClusterConnected Type = "cluster.connected"
	ClusterTested    Type = "cluster.tested"
	ClusterMode      Type = "cluster.mode_changed"
	BindingMade      Type = "binding.made"
	BindingAdopted   Type = "binding.adopted"
	ObjectsImported  Type = "cluster.objects_imported"

	RequestDrafted   Type = "request.drafted"
	RequestEdited    Type = "request.edited"
	RequestSubmitted Type = "request.submitted"
	RequestWithdrawn Type = "request.withdrawn"
	RequestDecided   Type = "request.decided"
	RequestState     Type = "request.state_changed"
	RequestCommented Type = "request.commented"

	GrantMade    Type = "grant.made"
	GrantStarted Type = "grant.started"
	GrantEnded   Type = "grant.ended"

	ChangePlanned  Type = "change.planned"
	ChangeBegun    Type = "change.begun" // right before it is applied, with the difference
	ChangeApplied  Type = "change.applied"
	ChangeVerified Type = "change.verified"
	ChangeWaiting  Type = "change.waiting"
	ChangeStopped  Type = "change.stopped"
	ChangeHeld     Type = "change.held"
	ChangeTakeover Type = "change.taken_over"
	ChangeRetried  Type = "change.retried"

	FindingOpened   Type = "finding.opened"
	FindingChanged  Type = "finding.changed" // its evidence
	FindingReopened Type = "finding.reopened"
	FindingResolved Type = "finding.resolved"
	FindingPutBack  Type = "finding.put_back" // a change was planned that writes what is granted
	FindingAccepted Type = "finding.accepted" // a request asks to make what is live the granted figure
	ClusterPutsBack Type = "cluster.puts_back_changed"

	AccessRefused Type = "access.refused"
	Exported      Type = "record.exported"
	JobAction     Type = "job.action"

	// UsagePruned: readings and roll-ups older than the retention were removed.
	UsagePruned   Type = "usage.pruned"
	RecordChecked Type = "record.checked" // derived anew; failed: something was not as it was written
	RecordCleared Type = "record.cleared" // the stop after a failed check was lifted
)

// Types lists all in the order in which a filter shows them.
var Types = []Type{
	RequestDrafted, RequestEdited, RequestSubmitted, RequestDecided, RequestWithdrawn, RequestState, RequestCommented,
	GrantMade, GrantStarted, GrantEnded, ChangePlanned, ChangeBegun, ChangeApplied, ChangeVerified, ChangeWaiting, ChangeHeld, ChangeStopped, ChangeTakeover, ChangeRetried,
	FindingOpened, FindingChanged, FindingReopened, FindingResolved, FindingPutBack, FindingAccepted,
	ClusterConnected, ClusterTested, ClusterMode, ClusterPutsBack, BindingMade, BindingAdopted, ObjectsImported, OrgImported, IssuerMoved,
	SignedIn, SignInRefused, SignedOut, SteppedUp, FactorEnrolled, FactorReplaced, RecoveryUsed, RecoveryRenewed, AccessRefused, Exported, RecordChecked, RecordCleared, JobAction, UsagePruned,
}

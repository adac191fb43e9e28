package handlers

import (
	"strings"

	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// done is what each type of entry says happened; a refused or failed attempt is
// told with the same words behind "tried to" in another form.
var done = map[ledger.Type]struct{ did, tried string }{
	ledger.SignedIn:         {"signed in", "tried to sign in"},
	ledger.SignInRefused:    {"was refused at sign-in", "was refused at sign-in"},
	ledger.SignedOut:        {"signed out", "tried to sign out"},
	ledger.SteppedUp:        {"proved a second factor", "failed to prove a second factor"},
	ledger.FactorEnrolled:   {"enrolled a second factor", "tried to enrol a second factor"},
	ledger.FactorReplaced:   {"replaced the authenticator", "tried to replace the authenticator"},
	ledger.RecoveryUsed:     {"used a recovery code", "tried a recovery code"},
	ledger.RecoveryRenewed:  {"made new recovery codes", "tried to make new recovery codes"},
	ledger.OrgImported:      {"imported the organisation file", "tried to import an organisation file"},
	ledger.ClusterConnected: {"connected the cluster", "tried to connect a cluster"},
	ledger.ClusterTested:    {"tested the connection", "tried to test the connection"},
	ledger.ClusterMode:      {"changed what may be written", "tried to change what may be written"},
	ledger.BindingMade:      {"bound the limits to new objects", "tried to bind limits to new objects"},
	ledger.ObjectsImported:  {"kept a file of the cluster's objects", "tried to keep a file of objects"},
	ledger.BindingAdopted:   {"adopted an existing queue", "tried to adopt a queue"},
	ledger.RequestDrafted:   {"drafted", "tried to draft a request"},
	ledger.RequestEdited:    {"edited", "tried to edit"},
	ledger.RequestSubmitted: {"submitted", "tried to submit"},
	ledger.RequestWithdrawn: {"withdrew", "tried to withdraw"},
	ledger.RequestDecided:   {"decided", "tried to decide"},
	ledger.RequestState:     {"moved the request on", "tried to move the request on"},
	ledger.RequestCommented: {"commented", "tried to comment"},
	ledger.GrantMade:        {"granted", "tried to grant"},
	ledger.GrantEnded:       {"ended a grant", "tried to end a grant"},
	ledger.GrantStarted:     {"started a grant", "tried to start a grant"},
	ledger.ChangeBegun:      {"began to apply the change", "could not begin the change"},
	ledger.ChangeHeld:       {"held the change back", "held the change back"},
	ledger.ChangeTakeover:   {"allowed the takeover", "tried to allow a takeover"},
	ledger.ChangeRetried:    {"started the change again", "tried to start the change again"},
	ledger.IssuerMoved:      {"carried people over from another provider", "tried to carry people over"},
	ledger.ChangePlanned:    {"planned the change", "could not plan the change"},
	ledger.ChangeApplied:    {"applied the change", "could not apply the change"},
	ledger.ChangeVerified:   {"read the change back", "read back something else"},
	ledger.ChangeWaiting:    {"waits for the cluster", "waits for the cluster"},
	ledger.ChangeStopped:    {"stopped the change", "stopped the change"},
	ledger.FindingOpened:    {"found a difference", "could not keep a finding"},
	ledger.FindingChanged:   {"saw the difference change", "could not keep a finding"},
	ledger.FindingReopened:  {"found the difference again", "could not keep a finding"},
	ledger.FindingResolved:  {"closed the finding", "tried to close a finding"},
	ledger.FindingPutBack:   {"put back what is granted", "tried to put back what is granted"},
	ledger.FindingAccepted:  {"asked to accept what is live", "tried to accept what is live"},
	ledger.ClusterPutsBack:  {"changed what happens to drift", "tried to change what happens to drift"},
	ledger.AccessRefused:    {"tried what the roles do not open", "tried what the roles do not open"},
	ledger.Exported:         {"exported from the record", "tried to export from the record"},
	ledger.RecordChecked:    {"checked the record", "found the record changed"},
	ledger.RecordCleared:    {"lifted the stop of the record", "tried to lift the stop of the record"},
	ledger.JobAction:        {"acted on a job", "tried to act on a job"},
	ledger.UsagePruned:      {"removed readings older than the retention", "tried to remove old readings"},
}

// decided is the verb of each outcome of a decision.
var decided = map[string]string{"approve": "approved", "return": "returned", "reject": "rejected"}

// follows are the entries that a person's step brings with it: on a timeline
// they fold with what the portal did by itself.
var follows = map[ledger.Type]bool{
	ledger.RequestState: true, ledger.GrantMade: true, ledger.BindingMade: true, ledger.ChangePlanned: true, ledger.ChangeBegun: true, ledger.ChangeApplied: true,
}

// whatHappened is an entry in words: "approved", "moved the request on: active".
func whatHappened(e ledger.Entry) string {
	words, ok := done[e.Type]
	text := words.did
	if e.Outcome != ledger.Done && e.Outcome != "" {
		text = words.tried
	}
	if !ok {
		text = string(e.Type)
	}
	f := e.Facts
	switch e.Type {
	case ledger.RequestDecided:
		if verb := decided[f["outcome"]]; verb != "" && e.Outcome == ledger.Done {
			text = verb
		}
		if f["stage"] != "" {
			text += " in stage " + f["stage"]
		}
	case ledger.RequestState:
		if f["to"] != "" {
			text += ": " + f["to"]
		}
	case ledger.ClusterMode:
		switch {
		case f["mode"] != "":
			text += ": " + f["mode"]
		case f["paused"] == "true":
			text = "paused writing"
		case f["paused"] == "false":
			text = "resumed writing"
		}
	case ledger.AccessRefused:
		if f["route"] != "" {
			text += ": " + f["route"]
		}
	}
	return text
}

// whoDid names the actor: a person, or the portal for a job.
func whoDid(e portal.EntryRow) string {
	switch {
	case e.ActorName != "":
		return e.ActorName
	case e.Entry.Actor.ID == "":
		return "Nobody known"
	case strings.Contains(e.Entry.Actor.ID, ":"):
		return "Quartermaster (" + e.Entry.Actor.ID + ")"
	}
	return "Person " + e.Entry.Actor.ID
}

// authorityWord is the role and scope by which something was done.
func authorityWord(a ledger.Authority) string {
	if a.Role == "" {
		return ""
	}
	word := lowerFirst(org.Role(a.Role).Label())
	if a.Scope != "" && a.Scope != string(org.Everywhere) {
		word += " of " + a.Scope
	}
	return word
}

// factorWord is how the person had proven who they are.
func factorWord(amr []string) string {
	names := map[string]string{"pwd": "password", "otp": "one-time code", "totp": "one-time code", "hwk": "security key", "mfa": "two factors", "recovery": "recovery code"}
	var out []string
	for _, m := range amr {
		if m == "mfa" && len(amr) > 1 {
			continue // the others say which
		}
		if n, ok := names[m]; ok {
			m = n
		}
		out = append(out, m)
	}
	return strings.Join(out, ", ")
}

func outcomeBadge(o ledger.Outcome) web.Badge {
	switch o {
	case ledger.Done:
		return web.Badge{Tone: web.Done, Word: "done"}
	case ledger.Refused:
		return web.Badge{Tone: web.Refused, Word: "refused"}
	case ledger.Failed:
		return web.Badge{Tone: web.Refused, Word: "failed"}
	}
	return web.Badge{Tone: web.NotKnown, Word: string(o)}
}

// reasonOf is the free text that came with an entry; erased text leaves its commitment.
func reasonOf(e portal.EntryRow) string {
	for _, name := range []string{"reason", "text", "explanation"} {
		if t, ok := e.Openings[name]; ok {
			return t
		}
	}
	if e.Entry.Reason != "" {
		return "(The text was erased. Its commitment stays in the entry.)"
	}
	return ""
}

// eventOf is an entry on a timeline.
func eventOf(e portal.EntryRow) web.Event {
	tone := web.Neutral
	switch {
	case e.Entry.Outcome == ledger.Refused || e.Entry.Outcome == ledger.Failed || e.Entry.Type == ledger.ChangeStopped:
		tone = web.Refused
	case e.Entry.Type == ledger.ChangeWaiting:
		tone = web.Waiting
	case e.Entry.Type == ledger.ChangeVerified || e.Entry.Type == ledger.RequestDecided:
		tone = web.Done
	}
	who, system := whoDid(e), strings.Contains(e.Entry.Actor.ID, ":")
	if system {
		who = "Quartermaster" // which job it was stands in the entry
	}
	return web.Event{
		Small: tone == web.Neutral && (system || follows[e.Entry.Type]),
		At:    e.At, Tone: tone, What: whatHappened(e.Entry), Who: who, Role: authorityWord(e.Entry.Authority),
		Factor: factorWord(e.Entry.Actor.AMR), Reason: reasonOf(e), Ledger: decimal(e.Ordinal), Href: paths.HistoryEntry(e.Entry.ID),
	}
}

// historyRow is an entry in a list. names give the words for pools and clusters.
func historyRow(e portal.EntryRow, pools map[string]string, clusters map[string]string) web.HistoryRow {
	row := web.HistoryRow{
		Entry: decimal(e.Ordinal), Href: paths.HistoryEntry(e.Entry.ID), At: e.At, Who: whoDid(e),
		Role: authorityWord(e.Entry.Authority), What: whatHappened(e.Entry), Kind: string(e.Entry.Type),
		Outcome: outcomeBadge(e.Entry.Outcome), Project: e.ProjectName, Cluster: nameOr(clusters, e.ClusterID),
		Object: web.Link{Text: e.Entry.Object.Kind},
	}
	if e.RequestNumber > 0 {
		row.Object = requestLink(e.RequestNumber)
	}
	var in []string
	for _, id := range e.PoolIDs {
		in = append(in, nameOr(pools, id))
	}
	row.Pool = strings.Join(in, ", ")
	return row
}

func nameOr(names map[string]string, id string) string {
	if n := names[id]; n != "" {
		return n
	}
	return id
}

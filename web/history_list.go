package web

import "time"

// HistoryList is the decision history, newest first. Query: q, person, project,
// pool, cluster, kind, outcome, from, to (YYYY-MM-DD, UTC), before/after (key).
// The CSV address carries the same filters.
type HistoryList struct {
	Filters Filters
	Count   string // "1,204 entries"
	Period  string // "1 Nov 2026 to 30 Nov 2026, UTC"
	Rows    []HistoryRow
	Pager   Pager
	Empty   Empty
}

// HistoryRow is one ledger entry in the list.
type HistoryRow struct {
	Entry   string // ledger number
	Href    string
	At      time.Time
	Who     string
	Role    string
	What    string // "approved 12 of 16 GPUs"
	Kind    string // frozen type: "request.approved"
	Outcome Badge  // done, refused, failed
	Object  Link   // "R-1042"
	Project string
	Cluster string
	Pool    string
}

// HistoryEntry is one ledger entry with its proof.
type HistoryEntry struct {
	Entry      string
	Permalink  string // absolute
	Row        HistoryRow
	Facts      []Fact // actor, factor, authority, via, policy, reason
	Reason     string
	JSON       string // canonical JSON, indented for reading
	Canonical  string // canonical JSON as digested
	Digest     string // sha-256, hex
	DigestHref string // where the bytes can be fetched; "" hides
	Prev       Link   // the object's entry before, with its digest as text
	Intact     Badge  // "links hold", "link broken"
	IntactText string
	Tree       TreeProof
	Newer      Link
	Older      Link
	Object     []HistoryRow // neighbours: entries on the same object
}

// TreeProof is where an entry stands in the signed tree.
type TreeProof struct {
	State      Badge // "in the signed tree", "not signed yet", "not sequenced yet", "not proven"
	Text       string
	Index      string // "" while it has no place
	Size       string // of the tree; "" while it is not signed
	Root       string
	SignedAt   time.Time
	Checkpoint string   // the signed note
	Nodes      []string // from the leaf to the root
	Receipt    string   // address of the receipt; "" hides it
	Verify     string   // command that verifies the receipt
}

func neighbourCurrent(here bool) string {
	if here {
		return "true"
	}
	return "false"
}

// place is pool and cluster, as far as an entry has them.
func (r HistoryRow) place() string {
	if r.Pool == "" || r.Cluster == "" {
		return r.Pool + r.Cluster
	}
	return r.Pool + " on " + r.Cluster
}

package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sort"

	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// historyEntry is the permanent page of one ledger entry.
func (s *server) historyEntry(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "entry")
	if err != nil {
		return err
	}
	d, err := s.Portal.ViewEntry(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	words, _, err := s.historyNames(r)
	if err != nil {
		return err
	}
	return s.render(w, r, web.HistoryEntryPage(s.frame(r, "Entry "+decimal(d.Row.Ordinal), web.Link{Text: "History", Href: paths.History}), s.entryViewOf(d, words, actorOf(r).Person)))
}

func (s *server) entryViewOf(d portal.EntryDetail, words names, me org.Person) web.HistoryEntry {
	e := d.Row
	v := web.HistoryEntry{
		Entry: decimal(e.Ordinal), Permalink: s.origin + paths.HistoryEntry(e.Entry.ID), Row: historyRow(e, words.pools, words.clusters),
		Facts: entryFacts(e, words, me), Reason: reasonOf(e), JSON: indented(e.Canonical), Canonical: string(e.Canonical), Digest: e.Digest,
		Intact: web.Badge{Tone: web.Done, Word: "links hold"}, IntactText: "The digest fits the content, and the link fits the entry before on this object.",
	}
	v.Tree = treeProofOf(e.Entry.ID, d.Proof)
	if !d.Intact {
		v.Intact, v.IntactText = web.Badge{Tone: web.Refused, Word: "link broken"}, d.Problem
	}
	if e.Entry.Prev != "" {
		v.Prev = web.Link{Text: e.Entry.Prev}
	}
	var object []web.HistoryRow
	if d.After != nil {
		object = append(object, historyRow(*d.After, words.pools, words.clusters))
		v.Newer = web.Link{Text: decimal(d.After.Ordinal), Href: paths.HistoryEntry(d.After.Entry.ID)}
	}
	object = append(object, v.Row)
	if d.Before != nil {
		object = append(object, historyRow(*d.Before, words.pools, words.clusters))
		v.Older = web.Link{Text: decimal(d.Before.Ordinal), Href: paths.HistoryEntry(d.Before.Entry.ID)}
		v.Prev.Href = v.Older.Href
	}
	if len(object) > 1 {
		v.Object = object
	}
	return v
}

func entryFacts(e portal.EntryRow, words names, me org.Person) []web.Fact {
	x := e.Entry
	var facts []web.Fact
	add := func(label, text string, mono bool) {
		if text != "" {
			facts = append(facts, web.Fact{Label: label, Text: text, Mono: mono})
		}
	}
	add("actor", x.Actor.ID, true)
	add("authority", authorityWord(x.Authority), false)
	add("role mappings, version", x.Authority.MappingVersion, false)
	add("on behalf of", x.Authority.DelegateOf, true)
	add("via", x.Via, false)
	add("factors", factorWord(x.Actor.AMR), false)
	add("authentication context", x.Actor.ACR, true)
	add("signed in at", x.Actor.AuthTime, false)
	add("session", x.Actor.Session, true)
	if e.RequestNumber > 0 {
		facts = append(facts, web.Fact{Label: "request", Text: requestWord(e.RequestNumber), Href: requestPath(e.RequestNumber)})
	}
	if e.ProjectID != "" {
		facts = append(facts, web.Fact{Label: "project", Text: orElse(e.ProjectName, e.ProjectID), Href: paths.Project(e.ProjectID)})
	}
	if e.ClusterID != "" {
		l := clusterLink(me, e.ClusterID, words.clusters[e.ClusterID])
		facts = append(facts, web.Fact{Label: "cluster", Text: l.Text, Href: l.Href})
	}
	add("object", x.Object.Kind+" "+x.Object.ID, true)
	add("revision", x.Object.Revision, false)
	add("revision digest", x.Object.Digest, true)
	add("state before", x.Before, true)
	add("state after", x.After, true)
	for _, p := range x.Policy {
		add("check", p.ID+" "+p.Version, true)
	}
	var keys []string
	for k := range x.Facts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		add(k, x.Facts[k], true)
	}
	return facts
}

func indented(canonical []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, canonical, "", "  "); err != nil {
		return string(canonical) // a damaged entry is shown as it lies in the store
	}
	return b.String()
}

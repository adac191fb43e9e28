package main

import (
	"time"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

var historyRows = []web.HistoryRow{
	{Entry: "18377", Href: paths.HistoryEntry("18377"), At: ago(3 * time.Hour), Who: "Grace Hopper", Role: "capacity manager of h100", What: "approved 12 of 16 GPUs", Kind: "request.decided", Outcome: web.Badge{Tone: web.Done, Word: "done"}, Object: web.Link{Text: "R-1042", Href: paths.Request("r1")}, Project: "vision-training", Cluster: "alpha", Pool: "h100"},
	{Entry: "18204", Href: paths.HistoryEntry("18204"), At: ago(26 * time.Hour), Who: "Katherine Johnson", Role: "team manager of Vision", What: "approved 16 GPUs", Kind: "request.decided", Outcome: web.Badge{Tone: web.Done, Word: "done"}, Object: web.Link{Text: "R-1042", Href: paths.Request("r1")}, Project: "vision-training", Cluster: "alpha", Pool: "h100"},
	{Entry: "18150", Href: paths.HistoryEntry("18150"), At: ago(49 * time.Hour), Who: "Ada Lovelace", Role: "requester in Vision", What: "tried to approve 16 GPUs: the requester cannot decide", Kind: "access.refused", Outcome: web.Badge{Tone: web.Refused, Word: "refused"}, Object: web.Link{Text: "R-1042", Href: paths.Request("r1")}, Project: nasty, Cluster: "alpha", Pool: "h100"},
	{Entry: "18149", Href: paths.HistoryEntry("18149"), At: ago(51 * time.Hour), Who: "Quartermaster", What: "could not read back ClusterQueue " + long, Kind: "change.stopped", Outcome: web.Badge{Tone: web.NotKnown, Word: "unknown"}, Object: web.Link{Text: "change 77"}, Cluster: "beta", Pool: "mi300x"},
}

const entryJSON = `{
  "v": "1",
  "log": "quartermaster",
  "id": "0193f2c1-9c5e-7e0b-8d3c-2f7f3b1a9e11",
  "type": "request.decided",
  "at": "2026-12-02T11:05:00Z",
  "outcome": "done",
  "object": {"kind": "request", "id": "R-1042", "revision": "2"}
}`

func recordStories() []story {
	history := web.Link{Text: "History", Href: paths.History}
	f := filters(paths.History)
	f.CSV = paths.With(paths.HistoryCSV, "q", "70B", "project", "R&D")
	f.Fields = append(f.Fields,
		web.Filter{Name: "person", Label: "Person", Kind: "text"},
		web.Filter{Name: "cluster", Label: "Cluster", Options: []web.Option{{Value: "", Text: "any"}, {Value: "alpha", Text: "alpha"}}},
		web.Filter{Name: "kind", Label: "Kind", Options: []web.Option{{Value: "", Text: "any"}, {Value: "request.decided", Text: "request.decided"}}},
		web.Filter{Name: "outcome", Label: "Outcome", Options: []web.Option{{Value: "", Text: "any"}, {Value: "done", Text: "done"}, {Value: "refused", Text: "refused"}}},
		web.Filter{Name: "from", Label: "From", Kind: "date", Value: "2026-11-01"}, web.Filter{Name: "to", Label: "To, inclusive", Kind: "date"})
	return []story{
		on("history", at("History", paths.History), web.HistoryListPage, web.HistoryList{Filters: f, Count: "1,204 entries", Period: "1 Nov 2026 to 2 Dec 2026, UTC", Rows: historyRows, Pager: web.Pager{Shown: 50, Total: "1,204", Noun: "entries", Older: "?before=18149"}}),
		on("history-empty", at("History", paths.History), web.HistoryListPage, web.HistoryList{Filters: f, Count: "0 entries", Period: "1 Nov 2026 to 2 Dec 2026, UTC", Empty: web.Empty{Icon: "history", Title: "No entry fits these filters", Text: "Entries are never removed: widen the period or take a filter away.", Action: web.Link{Text: "Clear filters", Href: paths.History}}}),
		on("history-entry", at("Entry 18377", "/history/18377", crumbs(history)), web.HistoryEntryPage, web.HistoryEntry{Entry: "18377", Permalink: "https://quartermaster.example/history/18377", Row: historyRows[0],
			Facts:  []web.Fact{{Label: "actor", Text: "Grace Hopper"}, {Label: "authority", Text: "capacity manager of h100, mapping version 4"}, {Label: "factor", Text: "password and one-time code, 20 s before"}, {Label: "via", Text: "web"}, {Label: "policy", Text: "default, version 3"}},
			Reason: "16 would leave the pool without headroom for the evaluation freeze; 12 now, the rest in January.", JSON: entryJSON, Canonical: `{"at":"2026-12-02T11:05:00Z","id":"0193f2c1-9c5e-7e0b-8d3c-2f7f3b1a9e11","log":"quartermaster","object":{"id":"R-1042","kind":"request","revision":"2"},"outcome":"done","type":"request.decided","v":"1"}`,
			Digest: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef", Prev: web.Link{Text: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Href: paths.HistoryEntry("18204")},
			Intact: web.Badge{Tone: web.Done, Word: "links hold"}, IntactText: "The digest fits the bytes and the entry before.",
			Tree: web.TreeProof{State: web.Badge{Tone: web.Done, Word: "in the signed tree"}, Text: "The proof leads from this entry to the root that was signed.", Index: "18,376", Size: "18,402", Root: "yZ0kzTg2vYxvT0+oUkoD0JgOXLkQ0q1m7nV1b2oUj7E=", SignedAt: ago(2 * time.Hour),
				Checkpoint: "quartermaster/0193f2c19c5e\n18402\nyZ0kzTg2vYxvT0+oUkoD0JgOXLkQ0q1m7nV1b2oUj7E=\n\n— quartermaster/0193f2c19c5e AbCdEf==\n", Nodes: []string{"yZ0kzTg2vYxvT0+oUkoD0JgOXLkQ0q1m7nV1b2oUj7E=", "0JgOXLkQ0q1m7nV1b2oUj7EyZ0kzTg2vYxvT0+oUkoD="},
				Receipt: "/history/18377/receipt.json", Verify: "quartermaster verify --policy KEYS --receipt receipt-18377.json"}, Older: web.Link{Text: "18376", Href: "#"}, Newer: web.Link{Text: "18378", Href: "#"}, Object: historyRows[:3]}),
		on("people", at("People", paths.People), web.PeopleListPage, web.PeopleList{Filters: web.Filters{Action: paths.People, Fields: []web.Filter{{Name: "q", Label: "Search", Kind: "search"}}}, Rows: []web.PersonRow{
			{Name: "Grace Hopper", Login: "grace", Identity: "idp.example · 248289761001", Roles: []web.Member{{Role: "capacity manager of h100, a100", From: "group gpu-capacity, mapping version 4"}, {Role: "requester in Vision", From: "group gpu-vision, mapping version 4"}}, LastSeen: ago(40 * time.Minute)},
			{Name: nasty, Login: "rd", Identity: "idp.example · 2"},
		}, Pager: web.Pager{Shown: 2, Noun: "people"}}),
	}
}

package handlers

import (
	"time"

	"quartermaster/internal/portal"
	"quartermaster/web"
)

// peopleWord names who can act: "Ada Lovelace", "Ada Lovelace or 2 others".
func peopleWord(people []portal.PersonName, count int) string {
	if len(people) == 0 {
		return ""
	}
	first := people[0].Name
	switch others := int64(max(count, len(people)) - 1); {
	case others == 0:
		return first
	case others == 1 && len(people) > 1:
		return first + " or " + people[1].Name
	default:
		return first + " or " + web.Many(others, "other", "others")
	}
}

// deciderOf is a stage that a request needs.
func deciderOf(s portal.StagePeople) web.Decider {
	d := web.Decider{Stage: s.Name, People: peopleWord(s.People, s.Count), Eligible: s.Count, Missing: s.Missing}
	if s.Quorum > 1 {
		d.Stage += ", " + decimal(int64(s.Quorum)) + " people"
	}
	if s.RespondWithin > 0 {
		d.Within = web.Span(s.RespondWithin)
	}
	return d
}

func decidersOf(all []portal.StagePeople) []web.Decider {
	var out []web.Decider
	for _, s := range all {
		out = append(out, deciderOf(s))
	}
	return out
}

// agedText is how long ago something was, for a sentence.
func agedText(t, now time.Time) string { return web.Span(now.Sub(t)) + " ago" }

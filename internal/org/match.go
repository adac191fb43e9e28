package org

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"quartermaster/internal/fleet"
)

// What a rule looks at.
const (
	ByLabel      = "label"
	ByAnnotation = "annotation"
	ByNamespace  = "namespace"
	ByQueue      = "queue"
)

// MatchRule says to which project an object that exists on a cluster belongs. Rules
// are tried in order; the first that fits decides.
type MatchRule struct {
	By   string `yaml:"by" json:"by"`     // label, annotation, namespace or queue
	Name string `yaml:"name" json:"name"` // of the label or annotation
	// Pattern of the value or name, with {project}, {team}, {environment} and *; "" = {project}.
	Pattern string `yaml:"pattern" json:"pattern"`
	// Project and Environment fix what the pattern does not say.
	Project     string `yaml:"project" json:"project"`
	Environment string `yaml:"environment" json:"environment"`
}

// DefaultRules are in force while the organisation has none of its own.
var DefaultRules = []MatchRule{
	{By: ByLabel, Name: "quartermaster/project"},
	{By: ByNamespace, Pattern: "{team}-{project}-{environment}"},
	{By: ByNamespace, Pattern: "{project}-{environment}"},
	{By: ByQueue, Pattern: "{project}-{environment}"},
	{By: ByNamespace, Pattern: "{project}"},
	{By: ByQueue, Pattern: "{project}"},
}

func (r MatchRule) pattern() string {
	if r.Pattern == "" {
		return "{project}"
	}
	return r.Pattern
}

// String is the rule as people read it.
func (r MatchRule) String() string {
	s := r.By
	if r.Name != "" {
		s += " " + r.Name
	}
	s += " is " + r.pattern()
	if r.Project != "" {
		s += ", project " + r.Project
	}
	if r.Environment != "" {
		s += ", environment " + r.Environment
	}
	return s
}

// Wrong says what does not fit in a rule, by field; "" as a field is the whole rule.
func (r MatchRule) Wrong() (field, message string) {
	marked := r.By == ByLabel || r.By == ByAnnotation
	switch {
	case !slices.Contains([]string{ByLabel, ByAnnotation, ByNamespace, ByQueue}, r.By):
		return "by", fmt.Sprintf("%q is not one of label, annotation, namespace, queue", r.By)
	case marked && r.Name == "":
		return "name", "is needed: the " + r.By + " whose value is compared"
	case !marked && r.Name != "":
		return "name", "only labels and annotations have one"
	case strings.ContainsAny(r.Pattern, "[]?\\/"):
		return "pattern", "use {project}, {team}, {environment}, * and the characters of names"
	case r.Project == "" && !strings.Contains(r.pattern(), "{project}"):
		return "pattern", "it names no project: use {project}, or say project"
	case r.Environment != "" && !slices.Contains(Environments, r.Environment):
		return "environment", fmt.Sprintf("%q is not one of %v", r.Environment, Environments)
	}
	return "", ""
}

// MatchSubject is what rules are tried on: a queue with its namespaces and the marks of each.
type MatchSubject struct {
	Queue      string
	Namespaces []string
	Marked     []MarkedObject // the nearest first
}

// MarkedObject is one object whose labels and annotations count.
type MarkedObject struct {
	Object string
	fleet.Marks
}

// MatchPlace is a project and one of its environments.
type MatchPlace struct{ ProjectID, Environment string }

// Match is what the rules say. Places holds one entry where they decide, several
// where they leave it open, none where no rule fits.
type Match struct {
	Places []MatchPlace
	Reason string
}

// Decided reports whether exactly one place fits.
func (m Match) Decided() bool { return len(m.Places) == 1 }

// Matcher tries rules on many subjects.
type Matcher struct {
	rules []MatchRule
	exact []map[string][]MatchPlace // by rule: expected text → places
	open  [][]globbed               // by rule: patterns with *
}

type globbed struct {
	pattern string
	place   MatchPlace
}

// NewMatcher prepares rules; none means DefaultRules.
func NewMatcher(rules []MatchRule, projects []Project) *Matcher {
	if len(rules) == 0 {
		rules = DefaultRules
	}
	m := &Matcher{rules: rules, exact: make([]map[string][]MatchPlace, len(rules)), open: make([][]globbed, len(rules))}
	for i, r := range rules {
		m.exact[i] = map[string][]MatchPlace{}
		for _, p := range projects {
			if r.Project != "" && r.Project != p.ID {
				continue
			}
			for _, env := range p.Environments {
				if r.Environment != "" && r.Environment != env {
					continue
				}
				text := strings.NewReplacer("{project}", p.ID, "{team}", p.TeamID, "{environment}", env).Replace(r.pattern())
				at := MatchPlace{p.ID, env}
				if strings.Contains(text, "*") {
					m.open[i] = append(m.open[i], globbed{text, at})
				} else {
					m.exact[i][text] = append(m.exact[i][text], at)
				}
			}
		}
	}
	return m
}

// Match tries the rules in order on one subject. Where a rule fits several
// environments of one project, a name that ends in one of them decides.
func (m *Matcher) Match(s MatchSubject) Match {
	for i, r := range m.rules {
		for _, c := range r.texts(s) {
			places := slices.Clone(m.exact[i][c.text])
			for _, g := range m.open[i] {
				if ok, _ := path.Match(g.pattern, c.text); ok {
					places = append(places, g.place)
				}
			}
			if len(places) == 0 {
				continue
			}
			found := Match{Places: narrowed(places, s), Reason: c.said + " (rule " + fmt.Sprint(i+1) + ": " + r.String() + ")"}
			if len(found.Places) > 1 {
				found.Reason = "Several fit: " + found.Reason
			}
			return found
		}
	}
	return Match{Reason: "No rule fits."}
}

// candidate is one text that a rule compares, and how to name it.
type candidate struct{ text, said string }

func (r MatchRule) texts(s MatchSubject) []candidate {
	var out []candidate
	switch r.By {
	case ByQueue:
		out = append(out, candidate{s.Queue, "queue " + s.Queue})
	case ByNamespace:
		for _, n := range s.Namespaces {
			out = append(out, candidate{n, "namespace " + n})
		}
	default:
		for _, o := range s.Marked {
			marks := o.Labels
			if r.By == ByAnnotation {
				marks = o.Annotations
			}
			if v, ok := marks[r.Name]; ok {
				out = append(out, candidate{v, fmt.Sprintf("%s %s=%s of %s", r.By, r.Name, v, o.Object)})
			}
		}
	}
	return out
}

// environmentMark names the environment where a label names the project.
const environmentMark = "quartermaster/environment"

func narrowed(places []MatchPlace, s MatchSubject) []MatchPlace {
	if len(places) < 2 {
		return places
	}
	for _, p := range places {
		if p.ProjectID != places[0].ProjectID {
			return places
		}
	}
	fits := func(env string) bool {
		for _, o := range s.Marked {
			if v := o.Labels[environmentMark]; v != "" {
				return v == env
			}
		}
		for _, name := range append([]string{s.Queue}, s.Namespaces...) {
			if strings.HasSuffix(name, "-"+env) {
				return true
			}
		}
		return false
	}
	var out []MatchPlace
	for _, p := range places {
		if fits(p.Environment) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return places
	}
	return out
}

package org_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	projects := []org.Project{
		{ID: "street", TeamID: "vision", Environments: []string{"development", "production"}},
		{ID: "asr", TeamID: "speech", Environments: []string{"development"}},
	}
	m := org.NewMatcher([]org.MatchRule{
		{By: org.ByLabel, Name: "corp.example/project"},
		{By: org.ByQueue, Pattern: "{team}-{project}-*"},
		{By: org.ByNamespace, Pattern: "legacy-cars", Project: "street", Environment: "production"},
		{By: org.ByNamespace, Pattern: "{project}-{environment}"},
	}, projects)
	labelled := func(key, value string) []org.MarkedObject {
		return []org.MarkedObject{{Object: "Namespace n", Marks: fleet.Marks{Labels: map[string]string{key: value}}}}
	}
	for name, c := range map[string]struct {
		subject org.MatchSubject
		places  []org.MatchPlace
		reason  string
	}{
		"label":            {org.MatchSubject{Queue: "street-production", Marked: labelled("corp.example/project", "asr")}, []org.MatchPlace{{"asr", "development"}}, "label corp.example/project=asr of Namespace n (rule 1: label corp.example/project is {project})"},
		"pattern":          {org.MatchSubject{Queue: "speech-asr-7"}, []org.MatchPlace{{"asr", "development"}}, "queue speech-asr-7 (rule 2: queue is {team}-{project}-*)"},
		"name decides":     {org.MatchSubject{Queue: "vision-street-production"}, []org.MatchPlace{{"street", "production"}}, "queue vision-street-production (rule 2: queue is {team}-{project}-*)"},
		"several":          {org.MatchSubject{Queue: "vision-street-x"}, []org.MatchPlace{{"street", "development"}, {"street", "production"}}, "Several fit: queue vision-street-x (rule 2: queue is {team}-{project}-*)"},
		"fixed":            {org.MatchSubject{Queue: "q", Namespaces: []string{"legacy-cars"}}, []org.MatchPlace{{"street", "production"}}, "namespace legacy-cars (rule 3: namespace is legacy-cars, project street, environment production)"},
		"second namespace": {org.MatchSubject{Queue: "q", Namespaces: []string{"else", "street-development"}}, []org.MatchPlace{{"street", "development"}}, "namespace street-development (rule 4: namespace is {project}-{environment})"},
		"none":             {org.MatchSubject{Queue: "q", Namespaces: []string{"asr-production"}}, nil, "No rule fits."},
	} {
		got := m.Match(c.subject)
		require.Equal(t, c.places, got.Places, name)
		require.Equal(t, c.reason, got.Reason, name)
		require.Equal(t, len(c.places) == 1, got.Decided(), name)
	}
	marked := labelled("quartermaster/project", "street")
	require.Len(t, org.NewMatcher(nil, projects).Match(org.MatchSubject{Queue: "q", Marked: marked}).Places, 2)
	marked[0].Labels["quartermaster/environment"] = "production"
	require.Equal(t, []org.MatchPlace{{"street", "production"}}, org.NewMatcher(nil, projects).Match(org.MatchSubject{Queue: "q", Marked: marked}).Places)
}

func TestARuleThatCannotMatchIsWrong(t *testing.T) {
	for field, r := range map[string]org.MatchRule{
		"by":          {By: "size"},
		"name":        {By: org.ByLabel},
		"pattern":     {By: org.ByQueue, Pattern: "everything"},
		"environment": {By: org.ByQueue, Environment: "prod"},
	} {
		got, message := r.Wrong()
		require.Equal(t, field, got)
		require.NotEmpty(t, message)
	}
	for _, r := range org.DefaultRules {
		_, message := r.Wrong()
		require.Empty(t, message)
	}
}

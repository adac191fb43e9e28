package main

import (
	"time"

	"github.com/a-h/templ"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

// story is one page in one state.
type story struct {
	name string
	page func(theme string) templ.Component
}

func stories() []story {
	var all []story
	for _, group := range [][]story{requestStories(), decideStories(), capacityStories(), usageStories(), recordStories(), doorStories()} {
		all = append(all, group...)
	}
	return all
}

// on makes a story from a page that takes frame and view.
func on[V any](name string, f func(theme string) web.Frame, page func(web.Frame, V) templ.Component, view V) story {
	return story{name, func(theme string) templ.Component { return page(f(theme), view) }}
}

// at is a frame with changes.
func at(title, path string, changes ...func(*web.Frame)) func(string) web.Frame {
	return func(theme string) web.Frame {
		f := frame(title, path, theme)
		for _, c := range changes {
			c(&f)
		}
		return f
	}
}

func badge(b web.Badge) func(*web.Frame) { return func(f *web.Frame) { f.Badge = b } }

func crumbs(links ...web.Link) func(*web.Frame) { return func(f *web.Frame) { f.Crumbs = links } }

func simulated(f *web.Frame) { f.Simulated = []string{"beta"} }

func stale(f *web.Frame) {
	f.Stale = []web.StaleSource{{Name: "beta", AsOf: ago(2*time.Hour + 25*time.Minute), Why: "no answer in 5 s"}}
	f.Failed = []string{"pending workloads of beta: no answer in 5 s"}
}

func nobody(f *web.Frame) { f.Person, f.Nav = web.Person{}, nil }

var requestsCrumb = web.Link{Text: "Requests", Href: paths.Requests}

func field(name, label, value string) web.Field {
	return web.Field{Name: name, Label: label, Value: value, Required: true}
}

func choose(name, label, value string, options ...string) web.Field {
	f := field(name, label, value)
	for _, o := range options {
		f.Options = append(f.Options, web.Option{Value: o, Text: o})
	}
	return f
}

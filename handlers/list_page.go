package handlers

import (
	"net/http"
	"net/url"

	"quartermaster/web"
)

// pageSize of every list.
const pageSize = 50

// address is the page's own path with its query changed by pairs; empty values
// are dropped, so that a filter that is not set does not stand in the URL.
func address(r *http.Request, pairs ...string) string {
	q := url.Values{}
	for name, values := range r.URL.Query() {
		if len(values) > 0 && values[0] != "" {
			q[name] = values
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return r.URL.Path
	}
	return r.URL.Path + "?" + q.Encode()
}

// clearLink is the list without filters; "" when none is set. keep are the names
// that choose the view rather than filter it.
func clearLink(r *http.Request, keep ...string) string {
	q, kept := r.URL.Query(), url.Values{}
	set := false
	for name, values := range q {
		isKept := false
		for _, k := range keep {
			isKept = isKept || k == name
		}
		switch {
		case isKept:
			kept[name] = values
		case len(values) > 0 && values[0] != "" && name != "after" && name != "before":
			set = true
		}
	}
	if !set {
		return ""
	}
	if len(kept) == 0 {
		return r.URL.Path
	}
	return r.URL.Path + "?" + kept.Encode()
}

// options puts the empty choice before the others.
func options(all string, of ...web.Option) []web.Option {
	return append([]web.Option{{Text: all}}, of...)
}

func sameWords(words ...string) []web.Option {
	var out []web.Option
	for _, w := range words {
		out = append(out, web.Option{Value: w, Text: w})
	}
	return out
}

// oneOf is the query's value where it is one of the known ones, else the first.
func oneOf(r *http.Request, name string, known ...string) string {
	v := r.URL.Query().Get(name)
	for _, k := range known {
		if v == k {
			return v
		}
	}
	return known[0]
}

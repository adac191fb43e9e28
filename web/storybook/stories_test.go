package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// render is the HTML of a story, as text and as a tree.
func render(t *testing.T, s story) (string, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.page("light").Render(context.Background(), &b))
	tree, err := html.Parse(strings.NewReader(b.String()))
	require.NoError(t, err)
	return b.String(), tree
}

func walk(n *html.Node, see func(*html.Node)) {
	see(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, see)
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what people read below n.
func text(n *html.Node) string {
	var b strings.Builder
	walk(n, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestPagesFitTheContentPolicy: no inline script, style or handler on any page.
func TestPagesFitTheContentPolicy(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			_, tree := render(t, s)
			walk(tree, func(n *html.Node) {
				if n.Type != html.ElementNode {
					return
				}
				require.NotEqual(t, "style", n.Data)
				if n.Data == "script" {
					require.NotEmpty(t, attr(n, "src"))
					require.Nil(t, n.FirstChild)
				}
				for _, a := range n.Attr {
					require.NotEqual(t, "style", a.Key, n.Data)
					require.False(t, strings.HasPrefix(a.Key, "on"), "%s %s", n.Data, a.Key)
					require.NotContains(t, a.Val, "javascript:")
				}
			})
		})
	}
}

// TestPagesAreWellFormed: ids are unique, what points to an id finds it, each
// input has a label, each page one h1.
func TestPagesAreWellFormed(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			_, tree := render(t, s)
			ids, labelled, headings := map[string]int{}, map[string]bool{}, 0
			walk(tree, func(n *html.Node) {
				if id := attr(n, "id"); id != "" {
					ids[id]++
				}
				if n.Data == "label" {
					labelled[attr(n, "for")] = true
				}
				if n.Data == "h1" {
					headings++
				}
			})
			for id, n := range ids {
				require.Equal(t, 1, n, "id %s", id)
			}
			if s.name != "request-checks" {
				require.Equal(t, 1, headings)
			}
			walk(tree, func(n *html.Node) {
				for _, name := range []string{"aria-describedby", "aria-labelledby", "for", "data-copy"} {
					for _, id := range strings.Fields(attr(n, name)) {
						require.Contains(t, ids, id, "%s of %s", name, n.Data)
					}
				}
				field := n.Data == "input" && attr(n, "type") != "hidden" || n.Data == "select" || n.Data == "textarea"
				if field && !insideLabel(n) {
					require.True(t, labelled[attr(n, "id")], "no label for %s", attr(n, "name"))
				}
			})
		})
	}
}

func insideLabel(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Data == "label" {
			return true
		}
	}
	return false
}

// TestPagesKeepTheWords: the rules for words on screens.
func TestPagesKeepTheWords(t *testing.T) {
	never := regexp.MustCompile(`(?i)!|\bsuccessfully\b|\bplease\b`)
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			_, tree := render(t, s)
			require.NotRegexp(t, never, text(tree))
			walk(tree, func(n *html.Node) {
				if n.Data == "button" && attr(n, "aria-hidden") == "" {
					require.NotEmpty(t, text(n), "a button says what it does")
				}
			})
		})
	}
}

// TestNastyTextIsEscapedOnce: what people write shows as written, never as markup.
func TestNastyTextIsEscapedOnce(t *testing.T) {
	seen := 0
	for _, s := range stories() {
		raw, tree := render(t, s)
		require.NotContains(t, raw, `<b>"x"`, s.name)
		require.NotContains(t, raw, "&amp;amp;", s.name)
		require.NotContains(t, raw, "&amp;lt;", s.name)
		walk(tree, func(n *html.Node) {
			require.NotContains(t, attr(n, "value"), "&amp;", s.name)
		})
		if strings.Contains(text(tree), strings.Join(strings.Fields(nasty), " ")) {
			seen++
		}
	}
	require.Greater(t, seen, 10)
}

// TestAnAmpersandInATeamsNameIsEscapedOnce: text R&amp;D, address team=R%26D (field case C092).
func TestAnAmpersandInATeamsNameIsEscapedOnce(t *testing.T) {
	for _, s := range stories() {
		if s.name != "project-empty" {
			continue
		}
		raw, tree := render(t, s)
		require.Contains(t, raw, `<a href="/projects?team=R%26D">R&amp;D</a>`)
		found := false
		walk(tree, func(n *html.Node) {
			if n.Data == "a" && attr(n, "href") == "/projects?team=R%26D" {
				found = true
				require.Equal(t, "R&D", text(n))
			}
		})
		require.True(t, found)
		return
	}
	t.Fatal("no story shows R&D")
}

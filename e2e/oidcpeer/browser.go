package oidcpeer

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Browser keeps cookies, follows redirects and submits the first form of a page.
type Browser struct {
	t      testing.TB
	client *http.Client
}

// Page is where a browser has come to rest.
type Page struct {
	Status int
	URL    *url.URL
	Body   string
	Header http.Header
}

// NewBrowser returns a browser without cookies.
func NewBrowser(t testing.TB) *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{t: t, client: &http.Client{Jar: jar}}
}

// Get opens an address.
func (b *Browser) Get(address string) Page {
	b.t.Helper()
	return b.read(b.client.Get(address))
}

// Post sends a form as a page of the same origin would.
func (b *Browser) Post(address string, form url.Values) Page {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.read(b.client.Do(r))
}

// Cookies returns the cookies that address would be sent.
func (b *Browser) Cookies(address string) []*http.Cookie {
	u, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.client.Jar.Cookies(u)
}

// SetCookie plants a cookie.
func (b *Browser) SetCookie(address string, c *http.Cookie) {
	u, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(u, []*http.Cookie{c})
}

func (b *Browser) read(r *http.Response, err error) Page {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return Page{r.StatusCode, r.Request.URL, string(body), r.Header}
}

var (
	formTag  = regexp.MustCompile(`(?is)<form[^>]*>`)
	inputTag = regexp.MustCompile(`(?is)<input[^>]*>`)
	attrs    = regexp.MustCompile(`(?is)([a-z-]+)="([^"]*)"`)
)

func attributes(tag string) map[string]string {
	out := map[string]string{}
	for _, m := range attrs.FindAllStringSubmatch(tag, -1) {
		out[strings.ToLower(m[1])] = html.UnescapeString(m[2])
	}
	return out
}

// Submit fills in the first form of a page, hidden fields included, and sends it.
func (b *Browser) Submit(p Page, fields ...string) Page {
	b.t.Helper()
	tag := formTag.FindString(p.Body)
	if tag == "" {
		b.t.Fatalf("no form on %s (%d): %s", p.URL, p.Status, p.Body)
	}
	form := url.Values{}
	for _, input := range inputTag.FindAllString(p.Body, -1) {
		if a := attributes(input); a["name"] != "" {
			form.Set(a["name"], a["value"])
		}
	}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	action, err := p.URL.Parse(attributes(tag)["action"])
	if err != nil {
		b.t.Fatal(err)
	}
	return b.Post(action.String(), form)
}

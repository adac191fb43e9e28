package handlers

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"quartermaster/internal/fault"
)

// form is a posted form. Reading never fails: what does not fit is collected in
// wrong under the field's name, and the text as typed stays for the page.
type form struct {
	values url.Values
	wrong  []fault.Field
}

// readForm parses the body. Values of the query string do not count: a form is
// what was posted.
func readForm(r *http.Request) (*form, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.ContentLength != 0 && (err != nil || kind != "application/x-www-form-urlencoded") {
		return nil, &plain{status: http.StatusUnsupportedMediaType, text: "This address takes a form, and this was none. Open the page and send it from there."}
	}
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, tooLarge
		}
		return nil, fault.New(fault.Invalid, "This form could not be read. Open the page and send it again.").Because(err)
	}
	return &form{values: r.PostForm}, nil
}

// formOf is a form from values that were kept, or from a query string.
func formOf(v url.Values) *form { return &form{values: v} }

// typed is the field as it came, made fit to be shown again.
func (f *form) typed(name string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(f.values.Get(name), "\uFFFD"), "\x00", "\uFFFD")
}

// text is the field without space around it. Bytes that are no text, and what is
// too long to be stored, are a wrong input, never an error of the database.
func (f *form) text(name string) string { return f.long(name, 300) }

// long is text with a limit of its own, in characters.
func (f *form) long(name string, limit int) string {
	raw := strings.ReplaceAll(f.values.Get(name), "\r\n", "\n")
	if !isText(raw) {
		f.reject(name, "This holds characters that are not text. Remove them.")
		return ""
	}
	raw = strings.TrimSpace(raw)
	if n := utf8.RuneCountInString(raw); n > limit {
		f.reject(name, "%d characters are too many: at most %d fit.", n, limit)
	}
	return raw
}

// reject notes a wrong input, once a field.
func (f *form) reject(name, format string, args ...any) {
	for _, w := range f.wrong {
		if w.Name == name {
			return
		}
	}
	f.wrong = append(f.wrong, fault.Field{Name: name, Message: fmt.Sprintf(format, args...)})
}

// number is a whole number between low and high; empty is 0.
func (f *form) number(name string, low, high int) int {
	raw := f.text(name)
	if raw == "" {
		return 0
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < low || n > high {
		f.reject(name, "Write a whole number from %d to %d.", low, high)
		return 0
	}
	return n
}

// moment is a date, which is its first moment in UTC, or a date with a time in UTC; empty is nil.
func (f *form) moment(name string) *time.Time {
	raw := f.text(name)
	if raw == "" {
		return nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		t, err := time.ParseInLocation(layout, raw, time.UTC)
		if err == nil && t.Year() >= 2000 && t.Year() < 3000 {
			return &t
		}
	}
	f.reject(name, "Write a date as 2027-03-31; it counts from 00:00 UTC.")
	return nil
}

// err is what was wrong, as the fault the page shows; nil when nothing was.
func (f *form) err() error {
	if len(f.wrong) == 0 {
		return nil
	}
	e := fault.New(fault.Invalid, "Some of the fields do not fit.")
	e.Fields = f.wrong
	return e
}

// key is the form's idempotency key, made when the page was. Two sends of one
// form do one thing.
func (f *form) key() (string, error) {
	k := f.values.Get("idempotency_key")
	if !isID(k) {
		return "", fault.New(fault.Invalid, "This form does not say which form it is. Open the page again and send it from there.")
	}
	return k, nil
}

func isID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil && len(s) == 36
}

// numberIn reads a number from the path; what is none names nothing.
func numberIn(r *http.Request, name string) (int64, error) {
	raw := chi.URLParam(r, name)
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != raw {
		return 0, fault.New(fault.NotFound, "There is nothing at this address, or nothing that you may see.")
	}
	return n, nil
}

// idIn reads a random id from the path; what is none names nothing.
func idIn(r *http.Request, name string) (string, error) {
	id := chi.URLParam(r, name)
	if !isID(id) {
		return "", fault.New(fault.NotFound, "There is nothing at this address, or nothing that you may see.")
	}
	return strings.ToLower(id), nil
}

// nameIn reads the id of something the organisation named (project, pool, cluster).
func nameIn(r *http.Request, name string) (string, error) {
	id, err := url.PathUnescape(chi.URLParam(r, name))
	if err != nil || id == "" || !isText(id) {
		return "", fault.New(fault.NotFound, "There is nothing at this address, or nothing that you may see.")
	}
	return id, nil
}

// localPath is an address of this portal, or otherwise: a form must not lead elsewhere.
func localPath(to, otherwise string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return otherwise
	}
	return to
}

// fieldLabel is a field's name as a list of wrong inputs shows it.
func fieldLabel(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) == 3 && parts[0] == "line" {
		if n, err := strconv.Atoi(parts[1]); err == nil {
			return fmt.Sprintf("Pool line %d, %s", n+1, parts[2])
		}
	}
	if len(parts) == 2 && (parts[0] == "grant" || parts[0] == "until") {
		if n, err := strconv.Atoi(parts[1]); err == nil {
			return fmt.Sprintf("Pool line %d, %s", n+1, map[string]string{"grant": "granted", "until": "until"}[parts[0]])
		}
	}
	words := strings.ReplaceAll(name, "_", " ")
	if words == "" {
		return words
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

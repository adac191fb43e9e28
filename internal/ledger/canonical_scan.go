package ledger

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scan reads canonical bytes once, in the one order and spelling that the canonical
// form has, and says false for everything it cannot prove to be canonical: what it
// accepts, Parse would accept by writing the entry again, and would read the same.
// That covers nearly every entry and is the reason why a record of millions can be
// verified in seconds.
func scan(canonical []byte) (e Entry, ok bool) {
	c := cursor{s: string(canonical), first: true}
	if !c.plain() {
		return Entry{}, false
	}
	c.byte('{')
	if c.open(`"actor":`) {
		c.some(`"acr":`, &e.Actor.ACR)
		if c.key(`"amr":`) {
			e.Actor.AMR = c.texts()
		}
		c.some(`"auth_time":`, &e.Actor.AuthTime)
		c.some(`"commitment":`, &e.Actor.Commitment)
		c.text(`"id":`, &e.Actor.ID)
		c.some(`"session":`, &e.Actor.Session)
		c.close()
	}
	c.some(`"after":`, &e.After)
	c.text(`"at":`, &e.At)
	if c.open(`"authority":`) {
		c.some(`"delegate_of":`, &e.Authority.DelegateOf)
		c.some(`"mapping_version":`, &e.Authority.MappingVersion)
		c.some(`"role":`, &e.Authority.Role)
		c.some(`"scope":`, &e.Authority.Scope)
		c.close()
	}
	c.some(`"before":`, &e.Before)
	if c.key(`"facts":`) {
		e.Facts = c.facts()
	}
	c.text(`"id":`, &e.ID)
	c.text(`"log":`, &e.Log)
	if c.open(`"object":`) {
		c.some(`"digest":`, &e.Object.Digest)
		c.text(`"id":`, &e.Object.ID)
		c.text(`"kind":`, &e.Object.Kind)
		c.some(`"revision":`, &e.Object.Revision)
		c.close()
	}
	c.text(`"outcome":`, (*string)(&e.Outcome))
	if c.key(`"policy":`) {
		e.Policy = c.policies()
	}
	c.text(`"prev":`, &e.Prev)
	c.some(`"reason":`, &e.Reason)
	c.text(`"type":`, (*string)(&e.Type))
	c.text(`"v":`, &e.V)
	c.text(`"via":`, &e.Via)
	c.close()
	if c.bad || c.i != len(c.s) {
		return Entry{}, false
	}
	return e, true
}

// cursor walks over the canonical form. Once bad it stays bad.
type cursor struct {
	s       string
	i       int
	first   bool // no member of the present object was read yet: no comma before the next
	escapes bool // there is a backslash somewhere
	bad     bool
}

// What a byte can mean for the form.
const (
	control  = 1 << iota // never stands in canonical JSON
	escape               // a backslash
	wide                 // part of a character beyond ASCII
	respelt              // written as an escape by encoding/json on the way to the canonical form
	maxASCII = 0x7f
)

var classes = func() (t [256]byte) {
	for i := range t {
		switch {
		case i < ' ':
			t[i] = control
		case i > maxASCII:
			t[i] = wide
		}
	}
	t['\\'], t['<'], t['>'], t['&'] = escape, respelt, respelt, respelt
	return t
}()

// plain looks at all bytes. Normalising can reach into an escape ("\n" and a
// combining tilde), so text beyond ASCII beside one is left to the long way.
func (c *cursor) plain() bool {
	var seen byte
	for i := range len(c.s) {
		seen |= classes[c.s[i]]
	}
	c.escapes = seen&escape != 0
	if seen&control != 0 || len(c.s) > MaxBytes {
		return false
	}
	if seen&wide == 0 {
		return true
	}
	return seen&escape == 0 && (seen&respelt == 0 || !c.reached()) && utf8.ValidString(c.s) && !strings.ContainsAny(c.s, "\u2028\u2029") && norm.NFC.IsNormalString(c.s)
}

// reached: a character beyond ASCII follows one that encoding/json writes as an
// escape, and could be joined with the escape's last letter.
func (c *cursor) reached() bool {
	for i := 1; i < len(c.s); i++ {
		if c.s[i] > maxASCII && classes[c.s[i-1]] == respelt {
			return true
		}
	}
	return false
}

func (c *cursor) byte(want byte) {
	if c.i >= len(c.s) || c.s[c.i] != want {
		c.bad = true
		return
	}
	c.i++
}

// next reads one byte when it is the wanted one.
func (c *cursor) next(want byte) bool {
	if c.i < len(c.s) && c.s[c.i] == want {
		c.i++
		return true
	}
	return false
}

// key reads the name of a member when it comes next; name is `"name":`.
func (c *cursor) key(name string) bool {
	i := c.i
	if !c.first {
		if i >= len(c.s) || c.s[i] != ',' {
			return false
		}
		i++
	}
	if c.bad || !strings.HasPrefix(c.s[i:], name) {
		return false
	}
	c.i, c.first = i+len(name), false
	return true
}

// open begins the object that must come next as a member.
func (c *cursor) open(name string) bool {
	if !c.key(name) {
		c.bad = true
		return false
	}
	c.byte('{')
	c.first = true
	return true
}

func (c *cursor) close() {
	c.byte('}')
	c.first = false
}

// text reads a member that is always there.
func (c *cursor) text(name string, into *string) {
	if !c.key(name) {
		c.bad = true
		return
	}
	*into = c.string()
}

// some reads a member that is left out when it is empty.
func (c *cursor) some(name string, into *string) {
	if c.key(name) {
		*into = c.string()
		c.bad = c.bad || *into == ""
	}
}

// texts reads a list of at least one text.
func (c *cursor) texts() (out []string) {
	c.byte('[')
	for !c.bad {
		out = append(out, c.string())
		if !c.next(',') {
			break
		}
	}
	c.byte(']')
	return out
}

func (c *cursor) policies() (out []Policy) {
	c.byte('[')
	for !c.bad {
		var p Policy
		c.byte('{')
		c.first = true
		c.some(`"digest":`, &p.Digest)
		c.text(`"id":`, &p.ID)
		c.text(`"version":`, &p.Version)
		c.close()
		out = append(out, p)
		if !c.next(',') {
			break
		}
	}
	c.byte(']')
	c.first = false
	return out
}

// facts reads a map of at least one name, names in ascending order. The order is
// that of UTF-16; in ASCII it is that of the bytes.
func (c *cursor) facts() map[string]string {
	out := make(map[string]string, 8)
	c.byte('{')
	last := ""
	for !c.bad {
		name := c.string()
		if !ascii(name) || len(out) > 0 && name <= last {
			c.bad = true
		}
		last = name
		c.byte(':')
		out[name] = c.string()
		if !c.next(',') {
			break
		}
	}
	c.close()
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] > maxASCII {
			return false
		}
	}
	return true
}

// string reads one text in its only canonical spelling.
func (c *cursor) string() string {
	c.byte('"')
	if c.bad {
		return ""
	}
	end := strings.IndexByte(c.s[c.i:], '"')
	if end < 0 {
		c.bad = true
		return ""
	}
	text := c.s[c.i : c.i+end]
	if c.escapes && strings.IndexByte(text, '\\') >= 0 {
		return c.escaped()
	}
	c.i += end + 1
	return text
}

// escaped reads a text with escapes up to its quote.
func (c *cursor) escaped() string {
	var out strings.Builder
	for c.i < len(c.s) {
		b := c.s[c.i]
		c.i++
		if b == '"' {
			return out.String()
		}
		if b == '\\' {
			b = c.escape()
		}
		if c.bad {
			return ""
		}
		out.WriteByte(b)
	}
	c.bad = true
	return ""
}

// escape reads what follows a backslash: a letter where there is one for the byte,
// else u00 and two small hexadecimal digits for a control character.
func (c *cursor) escape() byte {
	const short, means = `"\bfnrt`, "\"\\\b\f\n\r\t"
	if c.i >= len(c.s) {
		c.bad = true
		return 0
	}
	b := c.s[c.i]
	c.i++
	if at := strings.IndexByte(short, b); at >= 0 {
		return means[at]
	}
	const digits = "0123456789abcdef"
	if b != 'u' || len(c.s)-c.i < 4 || c.s[c.i:c.i+2] != "00" || c.s[c.i+2] > '1' {
		c.bad = true
		return 0
	}
	high, low := strings.IndexByte(digits, c.s[c.i+2]), strings.IndexByte(digits, c.s[c.i+3])
	c.i += 4
	code := high<<4 | low
	if high < 0 || low < 0 || strings.IndexByte(means, byte(code)) >= 0 {
		c.bad = true
		return 0
	}
	return byte(code)
}

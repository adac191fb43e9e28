package k8s

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"quartermaster/internal/fault"
)

// MaxDump bounds a file of objects, in bytes; what is larger is refused unread.
const MaxDump = 8 << 20

// chunk is one document of a file: its text and the line where it begins.
type chunk struct {
	text string
	line int
}

// plainText makes a file UTF-8 with plain line ends. Windows shells write UTF-16
// and CRLF when output is redirected, editors there add byte order marks.
func plainText(file []byte) (string, error) {
	if len(file) > MaxDump {
		return "", fault.Newf(fault.Invalid, "The file holds %d bytes. At most %d MiB are read: split it.", len(file), MaxDump>>20).At("file", "It is too large.")
	}
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xfe")):
		file = fromUTF16(file[2:], binary.LittleEndian)
	case bytes.HasPrefix(file, []byte("\xfe\xff")):
		file = fromUTF16(file[2:], binary.BigEndian)
	}
	text := strings.TrimPrefix(string(file), "\xef\xbb\xbf")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", fault.New(fault.Invalid, "The file is no text in UTF-8.").At("file", "Choose a file of YAML or JSON.")
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

func fromUTF16(file []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(file)/2)
	for ; len(file) >= 2; file = file[2:] {
		units = append(units, order.Uint16(file))
	}
	return []byte(string(utf16.Decode(units)))
}

// splitDocuments cuts at the lines that begin with ---, before anything is parsed:
// one bad document then costs none of the others. What holds only comments and
// directives is no document.
func splitDocuments(text string) []chunk {
	var out []chunk
	at := chunk{line: 1}
	var lines []string
	flush := func(next int) {
		for _, l := range lines {
			if l = strings.TrimSpace(l); l != "" && l[0] != '#' && l[0] != '%' {
				at.text = strings.Join(lines, "\n")
				out = append(out, at)
				break
			}
		}
		at, lines = chunk{line: next}, nil
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		rest, cut := strings.CutPrefix(line, "---")
		switch {
		case cut && (rest == "" || rest[0] == ' ' || rest[0] == '\t'):
			flush(n)
			lines = append(lines, rest)
		case strings.TrimRight(line, " \t") == "...":
			flush(n + 1)
		case strings.HasPrefix(line, "%"):
			lines = append(lines, "")
		default:
			lines = append(lines, line)
		}
	}
	flush(n + 1)
	return out
}

package export_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/export"
)

func row(t *testing.T, cells ...string) string {
	t.Helper()
	var b bytes.Buffer
	c := export.NewCSV(&b)
	require.NoError(t, c.Row(cells...))
	require.NoError(t, c.Flush())
	return b.String()
}

// Whatever begins like a formula is text; negative numbers stay numbers.
func TestFormulaCellsAreNeutralised(t *testing.T) {
	for in, want := range map[string]string{
		"=cmd|' /C calc'!A0": `"'=cmd|' /C calc'!A0"`,
		"+1+1":               `"'+1+1"`,
		"+4":                 `"'+4"`,
		"@x":                 `"'@x"`,
		"-2+3+cmd":           `"'-2+3+cmd"`,
		"\t=1":               "\"'\t=1\"",
		"\r=1":               "\"'\r=1\"",
		"-team":              `"'-team"`,
		"-":                  `"'-"`,
		"--4":                `"'--4"`,
		"-4.":                `"'-4."`,
		"-.5":                `"'-.5"`,
		"-1e3":               `"'-1e3"`,
		"-4":                 "-4",
		"-4.25":              "-4.25",
		"-0":                 "-0",
		"4":                  "4",
		"a=b":                "a=b",
		"'=1":                "'=1",
		"":                   "",
	} {
		assert.Equal(t, want+"\r\n", row(t, in), "%q", in)
	}
}

func TestCellsAreQuotedAsRFC4180Says(t *testing.T) {
	assert.Equal(t, "a,\"b,c\",\"say \"\"x\"\"\",\"two\r\nlines\",\" pad \"\r\n", row(t, "a", "b,c", `say "x"`, "two\r\nlines", " pad "))
	assert.Equal(t, "R&D,Équipe,\uFFFD\r\n", row(t, "R&D", "Équipe", "\xff"))
}

// What another reader reads is what was written, save for the apostrophe and for
// line ends, which that reader folds.
func TestAnotherReaderReadsItBack(t *testing.T) {
	cells := []string{"x", `a"b`, "1,5", "line\nend", "=1"}
	got, err := csv.NewReader(strings.NewReader(row(t, cells...))).Read()
	require.NoError(t, err)
	assert.Equal(t, []string{"x", `a"b`, "1,5", "line\nend", "'=1"}, got)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestAnErrorOfTheWriterStays(t *testing.T) {
	c := export.NewCSV(broken{})
	var err error
	for range 10_000 {
		if err = c.Row(strings.Repeat("x", 100)); err != nil {
			break
		}
	}
	require.Error(t, err)
	require.Error(t, c.Flush())
}

func TestTimesAreRFC3339UTC(t *testing.T) {
	at := time.Date(2026, 12, 2, 15, 0, 0, 120000000, time.FixedZone("CET", 3600))
	assert.Equal(t, "2026-12-02T14:00:00.12Z", export.Time(at))
	assert.Empty(t, export.Time(time.Time{}))
}

func FuzzRowsStayRows(f *testing.F) {
	for _, s := range []string{"a", "=1", "\"", "\r\n", ",", "-4", "\x00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var out bytes.Buffer
		c := export.NewCSV(&out)
		_ = c.Row(a, b, "end")
		_ = c.Flush()
		r := csv.NewReader(&out)
		got, err := r.Read()
		require.NoError(t, err)
		require.Len(t, got, 3)
		_, err = r.Read()
		require.ErrorIs(t, err, io.EOF)
	})
}

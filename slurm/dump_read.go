package slurm

import (
	"fmt"
	"strings"

	"quartermaster/internal/fault"
)

// Dump is a file of "sacctmgr dump": QOS, one cluster, its accounts and their users.
// Write gives it back as it was read, but for comments and blank lines.
type Dump struct {
	Lines []DumpLine
	// Problems name the lines that could not be read; nothing of such a line is in Lines.
	Problems []LineError
}

// DumpLine is one record, such as Account - 'lab-a':GrpTRES=gres/gpu=4.
type DumpLine struct {
	Line    int
	Kind    string // QOS, Cluster, Parent, Account, User
	Name    string
	Parent  string // of an Account or User: the Parent line it stands under
	Options []DumpOption
}

// DumpOption is one of a record's options, in the file's order. Value is without its quotes.
type DumpOption struct {
	Name, Value string
	Quoted      bool
}

// Option returns the value of an option by its full name.
func (l DumpLine) Option(name string) (string, bool) {
	for _, o := range l.Options {
		if optionName(o.Name) == name {
			return o.Value, true
		}
	}
	return "", false
}

// TRES reads an option that holds a TRES list.
func (l DumpLine) TRES(name string) ([]tres, error) {
	text, _ := l.Option(name)
	return readTRES(text)
}

// options are the names the program knows, and what their values are.
var options = map[string]optionKind{
	"GrpTRES": isTRES, "GrpTRESMins": isTRES, "GrpTRESRunMins": isTRES, "MaxTRESPerJob": isTRES, "MaxTRESPerNode": isTRES, "MaxTRESMinsPerJob": isTRES,
	"MaxTRESPerUser": isTRES, "MaxTRESPerAccount": isTRES, "MinTRESPerJob": isTRES, "MaxTRESRunMinsPerUser": isTRES, "MaxTRESRunMinsPerAccount": isTRES,
	"GrpJobs": isCount, "GrpJobsAccrue": isCount, "GrpSubmitJobs": isCount, "MaxJobs": isCount, "MaxJobsAccrue": isCount, "MaxSubmitJobs": isCount,
	"MaxJobsPerUser": isCount, "MaxSubmitJobsPerUser": isCount, "Fairshare": isCount, "Priority": isCount, "GraceTime": isCount,
	"GrpWall": isSpan, "MaxWallDurationPerJob": isSpan,
	"Description": isText, "Organization": isText, "QOS": isText, "DefaultQOS": isText, "Classification": isText, "DefaultAccount": isText, "AdminLevel": isText,
	"Coordinator": isText, "Partition": isText, "Flags": isText, "UsageFactor": isText, "Comment": isText, "DefaultWCKey": isText, "WCKeys": isText,
}

type optionKind int

const (
	isText optionKind = iota
	isTRES
	isCount
	isSpan
)

// optionName completes an abbreviation, as sacctmgr does: GrpJob is GrpJobs. "" when
// no option or more than one begins like that.
func optionName(name string) string {
	found := ""
	for full := range options {
		switch {
		case strings.EqualFold(full, name):
			return full
		case len(name) >= 4 && len(full) > len(name) && strings.EqualFold(full[:len(name)], name):
			// GrpJob begins GrpJobs and GrpJobsAccrue: the shortest is meant.
			if found == "" || len(full) < len(found) || len(full) == len(found) && full < found {
				found = full
			}
		}
	}
	return found
}

// ReadDump reads the file. A line that cannot be read is refused as a whole and named.
func ReadDump(file string) Dump {
	var d Dump
	parent := ""
	for i, line := range strings.Split(strings.TrimPrefix(file, "\ufeff"), "\n") {
		line = strings.TrimRight(line, "\r")
		if bare := strings.TrimSpace(line); bare == "" || strings.HasPrefix(bare, "#") {
			continue
		}
		l, err := readDumpLine(line)
		if err != nil {
			d.Problems = append(d.Problems, LineError{i + 1, fault.As(err).Public})
			continue
		}
		l.Line = i + 1
		switch l.Kind {
		case "Parent":
			parent = l.Name
		case "Account", "User":
			l.Parent = parent
		}
		d.Lines = append(d.Lines, l)
	}
	return d
}

func readDumpLine(line string) (DumpLine, error) {
	kind, rest, ok := strings.Cut(line, " - ")
	kind = strings.TrimSpace(kind)
	if !ok {
		return DumpLine{}, fault.New(fault.Invalid, "No record: it begins with a kind, a hyphen and a name.")
	}
	switch kind {
	case "QOS", "Cluster", "Parent", "Account", "User":
	default:
		return DumpLine{}, fault.Newf(fault.Invalid, "%q is no kind of record.", kind)
	}
	parts, err := splitQuoted(rest)
	if err != nil {
		return DumpLine{}, err
	}
	name, _ := unquote(strings.TrimSpace(parts[0]))
	if name == "" {
		return DumpLine{}, fault.New(fault.Invalid, "The record has no name.")
	}
	l := DumpLine{Kind: kind, Name: name}
	for _, p := range parts[1:] {
		if p == "" && len(parts) == 2 {
			// Cluster - 'name': says nothing more; the colon is written back.
			l.Options = append(l.Options, DumpOption{})
			continue
		}
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return DumpLine{}, fault.Newf(fault.Invalid, "%q is no option: write Name=value.", p)
		}
		o := DumpOption{Name: key}
		o.Value, o.Quoted = unquote(value)
		if err := o.check(); err != nil {
			return DumpLine{}, err
		}
		l.Options = append(l.Options, o)
	}
	return l, nil
}

// check refuses an option that nobody knows and a value that is not of its kind.
func (o DumpOption) check() error {
	full := optionName(o.Name)
	if full == "" {
		return fault.Newf(fault.Invalid, "%q is no option that is known.", o.Name)
	}
	var err error
	switch options[full] {
	case isTRES:
		_, err = readTRES(o.Value)
	case isCount:
		if !unlimited(o.Value) {
			_, err = readCount(o.Value)
		}
	case isSpan:
		_, err = readSpan(o.Value)
	}
	if err != nil {
		return fault.Newf(fault.Invalid, "%s: %s", o.Name, fault.As(err).Public)
	}
	return nil
}

// splitQuoted splits at the colons that separate options: not those in quotes, and not
// the one of a typed TRES, which no Name= follows.
func splitQuoted(text string) ([]string, error) {
	var out []string
	quoted, from := false, 0
	for i := range len(text) {
		switch text[i] {
		case '\'':
			quoted = !quoted
		case ':':
			if !quoted && startsOption(text[i+1:]) {
				out, from = append(out, text[from:i]), i+1
			}
		}
	}
	if quoted {
		return nil, fault.New(fault.Invalid, "A quote is not closed.")
	}
	return append(out, text[from:]), nil
}

// startsOption: letters up to an equals sign, or the end of the line. A GRES type that
// consists of letters alone (gres/gpu:volta=4) is told apart by the name being no option.
func startsOption(rest string) bool {
	if rest == "" {
		return true
	}
	name, _, ok := strings.Cut(rest, "=")
	if !ok || name == "" {
		return false
	}
	return optionName(name) != "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == "" && name[0] >= 'A' && name[0] <= 'Z'
}

func unquote(text string) (string, bool) {
	if len(text) >= 2 && text[0] == '\'' && text[len(text)-1] == '\'' {
		return text[1 : len(text)-1], true
	}
	return text, false
}

// Write gives the file's records as sacctmgr writes them.
func (d Dump) Write() string {
	var out strings.Builder
	for _, l := range d.Lines {
		fmt.Fprintf(&out, "%s - '%s'", l.Kind, l.Name)
		for _, o := range l.Options {
			switch {
			case o.Name == "":
				out.WriteByte(':')
			case o.Quoted:
				fmt.Fprintf(&out, ":%s='%s'", o.Name, o.Value)
			default:
				fmt.Fprintf(&out, ":%s=%s", o.Name, o.Value)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

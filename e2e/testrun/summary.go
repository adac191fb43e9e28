package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`, see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a package that does not build
	Test        string
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// summary counts tests and keeps the output of those that have not passed.
type summary struct {
	out            io.Writer
	passed, failed int
	packages       map[string]*result
	builds         map[string]string // compiler output by import path
}

// result is one package: counts, and output by test ("" is the package's own).
type result struct {
	passed, failed int
	output         map[string]*strings.Builder
	order          []string
	bad            []string // tests that failed or were skipped
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, packages: map[string]*result{}, builds: map[string]string{}}
}

func (s *summary) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				s.add(e)
			} else {
				s.out.Write(line) // what go says outside the protocol
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) add(e event) {
	if e.Action == "build-output" {
		s.builds[e.ImportPath] += e.Output
		return
	}
	if e.Package == "" {
		return
	}
	r := s.packages[e.Package]
	if r == nil {
		r = &result{output: map[string]*strings.Builder{}}
		s.packages[e.Package] = r
	}
	switch e.Action {
	case "output":
		r.keep(e.Test, e.Output)
	case "pass":
		if e.Test == "" {
			s.close(e, r)
			return
		}
		r.passed++
		delete(r.output, e.Test)
	case "fail", "skip":
		if e.Test == "" {
			s.close(e, r)
			return
		}
		r.failed++
		r.bad = append(r.bad, e.Test+" ("+e.Action+")")
	}
}

func (r *result) keep(test, output string) {
	b := r.output[test]
	if b == nil {
		b = &strings.Builder{}
		r.output[test] = b
		r.order = append(r.order, test)
	}
	b.WriteString(output)
}

// close prints a package that has ended. A package-wide "skip" has no tests.
func (s *summary) close(e event, r *result) {
	delete(s.packages, e.Package)
	if e.Action == "fail" && r.failed == 0 {
		r.failed = 1 // it did not build, panicked outside a test, or was cut short
		r.bad = append(r.bad, "the package itself")
	}
	s.passed += r.passed
	s.failed += r.failed
	switch {
	case r.failed > 0:
		fmt.Fprintf(s.out, "FAIL %s: %s\n", e.Package, strings.Join(r.bad, ", "))
		s.tell(s.builds[e.FailedBuild])
		for _, test := range r.order {
			if b := r.output[test]; b != nil {
				s.tell(b.String())
			}
		}
	case r.passed > 0:
		fmt.Fprintf(s.out, "ok   %s: %d passed in %.1f s\n", e.Package, r.passed, e.Elapsed)
	}
}

func (s *summary) tell(output string) {
	for line := range strings.Lines(output) {
		fmt.Fprintf(s.out, "     %s\n", strings.TrimRight(line, "\n"))
	}
}

// finish prints the one last line and says whether all went well.
func (s *summary) finish(exitedWell bool) bool {
	for name, r := range s.packages { // go test ended before these
		s.close(event{Action: "fail", Package: name}, r)
	}
	if !exitedWell && s.failed == 0 {
		fmt.Fprintln(s.out, "FAIL go test itself")
		s.failed = 1
	}
	if s.passed == 0 && s.failed == 0 {
		fmt.Fprintln(s.out, "FAIL there was no test to run")
		s.failed = 1
	}
	fmt.Fprintf(s.out, "%d passed, %d failed\n", s.passed, s.failed)
	return s.failed == 0
}

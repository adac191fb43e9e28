package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process is one line of /proc.
type process struct {
	pid, parent int
	name        string
}

// processes reads /proc; whoever ended meanwhile is left out.
func processes() []process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var out []process
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// pid (name) state ppid …; the name may hold spaces and brackets (proc(5)).
		text := string(raw)
		open, closing := strings.Index(text, "("), strings.LastIndex(text, ")")
		fields := strings.Fields(text[closing+1:])
		if open < 0 || len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(text[:open]))
		parent, _ := strconv.Atoi(fields[1])
		out = append(out, process{pid, parent, text[open+1 : closing]})
	}
	return out
}

// children are the processes that this one started and that still run.
func children() []string {
	var out []string
	for _, p := range processes() {
		// The tests' own database server ends by itself with this process (dbtest).
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
		if p.parent == os.Getpid() && !strings.HasPrefix(cwd, filepath.Join(os.TempDir(), "quartermaster-test-")) {
			out = append(out, fmt.Sprintf("%s (%d)", p.name, p.pid))
		}
	}
	return out
}

// postgresOf are the servers that run on a data directory below dir, whoever their parent is.
func postgresOf(dir string) []int {
	var out []int
	for _, p := range processes() {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
		if err == nil && p.name == "postgres" && strings.HasPrefix(cwd, dir+"/") {
			out = append(out, p.pid)
		}
	}
	return out
}

package slurm

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"quartermaster/internal/fault"
)

// facts are what the controller says of itself.
type facts struct {
	name       string // ClusterName
	version    string
	accounting string   // slurmdbd's host:port
	tres       []string // AccountingStorageTRES
	enforces   []string // AccountingStorageEnforce
}

// tracks reports whether Slurm counts a TRES: only then can it be limited.
func (f facts) tracks(tres string) bool {
	for _, t := range f.tres {
		if strings.EqualFold(t, tres) {
			return true
		}
	}
	return false
}

// limits reports whether Slurm enforces limits of associations at all. safe and all
// imply it (slurm.conf(5), AccountingStorageEnforce).
func (f facts) limits() bool {
	for _, e := range f.enforces {
		switch strings.ToLower(e) {
		case "limits", "safe", "all":
			return true
		}
	}
	return false
}

// readFacts reads "scontrol show config".
func readFacts(text string, address Address) (facts, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	f := facts{name: values["ClusterName"], version: values["SLURM_VERSION"], tres: list(values["AccountingStorageTRES"]), enforces: list(values["AccountingStorageEnforce"])}
	if f.name == "" || f.version == "" {
		return f, fault.New(fault.Unavailable, "The controller answered, but not with its configuration.")
	}
	if !accountName.MatchString(strings.ToLower(f.name)) {
		return f, fault.New(fault.Invalid, "The cluster's name has characters that no command can be given.")
	}
	host, port := values["AccountingStorageHost"], values["AccountingStoragePort"]
	if !strings.Contains(values["AccountingStorageType"], "slurmdbd") {
		return f, fault.New(fault.Invalid, "This Slurm keeps no accounts: AccountingStorageType is not accounting_storage/slurmdbd, so there are no limits to set.")
	}
	if address.Accounting != "" {
		f.accounting = address.Accounting
		return f, nil
	}
	// As the controller sees it; seen from here its own loopback is the controller's host.
	if host == "localhost" || strings.HasPrefix(host, "127.") {
		host, _, _ = net.SplitHostPort(address.Controller)
	}
	if !hostName.MatchString(host) {
		return f, fault.New(fault.Invalid, "The controller does not name its accounting daemon. Give its address after a comma: controller:6817,accounting:6819.")
	}
	f.accounting = net.JoinHostPort(host, port)
	return f, nil
}

func list(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" && !absent(part) {
			out = append(out, part)
		}
	}
	return out
}

// writeConfig generates the slurm.conf that the commands are given. It holds
// addresses and no secret, so that whoever the commands run as may read it.
func (c *Cluster) writeConfig(f facts) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "quartermaster-slurm-")
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
		c.dir = dir
	}
	host, port, err := net.SplitHostPort(c.address.Controller)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "ClusterName=%s\nSlurmctldHost=controller(%s)\nSlurmctldPort=%s\n", orElse(f.name, "unknown"), host, port)
	text.WriteString("AuthType=auth/munge\nAuthAltTypes=auth/jwt\nMessageTimeout=10\n")
	if f.accounting != "" {
		host, port, err := net.SplitHostPort(f.accounting)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=%s\nAccountingStoragePort=%s\n", host, port)
	}
	next := filepath.Join(c.dir, "next.conf")
	if err := os.WriteFile(next, []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(c.dir, "slurm.conf"))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

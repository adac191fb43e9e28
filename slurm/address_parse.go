package slurm

import (
	"net"
	"regexp"
	"strconv"
	"strings"

	"quartermaster/internal/fault"
)

// Address is where the daemons listen. Accounting is "" where the controller names it.
type Address struct{ Controller, Accounting string }

// hostName is what may stand in the generated slurm.conf as a host: a DNS name or an IPv4 address.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)

// ParseAddress reads "controller:6817" or "controller:6817,accounting:6819".
func ParseAddress(text string) (Address, error) {
	var a Address
	parts := strings.Split(text, ",")
	if len(parts) > 2 {
		return a, fault.New(fault.Invalid, "Write at most two addresses: slurmctld's and slurmdbd's.")
	}
	for i, part := range parts {
		part = strings.TrimSpace(part)
		host, port, err := net.SplitHostPort(part)
		n, bad := strconv.ParseUint(port, 10, 16)
		if err != nil || bad != nil || n == 0 || !hostName.MatchString(host) {
			return a, fault.New(fault.Invalid, "Write the controller's host and port, such as slurm.example.org:6817; after a comma those of the accounting daemon, where it is elsewhere.")
		}
		if i == 0 {
			a.Controller = part
		} else {
			a.Accounting = part
		}
	}
	return a, nil
}

// String is the text that ParseAddress reads.
func (a Address) String() string {
	if a.Accounting == "" {
		return a.Controller
	}
	return a.Controller + "," + a.Accounting
}

package slurm

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is one user of the operating system that plays a part.
type account struct {
	name     string
	uid, gid int
}

// users are who runs what. As root each daemon and person has a user of their own,
// from those that every Debian has; otherwise all are whoever runs the tests.
type users struct {
	slurm, munge, rest, portal account
	submitters                 []account
}

func findUsers() (users, error) {
	if os.Geteuid() != 0 {
		self, err := user.Current()
		if err != nil {
			return users{}, err
		}
		a, err := find(self.Username)
		return users{a, a, a, a, []account{a, a}}, err
	}
	var found []account
	for _, name := range []string{"slurm", "munge", "nobody", "www-data", "games", "news"} {
		a, err := find(name)
		if err != nil {
			return users{}, fmt.Errorf("%w: scripts/setup.sh test installs what makes it", err)
		}
		found = append(found, a)
	}
	return users{found[0], found[1], found[2], found[3], found[4:]}, nil
}

func find(name string) (account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return account{u.Username, uid, gid}, err
}

// attributes make a child run as a, in a group of its own so that Ctrl-C stays with the tests.
func (a account) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if a.uid != os.Geteuid() {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}

// root is who runs slurmd, which starts jobs as their submitters.
func root() account { return account{"root", os.Geteuid(), os.Getegid()} }

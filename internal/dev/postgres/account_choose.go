package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is who the server runs as. PostgreSQL refuses to run as root, so root
// becomes somebody else; everybody else stays who they are.
type account struct {
	name     string
	uid, gid int
	dropped  bool
}

// firstExtra is the number that the first of exec.Cmd.ExtraFiles gets.
const firstExtra = 3

// accountFor picks the owner of existing data, else, for root, the first of
// the accounts postgres and nobody that exists.
func accountFor(data string) (account, error) {
	self := account{uid: os.Geteuid(), gid: os.Getegid()}
	info, err := os.Stat(data)
	switch {
	case err == nil:
		owner := info.Sys().(*syscall.Stat_t)
		uid, gid := int(owner.Uid), int(owner.Gid)
		if self.uid == uid && uid != 0 {
			return self, nil
		}
		if self.uid != 0 || uid == 0 {
			return self, fmt.Errorf("%s belongs to user id %d and you are %d: start as its owner (never root), or use another directory", data, uid, self.uid)
		}
		return account{name: "user id " + strconv.Itoa(uid), uid: uid, gid: gid, dropped: true}, nil
	case !errors.Is(err, os.ErrNotExist):
		return self, err
	}
	if self.uid != 0 {
		return self, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return dropTo(u)
		}
	}
	return self, errors.New("PostgreSQL does not run as root and there is neither a user postgres nor nobody: add one, or start as an ordinary user")
}

func dropTo(u *user.User) (account, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, fmt.Errorf("user %s: %w", u.Username, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return account{}, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return account{name: u.Username, uid: uid, gid: gid, dropped: true}, nil
}

func (a account) own(path string) error {
	if !a.dropped {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

func (a account) mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return a.own(path)
}

// credential is nil where nothing is dropped.
func (a account) credential() *syscall.Credential {
	if !a.dropped {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// blocked returns the first directory on the way to path that the account may
// not enter by its permission bits, or "".
func (a account) blocked(path string) string {
	if !a.dropped {
		return ""
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return dir
		}
		st, enter := info.Sys().(*syscall.Stat_t), os.FileMode(0o001)
		switch {
		case int(st.Uid) == a.uid:
			enter = 0o100
		case int(st.Gid) == a.gid:
			enter = 0o010
		}
		if info.Mode()&enter == 0 {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

package slurm

import (
	"context"
	"fmt"
	"net"
	"strings"
)

func (s *Slurm) startAll() error {
	steps := []func() error{s.startMunge, s.startDatabase, s.startAccounting, s.StartController, s.startNodes, s.startREST, s.addPortal}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Slurm) startMunge() error {
	err := s.run("munged", s.users.munge, nil, "munged", "--foreground", "--socket="+s.mungeSocket(), "--key-file="+s.path("etc", "munge.key"),
		"--pid-file="+s.path("munge", "munged.pid"), "--log-file="+s.path("munge", "munged.log"), "--seed-file="+s.path("munge", "munged.seed"))
	if err != nil {
		return err
	}
	return s.waitFor("munged", func(ctx context.Context) error {
		_, err := s.command(ctx, root(), nil, "munge", "-S", s.mungeSocket(), "-n")
		return err
	})
}

func (s *Slurm) startDatabase() error {
	socket := s.path("database", "socket")
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	if _, err := s.command(ctx, s.users.slurm, nil, "mariadb-install-db", "--no-defaults", "--datadir="+s.path("database", "data"),
		"--auth-root-authentication-method=normal", "--skip-test-db"); err != nil {
		return err
	}
	err := s.run("mariadbd", s.users.slurm, nil, "mariadbd", "--no-defaults", "--datadir="+s.path("database", "data"), "--socket="+socket,
		"--pid-file="+s.path("database", "pid"), "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", s.ports.database),
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0", "--performance-schema=OFF")
	if err != nil {
		return err
	}
	query := func(ctx context.Context, text string) error {
		_, err := s.command(ctx, s.users.slurm, nil, "mariadb", "--no-defaults", "--socket="+socket, "-u", "root", "-e", text)
		return err
	}
	if err := s.waitFor("mariadbd", func(ctx context.Context) error { return query(ctx, "SELECT 1") }); err != nil {
		return err
	}
	var grants strings.Builder
	grants.WriteString("CREATE DATABASE slurm_acct_db;")
	for _, host := range []string{"127.0.0.1", "localhost"} {
		fmt.Fprintf(&grants, "CREATE USER slurm@'%s' IDENTIFIED BY '%s'; GRANT ALL ON slurm_acct_db.* TO slurm@'%[1]s';", host, storagePassword)
	}
	return query(ctx, grants.String())
}

func (s *Slurm) startAccounting() error {
	if err := s.run("slurmdbd", s.users.slurm, nil, "slurmdbd", "-D"); err != nil {
		return err
	}
	if err := s.waitFor("slurmdbd", func(ctx context.Context) error {
		_, err := s.command(ctx, s.users.slurm, nil, "sacctmgr", "-nP", "show", "cluster")
		return err
	}); err != nil {
		return err
	}
	return s.admin("sacctmgr", "-i", "add", "cluster", Name)
}

// StartController starts slurmctld, again after StopController, and waits until it answers.
func (s *Slurm) StartController() error {
	if err := s.run("slurmctld", s.users.slurm, nil, "slurmctld", "-D", "-i"); err != nil {
		return err
	}
	return s.waitFor("slurmctld", func(ctx context.Context) error {
		out, err := s.command(ctx, s.users.slurm, nil, "scontrol", "ping")
		if err == nil && !strings.Contains(out, "UP") {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
}

// StopController ends slurmctld: what is left answers nothing.
func (s *Slurm) StopController() { s.running["slurmctld"].end() }

func (s *Slurm) startNodes() error {
	for i := range Types {
		if err := s.run("slurmd-"+node(i), root(), nil, "slurmd", "-D", "-N", node(i)); err != nil {
			return err
		}
	}
	return s.waitFor("slurmd-"+node(0), func(ctx context.Context) error {
		out, err := s.command(ctx, s.users.slurm, nil, "sinfo", "-h", "-N", "-p", "gpu", "-o", "%T")
		if err == nil && strings.Count(out, "idle") != len(Types) {
			err = fmt.Errorf("nodes: %s", strings.Fields(out))
		}
		return err
	})
}

func (s *Slurm) startREST() error {
	if err := s.run("slurmrestd", s.users.rest, []string{"SLURM_JWT=daemon"}, "slurmrestd", "-a", "rest_auth/jwt", address(s.ports.rest)); err != nil {
		return err
	}
	return s.waitFor("slurmrestd", func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address(s.ports.rest))
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// addPortal gives the portal's user the rights that docs/operations.md asks for and no others.
func (s *Slurm) addPortal() error {
	return s.admin("sacctmgr", "-i", "add", "user", s.Portal(), "account=root", "adminlevel=Operator")
}

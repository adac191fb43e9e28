package slurm

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// writeConfig lays out the directory: keys, devices, and one configuration for all daemons.
func (s *Slurm) writeConfig() error {
	if err := os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	u := s.users
	for _, d := range []struct {
		name  string
		owner account
	}{{"etc", root()}, {"log", u.slurm}, {"munge", u.munge}, {"state", u.slurm}, {"database", u.slurm}, {"devices", root()}, {"jobs", root()}, {"spool", root()}} {
		if err := os.Mkdir(s.path(d.name), 0o755); err != nil {
			return err
		}
		if err := os.Chown(s.path(d.name), d.owner.uid, d.owner.gid); err != nil {
			return err
		}
	}
	if err := os.Chmod(s.path("jobs"), 0o777); err != nil {
		return err
	}
	// slurmd only insists that File= names devices; these are all /dev/null.
	for i := range GPUs {
		if err := os.Symlink("/dev/null", s.path("devices", fmt.Sprintf("nvidia%d", i))); err != nil {
			return err
		}
	}
	if err := s.writeKey("munge.key", 128, u.munge); err != nil {
		return err
	}
	if err := s.writeKey("jwt.key", 32, u.slurm); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, ".")
	for name, text := range map[string]string{"slurm.conf": s.controllerConfig(host), "gres.conf": s.gresConfig(), "slurmdbd.conf": s.accountingConfig()} {
		if err := s.writeFile(name, text, u.slurm, map[bool]os.FileMode{true: 0o600, false: 0o644}[name == "slurmdbd.conf"]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Slurm) writeKey(name string, length int, owner account) error {
	key := make([]byte, length)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	return s.writeFile(name, string(key), owner, 0o400)
}

func (s *Slurm) writeFile(name, text string, owner account, mode os.FileMode) error {
	if err := os.WriteFile(s.path("etc", name), []byte(text), mode); err != nil {
		return err
	}
	return os.Chown(s.path("etc", name), owner.uid, owner.gid)
}

// controllerConfig claims more processors than this machine has, tracks processes
// without cgroups, and schedules every second so that tests need not wait.
func (s *Slurm) controllerConfig(host string) string {
	var c strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&c, format+"\n", args...) }
	put("ClusterName=%s", Name)
	put("SlurmctldHost=%s(127.0.0.1)", host)
	put("SlurmctldPort=%d", s.ports.controller)
	put("SlurmUser=%s", s.users.slurm.name)
	put("SlurmdUser=%s", map[bool]string{true: "root", false: s.users.slurm.name}[os.Geteuid() == 0])
	put("AuthType=auth/munge")
	put("CredType=cred/munge")
	put("AuthInfo=socket=%s", s.mungeSocket())
	put("AuthAltTypes=auth/jwt")
	put("AuthAltParameters=jwt_key=%s", s.path("etc", "jwt.key"))
	put("StateSaveLocation=%s", s.path("state"))
	put("SlurmdSpoolDir=%s", s.path("spool", "%n"))
	put("SlurmctldPidFile=%s", s.path("state", "slurmctld.pid"))
	put("SlurmdPidFile=%s", s.path("spool", "%n.pid"))
	put("SlurmctldLogFile=%s", s.path("log", "slurmctld.log"))
	put("SlurmdLogFile=%s", s.path("log", "slurmd-%n.log"))
	put("ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\nMpiDefault=none\nSwitchType=switch/none")
	put("ReturnToService=2\nSlurmdParameters=config_overrides\nKillWait=2\nMinJobAge=300\nInactiveLimit=0")
	put("SchedulerType=sched/backfill\nSchedulerParameters=sched_interval=1,bf_interval=1")
	put("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nPriorityType=priority/basic")
	put("AccountingStorageType=accounting_storage/slurmdbd")
	put("AccountingStorageHost=127.0.0.1\nAccountingStoragePort=%d\nAccountingStoragePass=%s", s.ports.accounting, s.mungeSocket())
	put("AccountingStorageTRES=gres/gpu,gres/gpu:%s", strings.Join(Types, ",gres/gpu:"))
	put("AccountingStorageEnforce=associations,limits,qos")
	put("GresTypes=gpu")
	put("NodeName=DEFAULT CPUs=64 Sockets=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN")
	for i, kind := range Types {
		put("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d Gres=gpu:%s:%d", node(i), host, s.ports.nodes[i], kind, GPUs)
	}
	put("PartitionName=gpu Nodes=ALL Default=YES MaxTime=7-00:00:00 DefaultTime=01:00:00 State=UP")
	put("PartitionName=big Nodes=%s MaxTime=1-00:00:00 State=UP", node(len(Types)-1))
	return c.String()
}

func (s *Slurm) gresConfig() string {
	var c strings.Builder
	for i, kind := range Types {
		fmt.Fprintf(&c, "NodeName=%s Name=gpu Type=%s File=%s\n", node(i), kind, s.path("devices", fmt.Sprintf("nvidia[0-%d]", GPUs-1)))
	}
	return c.String()
}

func (s *Slurm) accountingConfig() string {
	return strings.Join([]string{
		"DbdHost=localhost", "DbdAddr=127.0.0.1", fmt.Sprintf("DbdPort=%d", s.ports.accounting), "SlurmUser=" + s.users.slurm.name,
		"AuthType=auth/munge", "AuthInfo=socket=" + s.mungeSocket(), "AuthAltTypes=auth/jwt", "AuthAltParameters=jwt_key=" + s.path("etc", "jwt.key"),
		"StorageType=accounting_storage/mysql", "StorageHost=127.0.0.1", fmt.Sprintf("StoragePort=%d", s.ports.database),
		"StorageUser=slurm", "StoragePass=" + storagePassword, "StorageLoc=slurm_acct_db",
		"LogFile=" + s.path("log", "slurmdbd.log"), "PidFile=" + s.path("state", "slurmdbd.pid"), "",
	}, "\n")
}

// storagePassword opens a database that exists for one test on loopback.
const storagePassword = "only-for-tests"

func node(i int) string { return fmt.Sprintf("gpu%d", i+1) }

func (s *Slurm) mungeSocket() string { return s.path("munge", "munge.socket") }

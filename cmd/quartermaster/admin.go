package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"quartermaster/db"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

func migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database schema to this program's version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			if cfg.Database.Migrate == "" {
				return errors.New("database.migrate: the PostgreSQL address of the role that owns the schema")
			}
			if err := db.Migrate(cmd.Context(), string(cfg.Database.Migrate)); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "schema is current")
			return makeRoles(cmd, cfg.Database)
		},
	}
}

// operator is whoever sits at the command line: named by the operating system, and
// without a role of the portal. Use cases let it do only what an operator may.
func operator() portal.Actor {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return portal.Actor{System: "operator:" + name, Via: "cli"}
}

// withPortal runs fn with the use cases wired to the configured database.
func withPortal(cmd *cobra.Command, fn func(p *portal.Portal) error) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	if cfg.Database.App == "" || cfg.KeyFile == "" {
		return errors.New("database.app and key_file are needed; see quartermaster config")
	}
	ring, err := loadRing(cfg.KeyFile)
	if err != nil {
		return err
	}
	_, p, closeAll, err := newPortal(cmd.Context(), cfg, ring, nil, newLogger(cfg.Log, os.Stderr))
	if err != nil {
		return err
	}
	defer closeAll()
	return fn(p)
}

func importCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make the organisation what a file says: teams, projects, people, roles, clusters, pools, routes",
		Long:  "Make the organisation what a file says. Running it again changes nothing; what the file no longer names stays. The difference and who applied it go on record.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			o, err := parseOrganisation(raw, cfg.Identity.Issuer)
			if err != nil {
				return err
			}
			return withPortal(cmd, func(p *portal.Portal) error {
				diff, err := p.ImportOrg(cmd.Context(), operator(), o, dryRun)
				if err != nil {
					return err
				}
				return printDiff(cmd.OutOrStdout(), diff, dryRun)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the difference and change nothing")
	return cmd
}

// parseOrganisation reads a file; people without an issuer are those of the configured provider.
func parseOrganisation(raw []byte, issuer string) (portal.Organisation, error) {
	o, err := portal.ParseOrganisation(raw)
	for i := range o.People {
		if o.People[i].Issuer == "" {
			o.People[i].Issuer = issuer
		}
	}
	return o, err
}

func printDiff(w io.Writer, d portal.OrgDiff, dryRun bool) error {
	if d.Empty {
		_, err := fmt.Fprintln(w, "nothing to change")
		return err
	}
	for _, line := range d.Lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	if dryRun {
		_, err := fmt.Fprintf(w, "%d differences; nothing was changed\n", len(d.Lines))
		return err
	}
	_, err := fmt.Fprintf(w, "%d differences applied; organisation version %d\n", len(d.Lines), d.Version)
	return err
}

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "cluster", Short: "Connect and test clusters"}
	var in portal.ConnectInput
	var kind, caFile, tokenFile string
	var testOnly bool
	connect := &cobra.Command{
		Use:   "connect NAME",
		Short: "Connect a Kubernetes or Slurm cluster, in mode observe",
		Long:  "Connect a Kubernetes or Slurm cluster. It is asked who it is first; then it is kept in mode observe. The token is read from a file or from standard input (-), never from the command line.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name, in.Kind = args[0], fleet.Kind(kind)
			if caFile != "" {
				raw, err := os.ReadFile(caFile)
				if err != nil {
					return err
				}
				in.CA = string(raw)
			}
			token, err := readToken(cmd.InOrStdin(), tokenFile)
			if err != nil {
				return err
			}
			in.Token = token
			return withPortal(cmd, func(p *portal.Portal) error {
				do := p.ConnectCluster
				if testOnly {
					do = p.TestConnection
				}
				found, err := do(cmd.Context(), operator(), in)
				if err != nil {
					return err
				}
				return printDiscovery(cmd.OutOrStdout(), found)
			})
		},
	}
	f := connect.Flags()
	f.StringVar(&in.ID, "id", "", "short name that stays; made from NAME when empty")
	f.StringVar(&kind, "kind", string(fleet.Kubernetes), "kubernetes or slurm")
	f.StringVar(&in.Server, "server", "", "https address of the API server; on Slurm slurmctld's host:port, and slurmdbd's after a comma where it is elsewhere")
	f.StringVar(&caFile, "ca-file", "", "PEM file of a Kubernetes cluster's CA; empty: the system's")
	f.StringVar(&tokenFile, "token-file", "-", "file with the service account's token, or that of the Slurm user; - reads standard input")
	f.BoolVar(&testOnly, "test", false, "only ask the cluster who it is; keep nothing")
	cmd.AddCommand(connect, importObjectsCommand())
	return cmd
}

func readToken(stdin io.Reader, file string) (string, error) {
	const limit = 64 << 10
	r := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		r = f
	}
	raw, err := io.ReadAll(io.LimitReader(r, limit))
	return string(raw), err
}

func printDiscovery(w io.Writer, t portal.Tested) error {
	d := t.Discovery
	fmt.Fprintf(w, "%s %s", d.Kind, d.Version)
	if d.Kind == fleet.Kubernetes {
		fmt.Fprintf(w, ", Kueue %s (%s)", orUnknown(d.KueueVersion), orUnknown(d.KueueAPI))
	}
	fmt.Fprintf(w, ", %d nodes, answered in %s\n", d.Nodes, t.Took.Round(1e6))
	for _, p := range d.Pools {
		fmt.Fprintf(w, "pool   %s: %s %s on %d nodes\n", p.Key, p.Capacity, p.Unit, p.Nodes)
	}
	for _, q := range d.Queues {
		owner := q.Owner
		if owner == "" {
			owner = fmt.Sprint(q.Managers)
		}
		for _, u := range q.Flavors {
			if d.Kind == fleet.Slurm {
				fmt.Fprintf(w, "limit  account %s %s: %s, used %s\n", q.Name, u.Pool, accountLimit(u), u.InUse)
				continue
			}
			fmt.Fprintf(w, "limit  ClusterQueue %s %s: %s, managed by %s\n", q.Name, u.Pool, u.Nominal, owner)
		}
	}
	for _, q := range d.Quotas {
		fmt.Fprintf(w, "limit  ResourceQuota %s/%s %s: %s, used %s\n", q.Namespace, q.Name, q.Key, q.Hard, q.Used)
	}
	for _, problem := range d.Problems {
		fmt.Fprintf(w, "note   %s\n", problem)
	}
	return nil
}

// accountLimit: an account without a limit is not held to 0.
func accountLimit(u fleet.FlavorUse) string {
	if u.Borrowing == nil {
		return "no limit"
	}
	return u.Nominal.String()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

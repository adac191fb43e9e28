package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/k8s"
)

func importObjectsCommand() *cobra.Command {
	var keep bool
	in := portal.ImportInput{Key: ""}
	cmd := &cobra.Command{
		Use:   "import-objects FILE",
		Short: "Compare a file of a cluster's objects with what is held, and keep it with --keep",
		Long:  "Read manifests, or what kubectl get -o yaml|json wrote, and print object by object what is new, changed, the same or refused. Nothing is kept without --keep; keeping goes on record. - reads standard input. Exit 2: objects were refused.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readObjects(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			in.FileName, in.File = filepath.Base(args[0]), file
			return withPortal(cmd, func(p *portal.Portal) error {
				do := p.PreviewImport
				if keep {
					do = p.KeepImport
				}
				r, err := do(cmd.Context(), operator(), in)
				if err != nil {
					return err
				}
				return printImport(cmd.OutOrStdout(), r)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.ClusterID, "cluster", "", "id of the cluster that the objects are of")
	f.StringVar(&in.Reason, "reason", "", "why it is kept; stands in the record")
	f.BoolVar(&keep, "keep", false, "keep the file, on record")
	_ = cmd.MarkFlagRequired("cluster")
	return cmd
}

// readObjects reads no more than a file may hold and a byte, so that what is too large is refused unread.
func readObjects(stdin io.Reader, name string) ([]byte, error) {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	return io.ReadAll(io.LimitReader(r, k8s.MaxDump+1))
}

func printImport(w io.Writer, r portal.ImportReport) error {
	for _, d := range r.Documents {
		if d.State == fleet.DocumentRead && d.Reason == "" {
			continue
		}
		fmt.Fprintf(w, "%-9s document %d, line %d: %s %s %s\n", d.State, d.Number, d.Line, d.APIVersion, d.Object, d.Reason)
	}
	for _, d := range r.Differences {
		fmt.Fprintf(w, "%-9s %s", d.State, d.Object)
		if d.Owner != "" {
			fmt.Fprintf(w, " (of %s)", d.Owner)
		}
		fmt.Fprintln(w)
		for _, f := range d.Fields {
			if f.Changed() && d.State != fleet.DifferenceSame {
				fmt.Fprintf(w, "          %s: %s → %s\n", f.Path, unset(f.Before), unset(f.After))
			}
		}
		for _, n := range d.Notes {
			fmt.Fprintf(w, "          note: %s\n", n)
		}
	}
	held := "nothing"
	if r.Held != "" {
		held = r.Held
	}
	fmt.Fprintf(w, "%d new, %d changed, %d same, %d refused; compared with %s\n", r.Count(fleet.DifferenceNew), r.Count(fleet.DifferenceChanged), r.Count(fleet.DifferenceSame), r.Refused(), held)
	if r.Entry != "" {
		fmt.Fprintf(w, "kept; ledger entry %s\n", r.Entry)
	} else {
		fmt.Fprintln(w, "nothing was kept; --keep keeps it")
	}
	if r.Refused() > 0 {
		return exitCode(2)
	}
	return nil
}

func unset(v *string) string {
	if v == nil {
		return "unset"
	}
	return *v
}

package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

// Exit codes of verify.
const (
	exitTampered   = exitCode(1)
	exitIncomplete = exitCode(2)
)

// most is how many problems are printed.
const most = 50

// verifyFlags are what the record is held against.
type verifyFlags struct {
	policy, since, receipt string
}

func verifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [BUNDLE.zip]",
		Short: "Derive the whole record anew and report each place where it was changed",
		Long: `Derive the whole record anew: digests, canonical form, links, tree and signatures. Of the configured
database it also compares every decision, grant and change row with its entry. Of a bundle or a receipt it
needs nothing but the file and the public keys you trust.

Exit 0: intact. 1: tampered. 2: incomplete, something could not be proven.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			trusted, err := f.trusted()
			if err != nil {
				return err
			}
			since, err := f.older(trusted)
			if err != nil {
				return err
			}
			switch {
			case f.receipt != "":
				return verifyReceipt(cmd.OutOrStdout(), f.receipt, trusted)
			case len(args) == 1:
				return verifyBundle(cmd.OutOrStdout(), args[0], trusted, since)
			}
			return withPortal(cmd, func(p *portal.Portal) error {
				r, err := p.VerifyRecord(cmd.Context(), portal.VerifyInput{Trusted: trusted, Since: since})
				if err != nil {
					return err
				}
				return printVerify(cmd.OutOrStdout(), r)
			})
		},
	}
	cmd.Flags().StringVar(&f.policy, "policy", "", "file with the public keys to trust, one a line; of the database: those of the configuration")
	cmd.Flags().StringVar(&f.since, "since", "", "an older checkpoint or bundle that nothing before it may contradict")
	cmd.Flags().StringVar(&f.receipt, "receipt", "", "verify this receipt instead")
	return cmd
}

func (f verifyFlags) trusted() (note.Verifiers, error) {
	if f.policy == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(f.policy)
	if err != nil {
		return nil, err
	}
	all, n, err := ledger.Trust(string(raw))
	if err == nil && n == 0 {
		err = fmt.Errorf("%s names no public key", f.policy)
	}
	return all, err
}

// older reads what --since names. Whoever kept it trusts it by having kept it; with
// --policy its signature has to hold as well.
func (f verifyFlags) older(trusted note.Verifiers) ([]ledger.Signed, error) {
	if f.since == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(f.since)
	if err != nil {
		return nil, err
	}
	text := string(raw)
	if z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw))); err == nil {
		if text, err = ledger.BundleCheckpoint(z); err != nil {
			return nil, err
		}
	}
	var c ledger.Checkpoint
	if trusted != nil {
		c, err = ledger.OpenCheckpoint(text, trusted, "")
	} else {
		c, err = ledger.ReadCheckpoint(text, "")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.since, err)
	}
	return []ledger.Signed{{Checkpoint: c, Name: "the older checkpoint in " + f.since}}, nil
}

func printVerify(w io.Writer, r portal.VerifyReport) error {
	fmt.Fprintf(w, "log %s: %d entries of %d objects and %d rows checked at %s\n", r.Log, r.Entries, r.Objects, r.Rows, r.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	fmt.Fprintf(w, "tree of %d, root %s; %d checkpoints, the newest that holds is of %d entries\n", r.Size, r.Root, r.Checkpoints, r.Signed)
	if r.Newer > 0 {
		fmt.Fprintf(w, "%d entries are newer than the last checkpoint\n", r.Newer)
	}
	var problems []string
	for _, p := range r.Problems {
		problems = append(problems, p.String())
	}
	return conclude(w, problems, r.Incomplete)
}

func verifyBundle(w io.Writer, file string, trusted note.Verifiers, since []ledger.Signed) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer z.Close()
	r, err := ledger.VerifyBundle(&z.Reader, trusted, since)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fmt.Fprintf(w, "bundle of log %s made at %s: %d entries, %d texts\n", r.Manifest.Log, r.Manifest.At, r.Entries, r.Openings)
	var problems []string
	for _, b := range r.Problems {
		text := b.Problem
		if b.ID != "" {
			text = "entry " + b.ID + ": " + text
		}
		problems = append(problems, text)
	}
	return conclude(w, problems, r.Incomplete)
}

func verifyReceipt(w io.Writer, file string, trusted note.Verifiers) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	receipt, err := ledger.ParseReceipt(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	known := trusted
	if known == nil {
		known = note.VerifierList()
	}
	e, p, c, err := receipt.Check(known)
	var unknown *note.UnverifiedNoteError
	if trusted == nil && errors.As(err, &unknown) {
		return conclude(w, nil, []string{"no key is trusted, so the signature was not checked: name the public key with --policy"})
	}
	if err != nil {
		return conclude(w, []string{err.Error()}, nil)
	}
	fmt.Fprintf(w, "entry %s of log %s: %s by %s at %s\nindex %d of the signed tree of %d entries\n", e.ID, e.Log, e.Words(), e.Actor.ID, e.At, p.Index, c.Size)
	return conclude(w, nil, nil)
}

// conclude prints what is wrong or missing and returns the exit code.
func conclude(w io.Writer, problems, incomplete []string) error {
	for i, p := range problems {
		if i == most {
			fmt.Fprintf(w, "and %d more\n", len(problems)-most)
			break
		}
		fmt.Fprintln(w, p)
	}
	for _, s := range incomplete {
		fmt.Fprintln(w, "incomplete:", s)
	}
	switch {
	case len(problems) > 0:
		fmt.Fprintf(w, "tampered: %d problems\n", len(problems))
		return exitTampered
	case len(incomplete) > 0:
		fmt.Fprintln(w, "incomplete")
		return exitIncomplete
	}
	_, err := fmt.Fprintln(w, "intact")
	return err
}

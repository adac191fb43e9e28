package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/portal"
)

func exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export BUNDLE.zip",
		Short: "Write the signed record as a bundle that verifies offline",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			var key note.Signer
			if cfg.Record.SignerKeyFile != "" {
				if key, _, err = readKey(cfg.Record.SignerKeyFile); err != nil {
					return err
				}
			}
			return withPortal(cmd, func(p *portal.Portal) error {
				f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if err != nil {
					return err
				}
				c, err := p.ExportBundle(cmd.Context(), operator(), f, "quartermaster "+version(), key)
				if err = errors.Join(err, f.Close()); err != nil {
					return errors.Join(err, os.Remove(args[0]))
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d entries, root %s\nverify it with: quartermaster verify --policy KEYS %[1]s\n", args[0], c.Size, c.Root)
				return err
			})
		},
	}
}

func recordCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "record", Short: "Check the record, and lift the stop after a failed check"}
	check := &cobra.Command{
		Use:   "check",
		Short: "Check the whole record now and put on record what came of it",
		Long:  "Check the whole record now and put on record what came of it. A record that is not as it was written stops signing and pushing; one that is starts them again.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPortal(cmd, func(p *portal.Portal) error {
				r, err := p.CheckRecord(cmd.Context(), operator())
				if err != nil {
					return err
				}
				return printVerify(cmd.OutOrStdout(), r)
			})
		},
	}
	var reason string
	clear := &cobra.Command{
		Use:   "clear",
		Short: "Lift the stop after a failed check, on record, until a check finds the same again",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPortal(cmd, func(p *portal.Portal) error {
				if err := p.ClearRecord(cmd.Context(), operator(), reason); err != nil {
					return err
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "signing and pushing go on")
				return err
			})
		},
	}
	clear.Flags().StringVar(&reason, "reason", "", "why; it is kept with the record")
	cmd.AddCommand(check, clear)
	return cmd
}

package main

import (
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the portal and run its jobs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			if listen != "" {
				cfg.Listen = listen
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "# effective configuration, secrets hidden")
			if err := cfg.Print(cmd.ErrOrStderr()); err != nil {
				return err
			}
			if err := cfg.Check(); err != nil {
				return fmt.Errorf("configuration is not complete:\n%w", err)
			}
			ring, err := loadRing(cfg.KeyFile)
			if err != nil {
				return err
			}
			log := newLogger(cfg.Log, os.Stderr)
			s, err := newSite(cmd.Context(), cfg, ring, demonstration{}, log)
			if err != nil {
				return err
			}
			defer s.Close()
			l, err := net.Listen("tcp", cfg.Listen)
			if err != nil {
				return err
			}
			return s.serve(cmd.Context(), l, log, func() error {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "listening on http://%s, serving %s\n", l.Addr(), cfg.BaseURL)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on; port 0 chooses a free one")
	return cmd
}

// version of the program as the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development"
	}
	return info.Main.Version
}

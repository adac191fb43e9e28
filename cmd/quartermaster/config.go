package main

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"quartermaster/internal/config"
	"quartermaster/internal/seal"
)

func configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration, secrets hidden",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			return errors.Join(c.Print(cmd.OutOrStdout()), c.Check())
		},
	}
}

func loadConfig(cmd *cobra.Command) (config.Config, error) {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(file, os.Environ())
}

func newLogger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(c.Level)) != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "text" {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}

func loadRing(file string) (seal.Ring, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return seal.Ring{}, err
	}
	return seal.ParseRing(string(raw))
}

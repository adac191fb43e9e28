// Command schemadump writes the schema after all migrations to the file named as
// its argument. `make schema` runs it; a test in db compares the file.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"quartermaster/db/dbtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "schemadump:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: schemadump FILE")
	}
	schema, err := dbtest.Schema(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(schema), 0o644)
}

// Command quartermaster is the whole product in one binary: the portal, its jobs
// and the commands an operator needs. It only wires: what is decided lives in
// internal/portal, what is stored in db, what is written to clusters in k8s.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"quartermaster/internal/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	var exit exitCode
	if errors.As(err, &exit) {
		os.Exit(int(exit))
	}
	fmt.Fprintln(os.Stderr, "quartermaster:", explain(err))
	os.Exit(1)
}

// exitCode ends the program with a code after everything was said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// explain shows the public sentence of a fault with its fields and its cause: the
// operator at a command line may see both.
func explain(err error) string {
	f := fault.As(err)
	if f == nil {
		return err.Error()
	}
	s := f.Public
	for _, field := range f.Fields {
		s += fmt.Sprintf("\n  %s: %s", field.Name, field.Message)
	}
	if f.Cause != nil {
		s += "\n  cause: " + f.Cause.Error()
	}
	return s
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "quartermaster",
		Short:         "GPU quota requests: asked, decided, enforced on the cluster, read back, proven",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().String("config", os.Getenv("QUARTERMASTER_CONFIG"), "configuration file (YAML); QUARTERMASTER_… variables override it")
	cmd.AddCommand(serveCommand(), devCommand(), migrateCommand(), importCommand(), clusterCommand(), keyCommand(), verifyCommand(), exportCommand(), recordCommand(), configCommand())
	return cmd
}

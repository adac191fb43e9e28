// Package oidcpeer runs an OpenID provider that Quartermaster did not write
// (npm oidc-provider) beside a test, and has a browser of few talents that fills
// in the sign-in pages of any provider. Only tests import it. A missing
// node_modules is a failure, never a reason to skip.
package oidcpeer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The two people of the peer and what they know.
const (
	MultiFactor   = "urn:peer:acr:mfa"
	ClientID      = "portal"
	ClientSecret  = "peer-secret"
	AlicePassword = "alice-password"
	AliceSecret   = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // of her one-time codes
	BobPassword   = "bob-password"                     // and no codes
)

// Options say who the portal is.
type Options struct {
	Redirect    string `json:"redirect"`
	PostLogout  string `json:"postLogout"`
	BackChannel string `json:"backchannel"`
	// Silent leaves acr and amr out, as many providers do.
	Silent bool `json:"silent"`
}

// Start runs the peer until the test ends and returns its issuer.
func Start(t testing.TB, o Options) (issuer string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "oidc-provider")); err != nil {
		t.Fatalf("the OpenID provider of the sign-in tests is not installed; run: make test (or npm ci in e2e/oidcpeer)")
	}
	node := os.Getenv("NODE") // set where the system's node is too old
	if node == "" {
		node = "node"
	}
	options, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(node, "provider.mjs", string(options))
	command.Dir = dir
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start the peer: %v", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct {
		Issuer string `json:"issuer"`
	}
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.Issuer == "" {
		_ = command.Process.Kill()
		_ = command.Wait()
		t.Fatalf("the peer did not start: %v\n%s", err, complaints.String())
	}
	return ready.Issuer
}

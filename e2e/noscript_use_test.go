package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
)

// Without JavaScript, on a phone: a person sees the checks before sending, and both
// stages decide, one of them on other figures than asked.
func TestAWholeDecisionWithoutJavaScript(t *testing.T) {
	s := theDemo(t)
	plain := browser.Look{Width: 390, Height: 844, NoScript: true}
	ana := as(t, s, "ana", plain)
	ana.Open("/requests/new")
	night := ask{"Street Scenes · Vision", "production", "internal", "batch", "H100 80 GB · Aurora (simulated)", "10", hard, "Label the winter set"}
	night.fill(ana)
	ana.Press("^Check this request$")
	for _, seen := range []string{"Who decides", "Cost a month", "Ben Okafor", "limit now 8"} {
		ana.See(seen)
	}
	require.Equal(t, "Label the winter set", ana.Value("Purpose"), "nothing typed is lost")
	ana.Press("^Submit request$")
	ana.See("submitted.")
	request := number(t, ana)

	ben := as(t, s, "ben", plain)
	decide(ben, request)
	ben.Fill("Reason", "Agreed.")
	act(ben, "^Approve 10 GPUs$")
	ben.See("is decided")

	cleo := as(t, s, "cleo", plain)
	decide(cleo, request)
	cleo.Fill("Grant", "9")
	cleo.Press("Show what these figures change")
	cleo.See("What would change")
	require.Equal(t, "9", cleo.Value("Grant"))
	cleo.Fill("Reason", "9 for now.")
	act(cleo, "^Approve 9 GPUs$")
	cleo.See("is decided")
	ana.Open(at(request))
	ana.ReloadUntil("Read back: Aurora enforces what was granted.")
	require.Contains(t, ana.Text(), "9 of 10 GPUs")
}

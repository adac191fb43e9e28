package portal

import (
	"encoding/json"
	"fmt"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// seenLimits are the limits that a decider saw live, by cluster. The decide page
// carries them in its form: a change whose live base differs by the time it is
// applied stops and asks. A forged value can only make a change stop.
type seenLimits map[string][]fleet.Limit

// maxBase bounds the carried text in bytes.
const maxBase = 64 << 10

func (s seenLimits) String() string {
	if len(s) == 0 {
		return ""
	}
	raw, err := json.Marshal(map[string][]fleet.Limit(s))
	if err != nil {
		return ""
	}
	return string(raw)
}

func parseSeen(text string) (seenLimits, error) {
	if text == "" {
		return nil, nil
	}
	wrong := fault.New(fault.Invalid, "The form is not complete. Open the page again and decide there.")
	if len(text) > maxBase {
		return nil, wrong.Because(fmt.Errorf("base of %d bytes", len(text)))
	}
	var s seenLimits
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, wrong.Because(err)
	}
	return s, nil
}

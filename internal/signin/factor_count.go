package signin

import "slices"

// Trust says which answers of one identity provider prove two factors. It is
// configuration: a provider's acr values mean what its operator says they mean.
type Trust struct {
	// MultiFactorACR lists the acr values that stand for two factors.
	MultiFactorACR []string
	// MultiFactorAMR lists amr values that stand for two factors by themselves,
	// besides "mfa".
	MultiFactorAMR []string
	// IgnoreAMR switches off the reading of amr, for a provider known to send
	// methods that were not used.
	IgnoreAMR bool
}

// kind of evidence of an amr value, after RFC 8176 section 2.
type kind int

const (
	knowledge kind = iota + 1
	possession
	inherence
)

var methodKind = map[string]kind{
	"pwd": knowledge, "pin": knowledge, "kba": knowledge,
	"otp": possession, "hwk": possession, "swk": possession, "sc": possession, "pop": possession,
	"sms": possession, "tel": possession,
	"fpt": inherence, "face": inherence, "iris": inherence, "retina": inherence, "vbm": inherence,
}

// Factors counts what a sign-in proved: 2 when the acr is one that the provider
// is trusted for, when amr says mfa, or when amr names methods of two different
// kinds (a password and a hardware key; two passwords are one). 1 otherwise,
// so also when the provider says nothing.
func (t Trust) Factors(acr string, amr []string) int {
	if acr != "" && slices.Contains(t.MultiFactorACR, acr) {
		return 2
	}
	if t.IgnoreAMR {
		return 1
	}
	seen := map[kind]bool{}
	for _, m := range amr {
		if m == "mfa" || slices.Contains(t.MultiFactorAMR, m) {
			return 2
		}
		if k, ok := methodKind[m]; ok {
			seen[k] = true
		}
	}
	if len(seen) > 1 {
		return 2
	}
	return 1
}

// Speaks tells whether the provider said anything about factors. One that sends
// neither acr nor amr cannot be asked to step up; the portal's own second
// factor takes over.
func Speaks(acr string, amr []string) bool { return acr != "" || len(amr) > 0 }

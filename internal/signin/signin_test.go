package signin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/signin"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func TestSessionEndsByIdlenessAndByAge(t *testing.T) {
	rules := signin.DefaultRules()
	for name, c := range map[string]struct {
		began, seen time.Duration // before now
		want        signin.End
	}{
		"just signed in":                 {0, 0, signin.InForce},
		"a minute short of idle":         {time.Hour, 29 * time.Minute, signin.InForce},
		"exactly idle":                   {time.Hour, 30 * time.Minute, signin.EndedIdle},
		"busy, a second short of 12 h":   {12*time.Hour - time.Second, 0, signin.InForce},
		"busy, exactly 12 h":             {12 * time.Hour, 0, signin.EndedAbsolute},
		"both over names the harder one": {13 * time.Hour, 40 * time.Minute, signin.EndedAbsolute},
	} {
		t.Run(name, func(t *testing.T) {
			s := signin.Session{Began: noon.Add(-c.began), Seen: noon.Add(-c.seen)}
			require.Equal(t, c.want, s.End(noon, rules))
		})
	}
}

func TestEnrolmentNeedsAFreshFirstFactor(t *testing.T) {
	rules := signin.DefaultRules()
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	require.True(t, signin.Session{Began: ago(9 * time.Minute)}.FirstFactorFresh(noon, rules))
	require.False(t, signin.Session{Began: ago(10 * time.Minute)}.FirstFactorFresh(noon, rules))
	require.True(t, signin.Session{Began: ago(time.Hour), Reauthed: ago(time.Minute)}.FirstFactorFresh(noon, rules))
	require.False(t, signin.Session{Began: ago(time.Hour), Reauthed: ago(-time.Hour)}.FirstFactorFresh(noon, rules))
	require.False(t, signin.Session{}.FirstFactorFresh(noon, rules))
}

func TestSamePersonNeedsIssuerAndSubject(t *testing.T) {
	s := signin.Session{Issuer: "https://a", Subject: "1"}
	require.True(t, s.SamePerson("https://a", "1"))
	require.False(t, s.SamePerson("https://b", "1"), "same subject of another provider is another person")
	require.False(t, s.SamePerson("https://a", "2"))
	require.False(t, signin.Session{}.SamePerson("", ""), "nobody is nobody")
}

func TestFactorsOfClaims(t *testing.T) {
	trust := signin.Trust{MultiFactorACR: []string{"urn:lab:acr:mfa", "2"}}
	for name, c := range map[string]struct {
		acr  string
		amr  []string
		want int
	}{
		"silent provider":              {"", nil, 1},
		"trusted acr":                  {"urn:lab:acr:mfa", nil, 2},
		"another acr":                  {"urn:lab:acr:pwd", nil, 1},
		"acr that only contains it":    {"urn:lab:acr:mfa2", nil, 1},
		"mfa":                          {"", []string{"mfa"}, 2},
		"password":                     {"", []string{"pwd"}, 1},
		"password and code":            {"", []string{"pwd", "otp"}, 2},
		"code alone":                   {"", []string{"otp"}, 1},
		"hardware key alone":           {"", []string{"hwk"}, 1},
		"hardware key and fingerprint": {"", []string{"hwk", "fpt"}, 2},
		"password twice":               {"", []string{"pwd", "pin"}, 1},
		"two things one owns":          {"", []string{"otp", "sms"}, 1},
		"words nobody defined":         {"", []string{"magic", "more magic"}, 1},
		"MFA in the wrong case":        {"", []string{"MFA"}, 1},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, trust.Factors(c.acr, c.amr)) })
	}
	require.Equal(t, 2, signin.Trust{MultiFactorAMR: []string{"ngcmfa"}}.Factors("", []string{"pwd", "ngcmfa"}))
	require.Equal(t, 1, signin.Trust{IgnoreAMR: true}.Factors("", []string{"mfa"}))
	require.Equal(t, 1, signin.Trust{MultiFactorACR: []string{""}}.Factors("", nil), "an empty acr proves nothing")
	require.False(t, signin.Speaks("", nil))
	require.True(t, signin.Speaks("0", nil))
}

func TestAttemptsLockAndOpenWithTime(t *testing.T) {
	var a signin.Attempts
	now := noon
	for range 4 {
		a = a.Fail(now)
		require.True(t, a.LockedUntil(now).IsZero())
	}
	for _, wait := range []time.Duration{1, 2, 4, 8, 15, 15, 15} {
		a = a.Fail(now)
		require.Equal(t, now.Add(wait*time.Minute), a.LockedUntil(now))
		require.False(t, a.LockedUntil(now.Add(wait*time.Minute-time.Second)).IsZero())
		now = now.Add(wait * time.Minute)
		require.True(t, a.LockedUntil(now).IsZero(), "unlocked after %d min", wait)
	}
	require.Equal(t, 1, a.Fail(now.Add(2*time.Hour)).Failed, "an hour of peace is forgiveness")
}

func FuzzVerifyTOTPNeverPanics(f *testing.F) {
	f.Add("JBSWY3DPEHPK3PXP", "123456", int64(0))
	f.Add("", "", int64(-1))
	f.Add("not base32!", "000000", int64(1<<62))
	f.Fuzz(func(t *testing.T, secret, code string, last int64) {
		step, ok := signin.VerifyTOTP(secret, code, noon, last)
		if ok && step <= last {
			t.Fatalf("accepted step %d although %d is spent", step, last)
		}
	})
}

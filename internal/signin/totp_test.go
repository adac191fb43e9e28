package signin_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"net/url"
	"testing"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/signin"
)

// The SHA-1 vectors of RFC 6238 appendix B, cut to the last six digits.
func TestCodeAtAgreesWithTheRFC(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for unix, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		got, err := signin.CodeAt(secret, signin.Step(time.Unix(unix, 0)))
		require.NoError(t, err)
		require.Equal(t, want, got, "at %d", unix)
	}
}

func TestCodeAtAgreesWithAnotherImplementation(t *testing.T) {
	secret, err := signin.NewTOTPSecret(rand.Reader)
	require.NoError(t, err)
	for i := range 50 {
		now := noon.Add(time.Duration(i) * 17 * time.Second)
		want, err := totp.GenerateCode(secret, now)
		require.NoError(t, err)
		got, err := signin.CodeAt(secret, signin.Step(now))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestVerifyTOTPTakesEachCodeOnce(t *testing.T) {
	secret := "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	at := func(d time.Duration) string {
		c, err := signin.CodeAt(secret, signin.Step(noon.Add(d)))
		require.NoError(t, err)
		return c
	}
	step, ok := signin.VerifyTOTP(secret, at(0), noon, 0)
	require.True(t, ok)
	require.Equal(t, signin.Step(noon), step)

	_, ok = signin.VerifyTOTP(secret, at(0), noon, step)
	require.False(t, ok, "a code counts once")
	_, ok = signin.VerifyTOTP(secret, at(-30*time.Second), noon, step)
	require.False(t, ok, "nor does an older one count after it")
	next, ok := signin.VerifyTOTP(secret, at(30*time.Second), noon, step)
	require.True(t, ok, "one period ahead is a clock apart")
	require.Equal(t, step+1, next)
	_, ok = signin.VerifyTOTP(secret, at(60*time.Second), noon, 0)
	require.False(t, ok, "two periods ahead are not")
	_, ok = signin.VerifyTOTP(secret, at(-60*time.Second), noon, 0)
	require.False(t, ok, "two periods late are not")
	_, ok = signin.VerifyTOTP(secret, " "+at(0)[:3]+" "+at(0)[3:]+" ", noon, 0)
	require.True(t, ok, "typed with a gap, as apps show it")
	for _, bad := range []string{"", "12345", "1234567", "abcdef", "٣٤٥٦٧٨"} {
		_, ok = signin.VerifyTOTP(secret, bad, noon, 0)
		require.False(t, ok, bad)
	}
	_, ok = signin.VerifyTOTP("", "000000", noon, 0)
	require.False(t, ok, "no secret, no factor")
}

func TestEnrolURLIsReadByAnAuthenticator(t *testing.T) {
	raw := signin.EnrolURL("Quartermaster at Hall & Sons", "ada@example.org", "GEZDGNBVGY3TQOJQ")
	key, err := otp.NewKeyFromURL(raw)
	require.NoError(t, err)
	require.Equal(t, "Quartermaster at Hall & Sons", key.Issuer())
	require.Equal(t, "ada@example.org", key.AccountName())
	require.Equal(t, "GEZDGNBVGY3TQOJQ", key.Secret())
	require.EqualValues(t, 30, key.Period())
	require.NotContains(t, raw, "+")
	_, err = url.Parse(raw)
	require.NoError(t, err)
}

func TestRecoveryCodesOpenOnceEach(t *testing.T) {
	codes, digests, err := signin.NewRecoveryCodes(rand.Reader, 10)
	require.NoError(t, err)
	require.Len(t, codes, 10)
	for i, c := range codes {
		require.Regexp(t, `^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`, c)
		require.NotContains(t, digests, c)
		require.Equal(t, digests[i], signin.RecoveryDigest(" "+c[:4]+c[5:]+" "), "case, spaces and hyphens do not matter")
	}
	require.NotContains(t, digests[1:], signin.RecoveryDigest(codes[0]), "a spent code is gone")
	require.NotContains(t, digests, signin.RecoveryDigest(""))
	_, _, err = signin.NewRecoveryCodes(bytes.NewReader(nil), 1)
	require.Error(t, err, "no randomness, no codes")
}

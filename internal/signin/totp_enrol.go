package signin

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// secretBytes is the length RFC 4226 section 4 recommends: 160 bits.
const secretBytes = 20

// NewTOTPSecret reads a new secret, in base32 without padding.
func NewTOTPSecret(random io.Reader) (string, error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("read a one-time secret: %w", err)
	}
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b), nil
}

// EnrolURL is the otpauth address an authenticator app takes, usually as a QR
// code. issuer and account are what the app shows.
func EnrolURL(issuer, account, secret string) string {
	label := url.PathEscape(issuer + ":" + account)
	// Authenticator apps read %20, not "+", as a space.
	query := strings.ReplaceAll(url.Values{
		"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {fmt.Sprint(digits)}, "period": {fmt.Sprint(Period)},
	}.Encode(), "+", "%20")
	return "otpauth://totp/" + label + "?" + query
}

// recoveryBytes gives each recovery code 80 bits: too many to guess, so a plain
// digest is enough to keep it.
const recoveryBytes = 10

// NewRecoveryCodes reads n codes. The person sees the codes once; the portal
// keeps the digests.
func NewRecoveryCodes(random io.Reader, n int) (codes, digests []string, err error) {
	for range n {
		b := make([]byte, recoveryBytes)
		if _, err := io.ReadFull(random, b); err != nil {
			return nil, nil, fmt.Errorf("read a recovery code: %w", err)
		}
		s := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
		code := s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
		codes = append(codes, code)
		digests = append(digests, RecoveryDigest(code))
	}
	return codes, digests, nil
}

// RecoveryDigest is the stored form of a recovery code; case, spaces and
// hyphens do not matter.
func RecoveryDigest(code string) string {
	clean := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(code)))
	sum := sha256.Sum256([]byte("recovery code " + clean))
	return hex.EncodeToString(sum[:])
}

package signin

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 as every authenticator app implements it
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// Period is the life of a one-time code, in seconds (RFC 6238, section 5.2).
const Period = 30

const digits = 6

// Step is the number of the period that now falls in.
func Step(now time.Time) int64 { return now.Unix() / Period }

// CodeAt is the one-time code of a step: HMAC-SHA-1, six digits.
func CodeAt(secret string, step int64) (string, error) {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).
		DecodeString(strings.ToUpper(strings.TrimRight(strings.ReplaceAll(secret, " ", ""), "=")))
	if err != nil || len(key) == 0 {
		return "", fmt.Errorf("one-time secret is not base32")
	}
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	// Dynamic truncation, RFC 4226 section 5.3.
	at := sum[len(sum)-1] & 0x0f
	number := binary.BigEndian.Uint32(sum[at:at+4]) & 0x7fffffff
	return fmt.Sprintf("%0*d", digits, number%1_000_000), nil
}

// VerifyTOTP tells whether code is right at now, one period early or late
// allowed, and which step it belongs to. Steps up to lastStep are spent: a code
// counts once. The caller stores the returned step with
// "UPDATE … WHERE last_step < step", so that of two equal posts one wins.
func VerifyTOTP(secret, code string, now time.Time, lastStep int64) (step int64, ok bool) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	if len(code) != digits {
		return 0, false
	}
	current := Step(now)
	for s := current - 1; s <= current+1; s++ {
		if s <= lastStep {
			continue
		}
		want, err := CodeAt(secret, s)
		if err != nil {
			return 0, false
		}
		if subtle.ConstantTimeCompare([]byte(code), []byte(want)) == 1 {
			return s, true
		}
	}
	return 0, false
}

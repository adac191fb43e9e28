package oidc

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	callTimeout = 10 * time.Second
	// answerLimit bounds every answer of a provider: discovery, keys, tokens,
	// userinfo. The largest honest one (a key set with certificates) is some 20 KB.
	answerLimit = 1 << 20
)

var errAnswerTooLong = errors.New("answer of the identity provider is longer than 1 MiB")

func newClient(base http.RoundTripper) *http.Client {
	if base == nil {
		base = http.DefaultTransport
	}
	return &http.Client{
		Timeout:   callTimeout,
		Transport: limited{base},
		// A redirect would carry a code or a token to an address nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type limited struct{ base http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &limitedBody{ReadCloser: answer.Body, left: answerLimit}
	return answer, nil
}

// limitedBody fails, rather than ends, at the limit: a cut key set must not pass
// for a whole one.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errAnswerTooLong
	}
	if len(p) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}

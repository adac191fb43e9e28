package handlers

import (
	"fmt"
	"net/http"
	"runtime/debug"
)

// recovered turns a panic into a 500 that shows only the request id. The stack
// goes to the log; http.ErrAbortHandler is the server's own and passes.
func (s *server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.showError(w, r, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}()
		next.ServeHTTP(w, r)
	})
}

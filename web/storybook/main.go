// Command storybook serves every page of the portal in example states, for
// people who change how it looks and for the tests that read its HTML. It knows
// no session, database or cluster; nothing of it is part of the product.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"quartermaster/assets"
)

// policy is the content policy the portal itself serves with.
const policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "address to serve on")
	flag.Parse()
	if err := assets.Check(); err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/\n", l.Addr())
	log.Fatal(http.Serve(l, handler()))
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(assets.Prefix, assets.Handler())
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Storybook</title><ul>")
		for _, s := range stories() {
			fmt.Fprintf(w, `<li><a href="/story/%s">%s</a></li>`, s.name, s.name)
		}
		fmt.Fprint(w, "</ul>")
	})
	mux.HandleFunc("/story/{name}", func(w http.ResponseWriter, r *http.Request) {
		theme := r.URL.Query().Get("theme")
		for _, s := range stories() {
			if s.name == r.PathValue("name") {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header().Set("Content-Security-Policy", policy)
				if err := s.page(theme).Render(r.Context(), w); err != nil {
					log.Print(err)
				}
				return
			}
		}
		http.NotFound(w, r)
	})
	return mux
}

#!/bin/sh
# Fails when the committed templ code is not what its sources make. It compares
# before with after, not with the last commit, so that it holds in a dirty tree.
# The file names in the code depend on where templ starts: in web, as in make generate.
# (db/schema.sql has a test of its own.)
set -eu
cd "$(dirname "$0")/.."
sums() { git ls-files -co --exclude-standard '*_templ.go' | sort | while read -r f; do [ ! -e "$f" ] || cksum "$f"; done; }
before=$(sums)
said=$(cd web && go tool templ generate 2>&1) || {
	echo "$said" >&2
	exit 1
}
after=$(sums)
if [ "$before" != "$after" ]; then
	echo "templ code was not current; make generate has been run now: look at git diff and commit it" >&2
	exit 1
fi

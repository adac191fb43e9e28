# make alone prints this list. Two commands set everything up by themselves on a
# machine with git, make and Go: make run, make test.
SHELL := /bin/sh
.DEFAULT_GOAL := help
# A newer Node than the system's, where scripts/setup.sh had to fetch one.
export PATH := $(CURDIR)/tools/node/bin:$(PATH)

BIN := bin/quartermaster
# Packages of a test run: make test PKG=./internal/request
PKG ?= ./...
# Extra arguments: make run ARGS="--listen 127.0.0.1:8080", make test ARGS="-run Decide"
ARGS ?=

.PHONY: help run test check build generate generated assets lint bench soak vuln schema e2e controlplane npm setup-run setup-test clean

help: ## print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: setup-run assets build ## start the demo: portal, database, identity provider, a simulated cluster
	@exec $(BIN) dev $(ARGS)

test: setup-test assets npm controlplane ## run every test on real parts; the last line counts them
	@go run ./e2e/testrun -race -timeout 30m $(ARGS) $(PKG)

check: setup-test generated lint ## what CI runs: generation is current, linters, then all tests
	@$(MAKE) --no-print-directory test

build: assets ## build bin/quartermaster
	@CGO_ENABLED=0 go build -trimpath -o $(BIN) ./cmd/quartermaster

generate: ## write the Go code of the templ pages
	@cd web && go tool templ generate

assets: setup-run assets/dist/manifest.json ## build CSS, scripts and icons into assets/dist

lint: tmp/staticcheck ## gofmt, go vet, staticcheck
	@files=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi
	@go vet ./...
	@tmp/staticcheck ./...

# Each of these benchmarks prints its own table once; PKG names others.
BENCHES := ./handlers ./e2e
bench: setup-test assets npm controlplane ## every figure in milliseconds; compare only inside one run
	@go test -run '^$$' -bench 'Large|Kueue|Idle' -benchtime 1x -timeout 1h -p 1 $(ARGS) $(if $(filter ./...,$(PKG)),$(BENCHES),$(PKG))

soak: setup-test assets npm controlplane ## the heavy tests of make test at full counts (hours)
	@QM_SOAK=1 go run ./e2e/testrun -race -timeout 12h $(ARGS) $(PKG)

vuln: tmp/govulncheck ## known vulnerabilities in the modules used (needs vuln.go.dev)
	@tmp/govulncheck ./...

schema: ## write db/schema.sql from the migrations
	@go generate ./db

e2e: setup-test assets npm controlplane ## only the browser and cluster tests
	@go run ./e2e/testrun -race -timeout 30m $(ARGS) ./e2e/...

clean: ## remove what was built; the demo's data stay
	@rm -rf bin tmp tools/node/bin e2e/controlplane/bin
	@find assets/dist -mindepth 1 ! -name .keep -delete

setup-run:
	@scripts/setup.sh run

setup-test:
	@scripts/setup.sh test

# generated fails when the committed code is not what its sources make.
generated:
	@scripts/generated_check.sh

# npm packages, installed again only when a lock file changes.
LOCKS := $(shell git ls-files assets/package-lock.json 'e2e/*package-lock.json' 2>/dev/null)
npm: $(LOCKS:package-lock.json=node_modules/.stamp)

%/node_modules/.stamp: %/package-lock.json | setup-run
	@cd $* && npm ci --silent
	@touch $@

ASSET_SOURCES := $(shell find assets web -type f \( -name '*.css' -o -name '*.js' -o -name '*.mjs' -o -name '*.svg' -o -name '*.txt' -o -name '*.templ' \) ! -path '*/node_modules/*' ! -path 'assets/dist/*' 2>/dev/null)
assets/dist/manifest.json: assets/node_modules/.stamp $(ASSET_SOURCES)
	@cd assets && npm run --silent build
	@touch $@

# The real Kubernetes and Kueue of the cluster tests: minutes the first time.
CONTROLPLANE := e2e/controlplane
controlplane: $(CONTROLPLANE)/bin/.stamp
$(CONTROLPLANE)/bin/.stamp: $(shell find $(CONTROLPLANE) -name '*.go' -o -name 'go.*' -o -name build.sh 2>/dev/null)
	@echo "Building Kubernetes and Kueue from their modules (about eleven minutes the first time)"
	@$(CONTROLPLANE)/build.sh
	@touch $@

tmp/staticcheck: tools/go.mod tools/go.sum
	@go -C tools build -o ../tmp/staticcheck honnef.co/go/tools/cmd/staticcheck

tmp/govulncheck: tools/go.mod tools/go.sum
	@go -C tools build -o ../tmp/govulncheck golang.org/x/vuln/cmd/govulncheck

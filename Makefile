# Shortcuts for the commands of CONTRIBUTING.md; .ci/run is what has to pass.

.PHONY: check test stress race lint fuzz install replay bench report

check: ## everything that has to pass
	.ci/run

test: ## the tests
	go test ./...

stress: ## the tests that take long, bounded
	cd stress && go test ./...

race: ## the tests under the race detector, on heap-backed memory
	go test -race -short ./...

lint: ## format, vet and linters
	.ci/run vet lint

fuzz: ## each fuzz target of each module for FUZZTIME, 2s by default
	.ci/run fuzz

install: ## the published modules, got and built from an empty module
	.ci/run install

replay: ## a generated workload through the cache
	go run ./cmd/firn replay

bench: ## all benchmarks in full: about two hours, and 12 GiB of memory
	cd bench && go run . -suite all -out results

report: ## docs/BENCHMARKS.md from the results of bench
	cd bench && go run . report -in results -doc ../docs/BENCHMARKS.md -svg ../docs/img

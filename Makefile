# The targets are described in CONTRIBUTING.md.
BIGFIT_DATA ?= $(wildcard $(abspath ../shared/data))
export BIGFIT_DATA

# Nothing here needs C, and a program without C needs less address space. The race detector is C.
export CGO_ENABLED ?= 0

FUZZTIME ?= 20s
# Packages in which goroutines run; of learners the tests that all of them pass. A test that
# has nothing to show the race detector, or the pure Go run, says so itself (internal/testmode).
RACE = ./internal/num/par ./internal/num/dense ./cmd/bigfit/internal/progress ./knn/internal/nndescent ./knn/internal/blocks ./knn/internal/trees ./internal/file/mapped ./sparse ./data ./pca ./knn ./kernel ./lanczos ./cg ./solvers
# Seeds of an overnight run of the attacks on the command.
SEEDS ?= 20000

.PHONY: build test lint race purego fuzz sample soak bench memory generate docs site python wheels release release-check ci

build:
	go build ./...

test:
	go test ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w ."; exit 1; }
	go vet ./...
	go tool staticcheck ./...

# The checks of learners in which two goroutines can meet; the learners not named here rest on the same loops.
TOGETHER = Conform/.*/(threads|refit|concurrent|progress|cancel|update|query)|Conform/(threads|refit|concurrent|progress|cancel|update|query)|Concurrent|Threads
race: export CGO_ENABLED = 1
race:
	go test -race -short -skip 'TestBrutePrunes|TestSets|TestTiesByIndex|TestKDTree$$|TestDescent$$' $(RACE)
	go test -race -short -run '$(TOGETHER)' . ./models/propagation ./models/kernelmachine ./models/linear ./models/nearest ./models/pool ./models/selection

# Without assembly: the innermost loops in full, and the packages that rest on them.
# .ci/run tests internal/num/dense with BIGFIT_SIMD=generic, which is the same code.
purego:
	go test -tags purego ./internal/num/simd ./knn/internal/nndescent ./sparse
	go test -short -tags purego ./knn ./lanczos

# One target at a time is all that go test fuzzes.
fuzz:
	@set -e; for f in $$(grep -rl '^func Fuzz' --include=*_test.go . | sort); do \
		for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$f); do \
			echo "== $$t in $$(dirname $$f)"; \
			go test -run '^$$' -fuzz "^$$t$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x ./$$(dirname $$f); \
		done; \
	done

# Campaigns outside of their own package: kills, faults and damage where the tests of a package are.
CAMPAIGNS = TestPartsKilled|TestPartsScripts|TestSlurm|TestDamagedModels|Folders
FAULTS = Resumed|Conform/.*/damage|TestUMAPWeights|TestKilledRank

# Each failure prints its seed; BIGFIT_SOAK_FIRST tries it again.
soak:
	BIGFIT_SOAK=$(SEEDS) go test -count=1 -timeout 24h -skip TestMemoryGrid -v ./cmd/bigfit/internal/attack
	BIGFIT_SOAK=$(SEEDS) go test -count=1 -timeout 24h -run '$(CAMPAIGNS)' -v ./cmd/bigfit
	BIGFIT_SOAK=$(SEEDS) go test -count=1 -timeout 24h -run '$(FAULTS)|TestInstructionSets|TestPlantedErrors' -v ./pipeline ./models/... ./knn ./engine ./lanczos

# Runs that are killed again and again wait for the disk at each checkpoint; in memory it is there at once. Programs start
# from the disk, as they may not from there.
CHECKPOINTS := $(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'NR == 2 { print $$4 }')" -gt 1000000 ] && echo TMPDIR=/dev/shm GOTMPDIR=/tmp)

# A sample of every campaign, as CI runs it.
sample:
	BIGFIT_SOAK=sample go test -count=1 ./cmd/bigfit/internal/attack
	BIGFIT_SOAK=sample go test -count=1 -run '$(CAMPAIGNS)' ./cmd/bigfit
	BIGFIT_SOAK=sample $(CHECKPOINTS) go test -count=1 -run '$(FAULTS)' ./pipeline
	BIGFIT_SOAK=sample go test -count=1 -run '$(FAULTS)' ./models/... ./knn ./engine

bench:
	go test -run '^$$' -bench . -benchtime 3x ./internal/... ./knn ./lanczos

# What commands announce of memory, against the peaks of all learners and sizes; takes hours.
memory:
	BIGFIT_SOAK=all MEMORY=all go test -run TestMemoryGrid -count=1 -timeout 12h -v ./cmd/bigfit/internal/attack

# The program that the Python package runs, and the Python that has NumPy and scikit-learn.
PROGRAM = python/build/bigfit
PYTHON ?= /usr/bin/python3

generate: python-program
	go generate ./internal/num/simd
	BIGFIT_BIN=$(abspath $(PROGRAM)) $(PYTHON) python/generate.py

.PHONY: python-program
python-program:
	go build -o $(PROGRAM) ./cmd/bigfit

# With pytest-xdist twice as many tests run at a time as there are processors: most wait for the program.
python: python-program
	jobs=; if $(PYTHON) -c 'import xdist' 2>/dev/null; then jobs="-n $$((2 * $$(getconf _NPROCESSORS_ONLN)))"; fi; \
	BIGFIT_BIN=$(abspath $(PROGRAM)) $(PYTHON) -B -m pytest -q -p no:cacheprovider $$jobs python/tests

wheels:
	go run ./packaging/release -kinds wheel,sdist -dirty -out python/dist

# Tables of docs and README from the runs in docs/results.
docs:
	go run ./bench/docs

# The documentation as static pages, in dist/site; its links are followed, and its gallery is drawn.
site:
	go run ./packaging/site -python $(PYTHON)

# Everything of a release, into dist: archives, wheels, Debian packages, bills of materials, recipes, sums.
release:
	go run ./packaging/release -version "$(VERSION)" -out dist

# A release for this computer, twice and compared, installed and run; minutes.
release-check:
	RELEASE_CHECK=1 go test -count=1 -timeout 30m -run '^TestRelease$$' -v ./packaging/release

ci:
	.ci/run

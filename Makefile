# Every target works on a bare machine with Python 3.11 or later: it makes .venv with pip first.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEV_READY := .venv/.ready-dev
BENCH_READY := .venv/.ready-bench
NODE_READY := tests/e2e/node_modules/.package-lock.json

.PHONY: run demo demo-cluster test test-all coverage check shape calls golden golden-check notes-table format bench bench-context bench-reuse bench-memory-model bench-transport bypass metrics-docs config-docs docs dashboards screenshots pictures image release clean

run: $(READY)            ## serve on http://127.0.0.1:8484/v1
	$(BIN)/olvido serve

demo: $(READY)           ## see it work without a key, then leave it running
	$(BIN)/olvido demo

demo-cluster: $(DEV_READY)   ## the same through four proxies over one PostgreSQL and one Redis
	$(BIN)/olvido demo --cluster

test: $(DEV_READY) $(NODE_READY)       ## what is quick: 2:15 on two idle cores, where 2 minutes are wanted
	$(BIN)/pytest -n 4 --dist worksteal -m "not long"

test-all: $(DEV_READY) $(NODE_READY)   ## everything, as CI does: kills, browsers, models that are made, many random cases too
	$(BIN)/pytest -n 3 --dist worksteal

coverage: $(DEV_READY) $(NODE_READY)   ## line and branch coverage of the quick tests; context, memory, reuse, protocol: at least 95 %
	mkdir -p build
	rm -f build/coverage.json
	-COVERAGE_FILE=build/.coverage $(BIN)/pytest -n 2 --dist worksteal -m "not long" \
		--cov=proxy --cov-branch --cov-report=json:build/coverage.json
	$(BIN)/python -m tests.coverage_floor build/coverage.json

check: $(DEV_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.mirror

shape: $(DEV_READY)          ## how large the proxy is, how its parts hang together, and what is there twice
	$(BIN)/python -m tests.shape

calls: $(DEV_READY)          ## how many Python calls, thread hops and SQL statements a request costs
	$(BIN)/python -m tests.calls

golden-check: $(DEV_READY)   ## does the proxy do what it did, in conversations that were written down?
	$(BIN)/python -m tests.golden --check

golden: $(DEV_READY)         ## what the proxy did in conversations that were written down, anew; after a change that is meant
	$(BIN)/python -m tests.golden --write

notes-table: $(DEV_READY)    ## the tables of the notes, with the tests that are marked with their items
	$(BIN)/python -m tests.notes --write

format: $(DEV_READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV_READY)          ## CPU, latency and memory of the proxy, side by side with the alternatives
	$(BIN)/python -m tests.bench.proxy

bench-reuse: $(BENCH_READY)  ## wrong and right reuse by intent, of every kind (needs the evaluation data)
	mkdir -p build
	$(BIN)/python -m tests.bench.reuse --json build/reuse.json --plot build/reuse.svg

bench-context: $(BENCH_READY)  ## evidence in the prompt and cost against pass-through (needs the evaluation data)
	mkdir -p build
	$(BIN)/python -m tests.bench.context --json build/context.json --plot build/context.svg

bench-memory-model: $(DEV_READY)   ## what a model of your choice extracts from conversations (needs OLVIDO_MEMORY_BASE_URL, _KEY, _MODEL)
	$(BIN)/python -m tests.bench.memory_model

screenshots: $(DEV_READY)    ## a picture of every view of the page, in build/ (needs a chromium)
	$(BIN)/python -m tests.page.screenshots

pictures: $(DEV_READY)    ## the small pictures that tests of the page compare with, anew: look at the page first
	$(BIN)/python -m tests.page.pictures

bypass: $(DEV_READY)         ## how well what must not be reused is recognised (needs the evaluation data)
	$(BIN)/python -m tests.bench.bypass

metrics-docs: $(READY)   ## what /metrics tells, as a table
	$(BIN)/python -m grafana.source.metrics > grafana/METRICS.md

docs: $(DEV_READY) $(NODE_READY)    ## are links, commands, settings, names and programs of the documents right?
	$(BIN)/python -m tests.docs
	$(BIN)/pytest -q tests/docs

config-docs: $(DEV_READY)    ## every setting, in deploy/docs/configuration.md
	$(BIN)/python -m tests.docs.settings --write
	$(BIN)/python -m tests.docs.copies --write

dashboards: $(DEV_READY)     ## the Grafana dashboards, from grafana/source
	$(BIN)/python -m grafana.source

image: $(DEV_READY)          ## the Dockerfile's steps without a container engine, and what takes how much (needs root, debootstrap)
	$(BIN)/python -m tests.deploy.image

release: $(DEV_READY)        ## VERSION=1.4.0: version, changelog, wheel, sdist, SBOM, checksums, tag; DRY=1: all of it, in a clone alone
	$(BIN)/python -m tests.release $(VERSION) $(if $(DRY),--dry-run)

$(READY): pyproject.toml constraints.txt
	@echo "Installing olvido into .venv, this once (450 MB there; as long as the download takes) …"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $(READY)

$(DEV_READY): $(READY)
	@echo "Installing what tests and checks need into .venv, this once: a minute or more …"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(DEV_READY)

$(BENCH_READY): $(DEV_READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	touch $(BENCH_READY)

# The Node SDK and axe-core are only needed by the tests that use them; without npm they are skipped, and say so.
$(NODE_READY): tests/e2e/package.json tests/e2e/package-lock.json
	if command -v npm >/dev/null; then cd tests/e2e && npm ci --silent --no-audit --no-fund; fi

clean:
	rm -rf .venv tests/e2e/node_modules

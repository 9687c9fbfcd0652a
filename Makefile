# make crawl                                  crawl the demo site that comes with the project
# make crawl URL=https://example.com          crawl a site of your choice
# make crawl URL=… ARGS="-a max_pages=100"    with more arguments for `scrapy crawl site`
# make test                                   everything that a change has to pass: suite, oldest and lint
# make suite                                  the whole test suite
# make lint                                   linters and type checker
# make oldest                                 a few tests of each kind, with the oldest libraries allowed
# make setup                                  what the tests need, before any of them runs
# make min                                    the most important tests on Scrapy 2.13, spiders of all kinds on later ones
# make pythons                                the wheel in fresh environments of all Pythons found
# make chaos                                  ten minutes of faults: processes, network, cluster, crawls
# make fuzz                                   search for pages that break `strip_chrome`, by a fuzzer (atheris)
# make release                                the files of a release, in dist/, each installed and tried
# make docs                                   the documentation as a site, in site/
#
# Each sets up all it needs in .venv. PYTHON names the interpreter, 3.11 or later.

VENV ?= .venv
BIN = $(VENV)/bin
# Python compiles what is imported; the rest, most of what tests install, need not be.
INSTALL = install --quiet --disable-pip-version-check --no-compile
# What tests need uv installs in a third of pip's time; pip does where uv cannot be had. Where an
# index does not say how long its files stay the same, uv's cache would keep Spark anew each time.
UV = $(BIN)/uv pip install --quiet --no-cache --python
ARGS ?=
export URL ?=
# More than the two processors of a small machine, as many tests wait for servers and crawls.
SIDE_BY_SIDE = -p tests.support.side_by_side --processes 4

# What becomes of items, in crawls of all kinds.
ITEMS = $(addprefix tests/pipelines/,test_duplicates.py test_gone_urls.py test_no_answer.py \
	items/test_fields.py)

# Beside the oldest that pyproject.toml names, with which the rest of `make min` runs.
SCRAPYS = 2.14 2.16 newest

.PHONY: crawl setup test suite lint min oldest matter pythons chaos fuzz docs release clean

# Without a compiler all works, and says so. A copy without the script is not to be compiled.
crawl: $(VENV)/crawl.stamp
	@test ! -f hatch_build.py || $(BIN)/python hatch_build.py || true
ifeq ($(strip $(URL)),)
	@$(BIN)/python -m examples.demo_site \
		$(BIN)/scrapy crawl site -a url={urls} -O pages.jsonl -s AUTOTHROTTLE_ENABLED=False $(ARGS)
else
	@$(BIN)/scrapy crawl site -a url="$$URL" -O pages.jsonl -s DEDUP_NAMESPACE=sites $(ARGS)
endif

# What Python has compiled of what is imported stays: hundreds of processes of the tests import it.
crawl setup suite min oldest matter: export PYTHONDONTWRITEBYTECODE =

# Threads for large matrices, of which there are none, cost each process that imports numpy a sixth.
suite min oldest matter: export OPENBLAS_NUM_THREADS = 1

# Side by side, for pip waits for the network and tests for servers; they run make themselves, and
# a jobserver is none of theirs.
MAKEFLAGS += --jobs=3
unexport MAKEFLAGS

test: suite oldest lint

setup: $(VENV)/test.stamp $(VENV)/compiled.stamp $(VENV)-min/min.stamp

suite: $(VENV)/test.stamp $(VENV)/compiled.stamp
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Where several run at once, compiling is done before the tests of any.
min: matter $(addprefix scrapy-,$(SCRAPYS))

matter: $(VENV)-min/min.stamp $(VENV)/compiled.stamp
	$(VENV)-min/bin/python -m pytest tests/pipelines tests/test_addon.py tests/store/test_connect.py \
		tests/store/test_failures.py tests/test_any_project.py

# A crawl of each kind, and each kind of connection: what else they need is the same code.
oldest: $(VENV)-min/min.stamp $(VENV)/compiled.stamp
	$(VENV)-min/bin/python -m pytest tests/test_any_project.py tests/store/test_connect.py \
		tests/store/test_failures.py tests/test_addon.py::test_a_crawl $(ITEMS)

# What differs from one Scrapy to the next stands in crawler/scrapy_versions.py.
scrapy-%: $(VENV)-scrapy-%/min.stamp $(VENV)/compiled.stamp
	$(VENV)-scrapy-$*/bin/python -m pytest tests/test_any_project.py $(ITEMS)

pythons: $(VENV)/test.stamp
	$(BIN)/python -m tests.support.pythons

chaos: $(VENV)/test.stamp
	$(BIN)/python -m tests.store.chaos $(ARGS)

fuzz: $(VENV)/test.stamp
	@$(BIN)/pip $(INSTALL) "atheris>=3.0"
	$(BIN)/python -m tests.chrome.fuzz_chrome -max_total_time=300 -timeout=5 -max_len=20000 $(ARGS)

docs: $(VENV)/test.stamp
	$(BIN)/mkdocs build --strict

# A release needs only these two of what the tests install.
release: $(VENV)/compiled.stamp
	@$(BIN)/pip $(INSTALL) $$(grep -E '^(build|twine)>' requirements-dev.txt)
	rm -rf dist
	$(BIN)/python -m tests.support.release dist

clean:
	rm -rf $(VENV) $(VENV)-min $(VENV)-scrapy-* .scrapy pages.jsonl site dist crawler/*/*/*.so

$(VENV)/crawl.stamp: requirements.txt | $(VENV)/bin/pip
	@echo "Installing what a crawl needs into $(VENV) (once) …"
	@$(BIN)/pip $(INSTALL) -r requirements.txt
	@touch $@

# What compiles the modules comes first: that goes on while the rest is installed.
$(VENV)/build.stamp: pyproject.toml tests/support/lowest.py | $(VENV)/bin/pip
	@$(BIN)/pip $(INSTALL) uv || echo "Without uv it takes longer."
	@$(BIN)/python tests/support/lowest.py build > $(VENV)/build.txt
	@$(UV) $(BIN)/python -r $(VENV)/build.txt || $(BIN)/pip $(INSTALL) -r $(VENV)/build.txt
	@touch $@

# Spark's 450 MB are packed only to be unpacked: without compressing them in half the time.
$(VENV)/test.stamp: requirements.txt requirements-dev.txt | $(VENV)/build.stamp
	@echo "Installing what the tests need into $(VENV) (once) …"
	@printf '[bdist_wheel]\ncompression = stored\n' > $(VENV)/wheels.cfg
	@export DIST_EXTRA_CONFIG=$(abspath $(VENV)/wheels.cfg); \
		$(UV) $(BIN)/python -r requirements-dev.txt || $(BIN)/pip $(INSTALL) -r requirements-dev.txt
	@touch $@ $(VENV)/crawl.stamp

# Scrapy 2.13.0 does not say that it needs an older Twisted.
$(VENV)-min/min.stamp: pyproject.toml tests/support/lowest.py | $(VENV)/build.stamp
	@$(BIN)/python -m venv --clear --without-pip $(VENV)-min
	@$(BIN)/python tests/support/lowest.py > $(VENV)-min/lowest.txt
	@printf '%s\n' "twisted<=25.5.0" attrs hypothesis pydantic pytest pytest-asyncio pytest-timeout \
		hatchling >> $(VENV)-min/lowest.txt
	@$(UV) $(VENV)-min/bin/python -r $(VENV)-min/lowest.txt \
		|| $(BIN)/pip --python $(VENV)-min/bin/python $(INSTALL) -r $(VENV)-min/lowest.txt
	@touch $@

.PRECIOUS: $(VENV)-scrapy-%/min.stamp
$(VENV)-scrapy-%/min.stamp: pyproject.toml requirements.txt
	@$(BIN)/python -m venv $(@D)
	@$(@D)/bin/pip $(INSTALL) -r requirements.txt $(if $(filter newest,$*),--upgrade scrapy,"scrapy==$*.*") \
		attrs hypothesis pydantic pytest pytest-asyncio pytest-timeout hatchling
	@touch $@

# Without a compiler all works, and pages take longer; with one, modules that cannot be compiled are
# an error, as their tests would be skipped.
$(VENV)/compiled.stamp: $(wildcard $(addprefix crawler/*/*/,*.pyx *.pxi pxi/*.pxi)) hatch_build.py | $(VENV)/build.stamp
	@if $(BIN)/python hatch_build.py; then touch $@; else ! command -v $${CC:-cc} > /dev/null; fi

# The first interpreter that is new enough and can make an environment; Debian's cannot until the
# package python3-venv is there.
$(VENV)/bin/pip:
	@python= found=; \
	for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
		"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		found="$${found:-$$candidate}"; \
		if "$$candidate" -c 'import ensurepip, venv' 2>/dev/null; then python="$$candidate"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Python 3.11 or later is needed and was not found; PYTHON=/path/to/python names one." >&2; \
		exit 1; \
	fi; \
	if [ -z "$$python" ]; then \
		version=$$("$$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "$$found cannot make virtual environments. On Debian and Ubuntu:" >&2; \
		echo "    sudo apt install python$$version-venv" >&2; \
		exit 1; \
	fi; \
	"$$python" -m venv --clear "$(VENV)" || { rm -rf "$(VENV)"; exit 1; }

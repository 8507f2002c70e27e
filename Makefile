# All entry points. Plain `make` installs in .venv what running the app needs, from requirements.lock;
# targets that test or build install their tools beside it, from requirements-dev.lock. Both need
# Python 3.11 or newer with pip and venv, and nothing else. With uv instead of make:
#
#     make demo    uv run desktop-rag demo
#     make test    uv run --extra dev pytest -n logical --dist worksteal
#
# PYTHON=/path/to/python chooses the interpreter, ARGS="-k words -x" is passed to pytest,
# WORKERS=0 runs the tests in one process.

VENV := .venv
BIN := $(VENV)/bin
# The first says that the app can run, the second that its tools are installed as well.
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
UV := uv==0.13.8
AUDIT := pip-audit==2.10.1
PYINSTALLER := pyinstaller==6.22.3 pyinstaller-hooks-contrib==2026.9

# One worker per core; an idle worker takes over tests of another.
WORKERS := logical
PYTEST = $(OFFSCREEN) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Where it is set, every process would compile the app anew, which takes a second.
unexport PYTHONDONTWRITEBYTECODE

# Without a display Qt renders offscreen.
OFFSCREEN := $(if $(QT_QPA_PLATFORM)$(DISPLAY)$(WAYLAND_DISPLAY),,QT_QPA_PLATFORM=offscreen)

# The translations, which the window loads compiled.
WORDS := $(wildcard resources/words/*.ts)
# Qt's system packages on a minimal Debian or Ubuntu; the second line only with a display.
QT_PACKAGES := libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libgssapi-krb5-2
XCB_PACKAGES := libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 \
  libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0

.DEFAULT_GOAL := setup
.PHONY: help setup run demo demo-team test test-rest test-all test-deep check stories synapse looks gallery words lock container-lock sbom audit package smoke \
  bench clean find-python need-qt qt-packages

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(RUNS) ## install what the app needs in .venv (the default)

run: $(RUNS) need-qt ## open the window
	$(BIN)/python -m desktop_rag

demo: $(RUNS) $(if $(DISPLAY)$(WAYLAND_DISPLAY),need-qt) ## index the demo documents and answer a first question
	$(BIN)/python -m desktop_rag demo

demo-team: $(READY) ## a server with PostgreSQL and two users, until Ctrl-C
	@$(BIN)/python packaging/demo_team.py

test: $(READY) need-qt ## run the tests of every day: all that are fast, and one story of each feature
	$(PYTEST) -m "not slow" $(ARGS)

# These wait for processes and windows: one worker more than cores.
test-rest: WORKERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
test-rest: $(READY) need-qt ## run the tests that `make test` leaves out
	$(PYTEST) -m slow $(ARGS)

test-all: $(READY) need-qt ## run all tests, then those of the core without each feature
	$(PYTEST) $(ARGS)
	$(OFFSCREEN) $(BIN)/python -m tests.absent_wing

test-deep: $(READY) need-qt ## run all tests with full evaluation sets and more random examples
	$(PYTEST) --deep --hypothesis-profile=deep $(ARGS)

stories: $(READY) need-qt ## run only the user stories, in the real window
	$(PYTEST) tests/stories $(ARGS)

check: $(READY) ## format, lint, types, imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --threads --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache --no-logo

synapse: ## install the homeserver that the tests of the bot for Matrix rooms start, under build/
	@python=$$($(MAKE) -s find-python) && $$python -m venv build/synapse
	build/synapse/bin/python -m pip install --quiet 'matrix-synapse>=1.163,<2'

gallery: $(READY) ## pictures of every widget in every state, in build/gallery
	$(BIN)/python -m tests.looks.gallery $(ARGS)

looks: $(READY) ## pictures of the window in its states, in build/looks
	$(BIN)/python -m tests.looks.looks $(ARGS)

words: $(READY) ## take new texts of the window into the translations, and compile the complete ones
	$(BIN)/python -m tests.words.told_texts build/words/told_texts.py
	$(BIN)/pyside6-lupdate -silent -extensions py -locations none -no-obsolete -tr-function-alias tr+=marked desktop_rag build/words -ts $(WORDS)
	for file in $(WORDS); do grep -q 'type="unfinished"' $$file || $(BIN)/pyside6-lrelease -silent $$file; done

LOCK = build/lock/bin/uv pip compile pyproject.toml --universal --python-version 3.11 \
  --generate-hashes --no-header --no-annotate --quiet $(UPGRADE)

lock: ## regenerate both lock files; UPGRADE=--upgrade updates the versions
	@python=$$($(MAKE) -s find-python) && $$python -m venv build/lock
	build/lock/bin/python -m pip install --quiet $(UV)
	$(LOCK) --extra build --extra local-model --output-file requirements.lock
	$(LOCK) --extra build --extra local-model --extra dev --constraint requirements.lock --output-file requirements-dev.lock \
	  $$(sed -n 's/^\([a-z0-9.-]*\)==.*/--no-emit-package \1/p' requirements.lock)

container-lock: $(READY) ## write what the image of the server installs, from the lock files
	$(BIN)/python packaging/container/server_lock.py > packaging/container/requirements.txt
	$(BIN)/python packaging/container/server_lock.py --tools > packaging/container/build-requirements.txt

sbom: $(READY) ## write the software bill of materials to build/sbom.cdx.json
	$(BIN)/python packaging/build_sbom.py

audit: ## ask the public databases for known vulnerabilities; needs the network
	@python=$$($(MAKE) -s find-python) && $$python -m venv build/audit
	build/audit/bin/python -m pip install --quiet $(AUDIT)
	build/audit/bin/pip-audit --strict --require-hashes --disable-pip \
	  --requirement requirements.lock --requirement requirements-dev.lock

BUNDLE := build/bundle/desktop-rag

package: $(RUNS) need-qt ## build the program for people without Python, for this system, under build/
	@python=$$($(MAKE) -s find-python) && $$python -m venv build/package
	build/package/bin/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
	build/package/bin/python -m pip install --quiet $(PYINSTALLER)
	build/package/bin/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall .
	$(OFFSCREEN) $(BIN)/python packaging/bundle/build_icons.py --out build/icons
	build/package/bin/pyinstaller --noconfirm --log-level WARN --distpath build/bundle \
	  --workpath build/pyinstaller packaging/bundle/desktop-rag.spec
	$(BIN)/python packaging/bundle/finish_bundle.py $(BUNDLE)
	! command -v dpkg-deb >/dev/null || \
	  $(OFFSCREEN) $(BIN)/python packaging/linux/build_deb.py $(BUNDLE) --out build

smoke: $(RUNS) ## use the built program as a person would
	$(BIN)/python packaging/smoke.py $(BUNDLE)/desktop-rag

# An hour and more each; run by hand, as their first lines say.
BY_HAND := benchmarks/kills.py benchmarks/flips.py benchmarks/soak.py benchmarks/fair_share.py

bench: $(READY) ## run the benchmarks; installs torch for the comparison
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	for script in $(filter-out $(BY_HAND),$(wildcard benchmarks/*.py benchmarks/changes/*.py)); do $(BIN)/python $$script || exit 1; done

clean: ## remove everything that was built
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNS): pyproject.toml requirements.lock
	@python=$$($(MAKE) -s find-python) && echo "Building $(VENV) with $$($$python --version)" && \
	  $$python -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(READY): $(RUNS) requirements-dev.lock
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

# Prints the interpreter to build with, or the missing requirement.
find-python:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  if $$python -c 'import venv, ensurepip' 2>/dev/null; then echo $$python; exit 0; fi; \
	  unusable=$$python; \
	done; \
	if [ -n "$$unusable" ]; then \
	  echo "$$unusable is new enough, but its venv module is missing." \
	    "On Debian or Ubuntu: apt install python3-venv" >&2; \
	else \
	  echo "No Python 3.11 or newer found. Install one, or name it: make PYTHON=/path/to/python" >&2; \
	fi; \
	exit 1

need-qt: $(RUNS)
	@$(OFFSCREEN) $(BIN)/python -c \
	  'import PySide6.QtNetwork, PySide6.QtSvg; from PySide6.QtWidgets import QApplication as A; A([])' \
	|| { echo "Qt can't start, for the reason above. Libraries it needs on Debian or Ubuntu:" \
	  "$(QT_PACKAGES) and, with a display, $(XCB_PACKAGES)" >&2; exit 1; }

qt-packages:
	@echo $(QT_PACKAGES) $(if $(DISPLAY),$(XCB_PACKAGES))

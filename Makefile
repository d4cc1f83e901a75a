# The commands of the project. `make help` lists them.
PYTHON_BIN := .venv/bin/python
TESTS ?=

.PHONY: help run demo-agent test test-services browser lint format messages

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

run: ## install what is missing and serve on 127.0.0.1:8000
	@.ci/prepare requirements.txt
	@exec $(PYTHON_BIN) manage.py serve --first-run

demo-agent: ## play an agent that asks to delete one event of the running server
	@.ci/prepare requirements.txt
	@exec $(PYTHON_BIN) clients/python/demo_agent.py

test: browser ## run the tests (TESTS="tests/ledger -x" runs some)
	@$(PYTHON_BIN) -m pytest $(TESTS)

test-services: browser ## run the tests on PostgreSQL and Redis (DATABASE_URL, REDIS_URL, or started here)
	@$(PYTHON_BIN) tests/backends.py $(PYTHON_BIN) -m pytest $(TESTS)

browser:
	@.ci/prepare requirements-dev.txt
	@$(PYTHON_BIN) tests/browser/chromium.py

lint: ## check style, types, imports and migrations
	@.ci/prepare requirements-dev.txt
	@$(PYTHON_BIN) -m ruff check .
	@$(PYTHON_BIN) -m ruff format --check .
	@$(PYTHON_BIN) -m mypy apps project
	@.venv/bin/lint-imports
	@$(PYTHON_BIN) manage.py makemigrations --check --dry-run

format: ## sort imports and format
	@.ci/prepare requirements-dev.txt
	@$(PYTHON_BIN) -m ruff check --fix-only .
	@$(PYTHON_BIN) -m ruff format .

messages: ## compile the translations after a .po file changed
	@.ci/prepare requirements-dev.txt
	@$(PYTHON_BIN) -m tests.translations

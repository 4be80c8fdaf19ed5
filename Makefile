# Thin wrappers over dev.py; `make test ARGS="-k auc"` passes arguments on.

# python3, or where that one is too old or too new the newest on the PATH that fits.
SUITS = import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
FOUND = $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$candidate -c '$(SUITS)' 2>/dev/null; then echo $$candidate; break; fi; done)
PYTHON ?= $(or $(FOUND),python3)

COMMANDS = setup demo test study hostile pins spark lint types docs bench lock clean

.PHONY: help $(COMMANDS)
.NOTPARALLEL:

help:
	@$(PYTHON) dev.py help

$(COMMANDS):
	@$(PYTHON) dev.py $@ $(ARGS)

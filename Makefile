# SPDX-License-Identifier: GPL-2.0-or-later
# Front door. Every target does its own set-up; `make help` lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test bench nightly check format lint unit cosim peers e2e modules qemu clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  ./niclab --help  the lab itself: up, reload, demo, bench, doctor"

setup: ## Install the Debian packages the project needs (as root)
	@harness/host/setup

demo: setup ## Boot one VM: stock mlx5_core, then our driver, on two joined cards; print the table
	@./niclab demo

test: setup ## Run every test: unit, cosim, peers, e2e, and that counting repeats
	@tests/run unit cosim peers e2e bench

bench: setup ## Count what a frame, a KiB or a round costs: stock driver, ours and other cards; print the table
	@./niclab bench --json build/bench.json

nightly: setup ## Run every suite on many kinds of machines, keep the results, write build/nightly.html
	@status=0; ./niclab matrix tests/nightly.yaml || status=$$?; ./niclab report && exit $$status

check: setup lint modules ## Format, lint, both kernels' modules, unit and cosim under sanitizers
	@tests/run unit cosim

unit: setup ## Layouts, card, driver core and harness, each alone, under sanitizers
	@tests/run unit

cosim: setup ## The driver core on the device core in one process, under sanitizers
	@tests/run cosim

peers: setup ## The stock mlx5_core of Debian's kernels on our card, in VMs
	@tests/run peers

e2e: setup ## Our driver on our card, in VMs
	@tests/run e2e

lint: setup ## clang-format, clang-tidy, shellcheck and the project's own rules; changes nothing
	@tests/lint

format: setup ## Rewrite the sources in the project's format
	@tests/lint --fix

modules: setup ## Build the driver against both kernels
	@guest-driver/build 6.1
	@guest-driver/build 6.12

qemu: setup ## Build QEMU with our card and print its path
	@qemu-device/build/build

clean: ## Delete what was built here; the cache outside the clone stays
	rm -rf build compile_commands.json

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# A thin front for CMake. BUILD is a preset of CMakePresets.json: release debug asan tsan clang.

BUILD ?= release
JOBS ?= $(shell nproc)
PREFIX ?= $(CURDIR)/install
DIR := build/$(BUILD)

.PHONY: help setup configure build all run test install check check-style check-layers check-format check-headers \
        check-tidy check-clang soak bench clean

help:
	@echo "make run       install what is missing, build, run the point-to-point benchmark"
	@echo "make test      install what is missing, build, run all tests"
	@echo "make install PREFIX=dir"
	@echo "make wheel     a package for pip in build/portable/wheel; make deb: for Debian, in build/portable/deb"
	@echo "make dist      the sources of this commit in build/dist"
	@echo "make build | check | bench | soak | clean       BUILD=$(BUILD) JOBS=$(JOBS)"

setup:
	@tools/setup build

configure:
	@mkdir -p build
	@cmake --preset $(BUILD) >$(DIR).configure.log 2>&1 || { cat $(DIR).configure.log; exit 1; }

# What is installed, and what `make run` runs. No tests. `make run` alone builds no more than it runs.
build: setup configure
	@tools/compile $(DIR) -j $(JOBS) product

run: setup configure
	@tools/compile $(DIR) -j $(JOBS) main_job
	@tools/run_main $(DIR)

# Everything, tests included.
all: configure
	@tools/compile $(DIR) -j $(JOBS) all

test:
	@tools/setup build test
	@$(MAKE) --no-print-directory all
	@ctest --test-dir $(DIR) -j $(JOBS) --output-on-failure --no-tests=error

install: build
	@cmake --install $(DIR) --prefix $(PREFIX)

# A wheel for pip, which runs on any Linux with glibc 2.34 or newer.
WHEEL := build/portable/wheel
VERSION := $(word 3,$(shell grep project CMakeLists.txt))
.PHONY: wheel
wheel:
	@$(MAKE) --no-print-directory build BUILD=portable
	@rm -rf $(WHEEL) && cmake --install build/portable --prefix $(WHEEL)/tree --strip >/dev/null
	@packaging/make_wheel $(WHEEL)/tree $(WHEEL) $(VERSION)

# Debian packages, of the same tree.
DEB := build/portable/deb
.PHONY: deb
deb:
	@$(MAKE) --no-print-directory build BUILD=portable
	@rm -rf $(DEB) && cmake --install build/portable --prefix $(DEB)/tree --strip >/dev/null
	@packaging/make_deb $(DEB)/tree $(DEB) $(VERSION)

# The sources of this commit.
.PHONY: dist
dist:
	@mkdir -p build/dist
	@git archive --prefix=fulmar-$(VERSION)/ -o build/dist/fulmar-$(VERSION).tar.gz HEAD
	@ls build/dist/fulmar-$(VERSION).tar.gz

# Everything that is checked without running the code.
check: check-setup check-style check-layers check-format check-headers check-tidy check-clang
	@echo "check: all passed"

.PHONY: check-setup
check-setup:
	@tools/setup build test check
	@$(MAKE) --no-print-directory all

check-style:
	@tools/check_style
	@tools/check_tour

check-layers:
	@tools/check_layers

check-format:
	@tools/check_format

check-headers: check-setup
	@cmake --build $(DIR) -j $(JOBS) --target check_headers

check-tidy: check-setup
	@tools/check_tidy $(DIR) -j $(JOBS)

# The other compiler has to accept everything, too.
check-clang: check-setup
	@tools/check_clang -j $(JOBS)

# What is too long for every change: sanitizers, clang, another architecture, external suites.
soak:
	@tools/setup build test check soak
	@tools/soak

bench:
	@tools/setup build bench
	@$(MAKE) --no-print-directory all
	@bench/compare --build $(DIR)

clean:
	rm -rf build install

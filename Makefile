# The commands of this project. What each part of the test does stands in tools/run_tests.py.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
N ?= 1000
RELEASE = build/release

.PHONY: help setup release demo test test-asan test-tsan bench nightly soak soak-steady fuzz lint shape install package clean

help:
	@echo 'make demo        build Frazil and watch rows flow from Kafka into an Iceberg table'
	@echo 'make test        build and run every test, on real servers too'
	@echo 'make test-asan   unit tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make test-tsan   unit tests under ThreadSanitizer'
	@echo 'make bench       throughput and latency on this machine'
	@echo 'make nightly     the long tests            make soak-steady   hours under load'
	@echo 'make soak N=1000 kill -9, pauses and outages on real servers; figures to docs/guarantees.md'
	@echo 'make fuzz        each parser of foreign bytes, FUZZ_SECONDS each ($(FUZZ_SECONDS))'
	@echo 'make lint        layers, formatting, clang-tidy    make shape   longest functions and files'
	@echo 'make install     into PREFIX ($(PREFIX))     make clean  remove build/'
	@echo 'make package     Debian package and tarball, into build/package'

setup:
	tools/setup

release: setup
	cmake --preset release
	ninja -C $(RELEASE) -j $(JOBS) frazil

demo: release
	$(RELEASE)/frazil demo

# Set-up is a part of the test too; Python, which runs the parts, must come first.
test:
	command -v python3 > /dev/null || tools/setup
	tools/run_tests.py

test-asan:
	tools/setup
	tools/run_tests.py --preset asan build audit unit

test-tsan:
	tools/setup
	tools/run_tests.py --preset tsan build audit unit

bench: setup
	@test -x bench/run || { echo 'bench/run is missing: it holds the benchmark' >&2; exit 1; }
	bench/run

nightly:
	@test -x tests/nightly/run || { echo 'tests/nightly/run is missing: it holds the long tests' >&2; exit 1; }
	tests/nightly/run

soak: release
	tools/setup --tests
	$${FRAZIL_DEPS:-.deps}/venv/bin/python tests/soak/chaos --kills $(N) --page docs/guarantees.md

soak-steady:
	@test -x tests/soak/run || { echo 'tests/soak/run is missing: it holds the load of hours' >&2; exit 1; }
	tests/soak/run

fuzz:
	tools/setup --lint
	FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run_fuzz

lint:
	tools/setup --lint
	tools/lint

shape:
	@tools/shape.py

install: setup
	cmake --preset release
	ninja -C $(RELEASE) -j $(JOBS) frazil
	cmake --install $(RELEASE) --prefix $(PREFIX)

package: release
	tools/setup --package
	packaging/build_package $(RELEASE) build/package

clean:
	rm -rf build

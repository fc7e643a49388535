# SPDX-License-Identifier: GPL-3.0-or-later
# weir: `make help` lists what can be made.
#
# Sources are found by their place (sim/*/*.c, tests/KIND/*.c), so a new file
# needs no line here. Objects live in build/MODE and are made anew when the
# compiler or its flags change. Until `make deps` has run, the libraries'
# flags below are empty and only the targets that install or clean work.

MODE   ?= release
PREFIX ?= /usr/local
BUILD  ?= build/$(MODE)
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
VERSION := 0.1.0

ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config

# ---- flags -------------------------------------------------------------------

LIBRARIES := gsl jansson smartcols
# Of xxHash the headers are enough.
LIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) libxxhash 2>/dev/null)
LIB_LIBS   := $(shell $(PKG_CONFIG) --libs $(LIBRARIES) 2>/dev/null)
TEST_CFLAGS := $(shell $(PKG_CONFIG) --cflags cmocka 2>/dev/null)
TEST_LIBS   := $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
ifdef WERROR
WARNINGS += -Werror
endif

# Asserts stay on in every mode. Contraction to FMA stays off: a seed gives
# the same bytes on every machine.
FLAGS_release  := -O2 -g
FLAGS_debug    := -O0 -g3
FLAGS_asan     := -O1 -g -fno-omit-frame-pointer \
                  -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_coverage := -O0 -g --coverage
MODE_FLAGS := $(FLAGS_$(MODE))
ifeq ($(MODE_FLAGS),)
$(error MODE must be release, debug, asan or coverage, not "$(MODE)")
endif

BASE_FLAGS := -std=gnu11 -Isim -ffp-contract=off -pthread
ALL_CFLAGS = $(BASE_FLAGS) $(WARNINGS) $(MODE_FLAGS) $(CPPFLAGS) $(CFLAGS) \
             $(LIB_CFLAGS)
LINK = $(CC) -pthread $(MODE_FLAGS) $(CFLAGS) $(LDFLAGS)

# ---- files -------------------------------------------------------------------

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

CLI_OBJS   := $(call objects,$(wildcard sim/cli/*.c))
ROUTE_OBJS := $(call objects,$(wildcard sim/route/*.c))
SIM_OBJS   := $(filter-out $(CLI_OBJS),$(call objects,$(wildcard sim/*/*.c)))
TEST_SRCS  := $(wildcard tests/unit/*.c tests/law/*.c tests/vectors/*.c)
BENCH_SRCS := $(wildcard tests/bench/*.c)
TEST_PROGS  := $(patsubst %.c,$(BUILD)/%,$(TEST_SRCS))
BENCH_PROGS := $(patsubst %.c,$(BUILD)/%,$(BENCH_SRCS))
TEST_SCRIPTS := $(wildcard tests/cli/*.sh tests/invalid/*.sh tests/golden/*.sh)
TIDY_STAMPS := $(patsubst %.c,$(BUILD)/%.tidy,$(wildcard sim/*/*.c))
DEMO := split-25-75 shift-1-to-2 azure-conv-hour

# The objects that are told where the data is installed, and the version.
DATADIR_OBJS := $(call objects,$(shell grep -sl WEIR_DATADIR sim/cli/*.c))
VERSION_OBJS := $(call objects,$(shell grep -sl WEIR_VERSION sim/cli/*.c))
$(DATADIR_OBJS) $(DATADIR_OBJS:.o=.tidy): DEFINES += -DWEIR_DATADIR='"$(PREFIX)/share/weir"'
$(VERSION_OBJS) $(VERSION_OBJS:.o=.tidy): DEFINES += -DWEIR_VERSION='"$(VERSION)"'

# ---- how ---------------------------------------------------------------------

MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.DEFAULT_GOAL := all

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

# In parallel, unless the make above has a -j of its own. In the recipe
# $(MAKE) must be written out: by it make knows whom to lend its job slots.
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: all deps demo test check tidy format accept bench coverage install \
        clean help programs need-libraries FORCE

all: programs ## Build everything; the program is left at ./weir
	@cmp -s $(BUILD)/weir weir || cp $(BUILD)/weir weir

deps: ## Install the libraries and tools that are missing (apt; root or sudo)
	@sh tests/deps.sh build

demo: deps ## Install what is missing, build, run the main job, draw its charts
	@$(MAKE) $(PARALLEL) all
	@rm -rf out/demo
	@set -e; for name in $(DEMO); do \
		printf '\n== %s\n' "$$name"; \
		./weir run "scenarios/$$name.json" --dir "out/demo/$$name"; \
		./weir plot "out/demo/$$name" >/dev/null; \
	done; \
	trace=AzureLLMInferenceTrace_conv.csv; \
	if [ -n "$$WEIR_DATA" ] && [ -f "$$WEIR_DATA/traces/$$trace" ]; then \
		printf '\n== azure-conv-trace\n'; \
		./weir run scenarios/with-data/azure-conv-trace.json \
			--dir out/demo/azure-conv-trace; \
		./weir plot out/demo/azure-conv-trace >/dev/null; \
	else \
		printf '\n%s\n' "(with $$trace below WEIR_DATA/traces, the demo replays that trace too)"; \
	fi
	@printf '\nCharts:\n'
	@find out/demo -name '*.svg' -o -name '*.png' | LC_ALL=C sort | \
		sed 's/^/  /'

test: deps ## Install what is missing, build, run every test (MODE=asan too)
	@$(MAKE) $(PARALLEL) all
	@WEIR='$(CURDIR)/$(BUILD)/weir' WEIR_TESTS='$(CURDIR)/tests' \
		sh tests/run.sh '$(BUILD)/results' $(TEST_PROGS) $(TEST_SCRIPTS)

check: ## Hold the tree to its rules: layers, headers, format, tidy, files
	@sh tests/deps.sh build check
	@$(MAKE) $(PARALLEL) MODE=release BUILD=build/release programs
	@failed=0; for rule in layers headers format files; do \
		if BUILD=build/release sh "tests/check/$$rule.sh"; \
		then printf '  ok      %s\n' "$$rule"; \
		else printf '  FAILED  %s\n' "$$rule"; failed=1; fi; \
	done; \
	if $(MAKE) $(PARALLEL) -k MODE=release BUILD=build/release tidy 2>build/tidy.log; \
	then printf '  ok      tidy\n'; \
	else grep -v '^make' build/tidy.log >&2; \
		printf '  FAILED  tidy\n'; failed=1; fi; \
	exit $$failed

format: ## Rewrite sim and tests in the project's format
	$(Q)find sim tests -name '*.[ch]' -exec clang-format -i {} +

accept: ## Take today's output as golden; only while all laws hold
	@$(MAKE) $(PARALLEL) all
	@WEIR='$(CURDIR)/$(BUILD)/weir' WEIR_TESTS='$(CURDIR)/tests' \
		sh tests/run.sh '$(BUILD)/results' \
		$(filter $(BUILD)/tests/law/%,$(TEST_PROGS))
	@WEIR='$(CURDIR)/$(BUILD)/weir' sh tests/golden/run.sh --accept

bench: deps ## Measure decisions, events and requests per second
	@$(MAKE) $(PARALLEL) all
	@set -e; for program in $(BENCH_PROGS); do "$$program"; done

coverage: deps ## Run the tests and print the lines and branches they reach
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || :
	@$(MAKE) MODE=coverage BUILD=build/coverage test
	@sh tests/coverage.sh build/coverage

install: ## Install below DESTDIR and PREFIX: program, data, routing library
	@$(MAKE) $(PARALLEL) all
	$(Q)install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/include/weir' \
		'$(DESTDIR)$(PREFIX)/lib/pkgconfig' '$(DESTDIR)$(PREFIX)/share/weir'
	$(Q)install -m 755 $(BUILD)/weir '$(DESTDIR)$(PREFIX)/bin/weir'
	$(Q)install -m 644 $(BUILD)/libweir-route.a '$(DESTDIR)$(PREFIX)/lib/'
	$(Q)install -m 644 sim/route/route.h '$(DESTDIR)$(PREFIX)/include/weir/'
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'Name: weir-route' \
		'Description: Routing decisions for LLM inference endpoints' \
		'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' \
		'Libs: -L$${prefix}/lib -lweir-route' \
		>'$(DESTDIR)$(PREFIX)/lib/pkgconfig/weir-route.pc'
	$(Q)for d in models scenarios plots; do \
		if [ -d "$$d" ]; then \
			cp -R "$$d" '$(DESTDIR)$(PREFIX)/share/weir/'; fi; done

clean: ## Remove what was built (results in out/ stay)
	rm -rf build weir

help: ## Show this
	@printf 'make TARGET [MODE=release|debug|asan|coverage] [CC=gcc|clang]'
	@printf ' [WERROR=1] [V=1]\n\n'
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | \
		expand -t 14

# ---- rules -------------------------------------------------------------------

programs: $(BUILD)/weir $(BUILD)/libweir-route.a $(TEST_PROGS) $(BENCH_PROGS)

need-libraries:
	@[ -n '$(LIB_LIBS)' ] && [ -n '$(TEST_LIBS)' ] || { \
		echo 'weir: libraries are missing; "make deps" installs them' >&2; \
		exit 1; }

# Text that changes only when what was built from it must be built again.
define stamp
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(strip $(1)))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(strip $(1)))' >$@
endef

$(BUILD)/flags: FORCE | need-libraries
	$(call stamp,$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) $(LINK) $(LIB_LIBS))
$(BUILD)/defines: FORCE
	$(call stamp,$(PREFIX) $(VERSION))
$(BUILD)/members: FORCE
	$(call stamp,$(CLI_OBJS) $(SIM_OBJS))

$(DATADIR_OBJS) $(VERSION_OBJS): $(BUILD)/defines

$(BUILD)/sim/%.o: sim/%.c $(BUILD)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEFINES) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libweir.a: $(SIM_OBJS) $(BUILD)/members
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(SIM_OBJS)

$(BUILD)/libweir-route.a: $(ROUTE_OBJS) $(BUILD)/members
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(ROUTE_OBJS)

$(BUILD)/weir: $(CLI_OBJS) $(BUILD)/libweir.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $(CLI_OBJS) $(BUILD)/libweir.a $(LIB_LIBS) -lm

$(TEST_PROGS) $(BENCH_PROGS): %: %.o $(BUILD)/libweir.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $< $(BUILD)/libweir.a $(TEST_LIBS) $(LIB_LIBS) -lm

# A source is looked at again when it or a header it includes has changed.
tidy: $(TIDY_STAMPS)

$(BUILD)/%.tidy: %.c .clang-tidy $(BUILD)/%.o
	@clang-tidy --quiet $< -- $(BASE_FLAGS) $(WARNINGS) $(DEFINES) \
		$(LIB_CFLAGS) >$@.log 2>/dev/null || { \
		sed -n 's,^$(CURDIR)/,,; /\(warning\|error\):/p' $@.log >&2; \
		exit 1; }
	@touch $@

-include $(patsubst %.c,$(BUILD)/%.d,$(wildcard sim/*/*.c) $(TEST_SRCS) \
           $(BENCH_SRCS))

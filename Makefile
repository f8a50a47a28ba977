# Crabtree. `make help` lists the targets.
CC      = gcc
BUILD   = build
MODE    = release
PREFIX  = /usr/local
PGBIN  := $(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin)))

CFLAGS_release = -O2 -g
CFLAGS_debug   = -O1 -g -DCRAB_DEBUG
CFLAGS_tsan    = -O1 -g -fsanitize=thread -DCRAB_DEBUG
CFLAGS_asan    = -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined -DCRAB_DEBUG
CFLAGS_crash   = -O1 -g -DCRAB_CRASH_DISK
CFLAGS  = -std=gnu17 -D_GNU_SOURCE -fno-strict-aliasing -Wall -Wextra -Werror -I. $(CFLAGS_$(MODE)) $(EXTRA_CFLAGS)
LDLIBS  = -luv -lgmp -lssl -lcrypto -lutf8proc -lz -lm -lpthread

FLOORS  = base storage btree parser engine engine/types engine/catalog engine/plan engine/exec server
SOURCES = $(filter-out server/main.c,$(foreach floor,$(FLOORS),$(wildcard $(floor)/*.c)))
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)
# One Criterion program for each tests/*/*_test.c; stress programs and tools have a main of their own.
UNIT    = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*/*_test.c))
STRESS  = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*/*_stress.c))
TOOLS   = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*/*_client.c))

all: $(BUILD)/crabtree $(BUILD)/bench/generate   ## build the server at build/crabtree

$(BUILD)/crabtree: $(BUILD)/server/main.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/libcrab.a: $(OBJECTS)
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/bench/generate: $(BUILD)/bench/generate.o
	$(CC) $(CFLAGS) -o $@ $^
$(BUILD)/bench/latches: $(BUILD)/bench/latches.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/bench/hooks: $(BUILD)/bench/hooks.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard base/*.c storage/*.c btree/*.c))
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/bench/floor: $(BUILD)/bench/floor.o
	$(CC) $(CFLAGS) -o $@ $^ -lpthread
$(BUILD)/bench/compare: $(BUILD)/bench/compare.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard bench/compare_*.c))
	$(CC) $(CFLAGS) -o $@ $^ -lpq -lsqlite3 -lm
$(BUILD)/bench/parallel: $(BUILD)/bench/parallel.o $(BUILD)/bench/compare_tools.o $(BUILD)/bench/compare_script.o $(BUILD)/bench/compare_postgres.o
	$(CC) $(CFLAGS) -o $@ $^ -lpq -lm -lpthread
$(BUILD)/bench/compare_postgres.o: CFLAGS += -I$(shell pg_config --includedir 2>/dev/null)
# The engines beside ours: whichever of them has its header here (the others are left out, and the program says so).
BTREE_LIBS = $(foreach pair,lmdb.h:-llmdb db.h:-ldb wiredtiger.h:-lwiredtiger sqlite3.h:-lsqlite3,$(if $(wildcard /usr/include/$(word 1,$(subst :, ,$(pair)))),$(word 2,$(subst :, ,$(pair)))))
$(BUILD)/bench/btree: $(patsubst %.c,$(BUILD)/%.o,$(wildcard bench/btree*.c)) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS) $(BTREE_LIBS)
$(UNIT): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS) -lcriterion -lsqlite3
$(STRESS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(TOOLS): CFLAGS += -I$(shell pg_config --includedir 2>/dev/null)
$(TOOLS): $(BUILD)/%: $(BUILD)/%.o
	$(CC) $(CFLAGS) -o $@ $^ -lpq -lsqlite3 -lpthread

# Scenarios of the seeded scheduler: one program, with small grains and a small window. And the same with each bug of base/mutant.h
# planted: the object that differs stands before the library.
INTERLEAVE = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/interleave/*.c))
SMALL      = -DGRAIN_PAGES=1 -DGRAIN_LEAVES=1 -DWINDOW=4 -DMORSELS_EACH=1 -DPATIENCE_US=0 -DSTART_US=0 -DSCAN_SHRINK=1 -DWINDOW_BYTES=65536 -DBOX_BYTES=4096 -DSPILL_LEAST=65536
SMALLER    = $(patsubst %,$(BUILD)/small/engine/exec/%.o,seq_scan index_scan scan_share gather aggregate_group aggregate_spill aggregate_distinct hash_join_spill)
MUTANTS   := $(shell sed -n 's/^ *X.\([A-Z_]*\), *"\([^"]*\)\.c".*/\1:\2/p' base/mutant.h)
$(BUILD)/small/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SMALL) -MMD -MP -c -o $@ $<
$(BUILD)/tests/interleave/interleave: $(INTERLEAVE) $(SMALLER) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
define mutant
$(BUILD)/mutant/$(1).o: $(2).c base/mutant.h
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) $(SMALL) -DCRAB_MUTANT=MUTANT_$(1) -c -o $$@ $$<
$(BUILD)/mutant/$(1): $(BUILD)/mutant/$(1).o $(INTERLEAVE) $(filter-out %/$(2).o,$(SMALLER)) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $$@ $$^ $(LDLIBS)
endef
$(foreach m,$(MUTANTS),$(eval $(call mutant,$(word 1,$(subst :, ,$(m))),$(word 2,$(subst :, ,$(m))))))

# Random statements whose answers are known, and the server that they are put to: with small grains, so that few rows make many.
ORACLE = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/oracle/*.c))
$(ORACLE): CFLAGS += -I$(shell pg_config --includedir 2>/dev/null)
$(BUILD)/tests/oracle/oracle: $(ORACLE)
	$(CC) $(CFLAGS) -o $@ $^ -lpq -lsqlite3 -lm
$(BUILD)/small/crabtree: $(BUILD)/server/main.o $(SMALLER) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# A grader a lesson: the lesson's files and grading.c, with the student's exercise.c, or with one of solutions/.
LESSONS = $(patsubst course/%/,%,$(wildcard course/[1-9]-*/))
define lesson
GRADER_$(1) = $$(patsubst %.c,$$(BUILD)/%.o,course/grading.c $$(filter-out %/exercise.c,$$(wildcard course/$(1)/*.c))) $$(BUILD)/libcrab.a
$$(BUILD)/course/$(1)/grade: $$(BUILD)/course/$(1)/exercise.o $$(GRADER_$(1))
	$$(CC) $$(CFLAGS) -o $$@ $$^ $$(LDLIBS)
$$(patsubst %.c,$$(BUILD)/%,$$(wildcard course/$(1)/solutions/*.c)): $$(BUILD)/%: $$(BUILD)/%.o $$(GRADER_$(1))
	$$(CC) $$(CFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach one,$(LESSONS),$(eval $(call lesson,$(one))))
GRADERS = $(LESSONS:%=$(BUILD)/course/%/grade) $(patsubst %.c,$(BUILD)/%,$(wildcard course/*/solutions/*.c))

# The same server on a disk that forgets (tests/server/power.sh): the objects that differ stand before the library.
CRASH   = $(patsubst %.c,$(BUILD)/crash/%.o,$(wildcard storage/*.c))
VARIANTS = $(BUILD)/small/crabtree $(BUILD)/crash/crabtree $(patsubst tests/%.c,$(BUILD)/crash/%,$(wildcard tests/storage/*crash_stress.c))

$(BUILD)/crash/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DCRAB_CRASH_DISK -MMD -MP -c -o $@ $<
$(BUILD)/crash/crabtree: $(BUILD)/server/main.o $(CRASH) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/crash/%: $(BUILD)/crash/tests/%.o $(CRASH) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
# A server with a wrong-result bug of base/plant.h, on small grains.
PLANTS := $(shell sed -n 's/^ *X.\([A-Z_]*\), *"\([^"]*\)\.c".*/\1:\2/p' base/plant.h)
define plant
$(BUILD)/plant/$(1).o: $(2).c base/plant.h
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) $(SMALL) -DCRAB_PLANT=PLANT_$(1) -MMD -MP -c -o $$@ $$<
$(BUILD)/plant/$(1): $(BUILD)/server/main.o $(BUILD)/plant/$(1).o $(filter-out %/$(2).o,$(SMALLER)) $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $$@ $$^ $(LDLIBS)
endef
$(foreach p,$(PLANTS),$(eval $(call plant,$(word 1,$(subst :, ,$(p))),$(word 2,$(subst :, ,$(p))))))

run:                              ## build, load the sample database, open psql on it (without a terminal: a scripted tour)
	@base/packages.sh run
	@+$(MAKE) --no-print-directory -s -j2 all
	@BUILD=$(BUILD) server/run.sh

test:                             ## unit tests, SQL against SQLite, sessions, protocol, crashes (under 10 minutes)
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 all units graders variants
	@BUILD=$(BUILD) CC=$(CC) tests/run.sh

crash:                            ## the full crash tests: 20 kills under load, 200 power losses
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 all stress variants
	@BUILD=$(BUILD) ROUNDS=20 CRASHES=200 tests/run.sh crash power

test-switches:                    ## the same tests under each latch setting off its default, all coarse, ten seeded mixes (SEED=, ONLY="crab.x=y")
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 all units variants
	@BUILD=$(BUILD) CC=$(CC) SEED=$(SEED) ONLY="$(ONLY)" tests/switches.sh

tsan:                             ## stress programs, pgbench and mixed SQL under ThreadSanitizer
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 CC=clang MODE=tsan BUILD=build-tsan all stress build-tsan/small/crabtree
	@BUILD=build-tsan tests/tsan.sh

tsan-soak:                        ## storms and mixed SQL under ThreadSanitizer and every latch setting in turn: MINUTES= (20), SEED=
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 CC=clang MODE=tsan BUILD=build-tsan all stress
	@BUILD=build-tsan MINUTES=$(MINUTES) SEED=$(SEED) ROUND=$(ROUND) tests/soak.sh

asan:                             ## unit tests, SQL and sessions under AddressSanitizer and UBSan
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 CC=clang MODE=asan BUILD=build-asan all units build-asan/small/crabtree
	@BUILD=build-asan PLANTS= N=1000 tests/run.sh sql units stress sessions oracle slt parallel pgbench

bench:                            ## side by side with the PostgreSQL of this machine
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 all
	@BUILD=$(BUILD) bench/run.sh

bench-pgbench:                    ## pgbench on Crabtree, PostgreSQL and a server that does no work
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 all $(BUILD)/bench/floor
	@BUILD=$(BUILD) bench/pgbench.sh

bench-latches:                    ## each switch of the latch layers, its settings side by side: tables and curves
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/bench/latches
	@BUILD=$(BUILD) bench/latches.sh

bench-hooks:                      ## what the hooks' branch costs a B+Tree look-up when it is off
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 BUILD=$(BUILD)-hooks EXTRA_CFLAGS="-falign-functions=64" $(BUILD)-hooks/bench/hooks
	@+$(MAKE) --no-print-directory -s -j2 BUILD=$(BUILD)-nohooks EXTRA_CFLAGS="-falign-functions=64 -DCRAB_NO_HOOKS" $(BUILD)-nohooks/bench/hooks
	@BUILD=$(BUILD) bench/hooks.sh

bench-btree:                      ## our B+Tree beside LMDB, Berkeley DB, WiredTiger and SQLite
	@base/packages.sh engines
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/bench/btree
	@BUILD=$(BUILD) bench/btree.sh

bench-micro:                      ## statements on one table beside PostgreSQL, SQLite and DuckDB: ROWS= (5000000), ROUNDS=, WORKERS=, ONLY=
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 all $(BUILD)/bench/compare
	@BUILD=$(BUILD) bench/micro.sh

bench-tpch:                       ## the queries of TPC-H beside the same, and a cold scan: SF= (1), TPCH_DIR= (../shared/tpch), ROUNDS=, WORKERS=
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 all $(BUILD)/bench/compare
	@BUILD=$(BUILD) SF="$(SF)" bench/tpch.sh

bench-parallel:                   ## workers 1 to 16 on all of these: speed-up, its ceiling, serial share, time by phase: ROWS=, SF=, ROUNDS=
	@base/packages.sh bench
	@+$(MAKE) --no-print-directory -s -j2 all $(BUILD)/bench/parallel
	@BUILD=$(BUILD) SF="$(SF)" bench/parallel.sh

interleave:                       ## every interleaving from a seed: SCENARIO=, N= (300), SEED=, POLICY=random|pct|exhaustive
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/tests/interleave/interleave
	@$(BUILD)/tests/interleave/interleave SCENARIO=$(SCENARIO) N=$(N) SEED=$(SEED) POLICY=$(POLICY)

mutants:                          ## plants each bug of base/mutant.h and shows which scenario finds it: MUTANT=, BUDGET= seeds (20000)
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/tests/interleave/interleave
	@BUILD=$(BUILD) MODE=$(MODE) CC=$(CC) MUTANT="$(MUTANT)" BUDGET=$(BUDGET) tests/interleave/mutants.sh

oracle:                           ## random statements against SQLite and against Crabtree itself: SEED= (1), N= (100000), JOBS= (2), CHECKS=some|all
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/small/crabtree $(BUILD)/tests/oracle/oracle
	@BUILD=$(BUILD) SEED=$(or $(SEED),1) N=$(or $(N),100000) JOBS=$(or $(JOBS),2) CHECKS=$(CHECKS) FAULTS=$(FAULTS) ROUND=$(ROUND) PLANTS= tests/run.sh oracle

slt-workers:                      ## all files of sqllogictest at 1 worker and at WORKERS= (2,3,4,8,16): the same bytes: SLT_DIR= (../shared/slt)
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/small/crabtree $(BUILD)/tests/sql/slt_client
	@BUILD=$(BUILD) SERVER=$(BUILD)/small/crabtree WORKERS=$(or $(WORKERS),2,3,4,8,16) SLT_DIR=$(or $(SLT_DIR),../shared/slt) tests/run.sh slt

tpch:                             ## the 22 queries at SF= (0.1) against PostgreSQL, then the same bytes at 1 to 16 workers: TPCH_DIR= (../shared/tpch)
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 all $(BUILD)/small/crabtree
	@BUILD=$(BUILD) TPCH_SCALE=$(or $(SF),0.1) tests/run.sh tpch

plants:                           ## plants each wrong-result bug of base/plant.h and shows which statement finds it: PLANT=, SEED=, BUDGET= (20000)
	@base/packages.sh test
	@+$(MAKE) --no-print-directory -s -j2 all $(BUILD)/small/crabtree $(BUILD)/tests/oracle/oracle
	@BUILD=$(BUILD) MODE=$(MODE) CC=$(CC) SEED=$(or $(SEED),1) BUDGET=$(or $(BUDGET),20000) tests/oracle/plants.sh $(PLANT)

grade:                            ## make grade N=1..5: grade that lesson's exercise.c (TRIAL=, SEED=, POLICY=, SEEDS=)
	@[ -n "$(filter $(N)-%,$(LESSONS))" ] || { echo "make grade N=1 (to 5): there is no lesson \"$(N)\"" >&2; exit 2; }
	@+$(MAKE) --no-print-directory -s -j2 $(patsubst %,$(BUILD)/course/%/grade,$(filter $(N)-%,$(LESSONS)))
	@BUILD=$(BUILD) GRADE=$(N) TRIAL=$(TRIAL) SEED=$(SEED) POLICY=$(POLICY) SEEDS=$(SEEDS) course/grade.sh

lesson:                           ## make lesson N=1..5: run that lesson unattended and check what it shows
	@base/packages.sh course
	@+$(MAKE) --no-print-directory -s -j2 all graders $(BUILD)/bench/latches
	@BUILD=$(BUILD) course/lesson.sh "$(N)"

lessons:                          ## all five lessons
	@base/packages.sh course
	@+$(MAKE) --no-print-directory -s -j2 all graders $(BUILD)/bench/latches
	@status=0; for n in 1 2 3 4 5; do BUILD=$(BUILD) course/lesson.sh $$n || status=1; done; exit $$status

curve:                            ## make curve N=1..5: that lesson's switch, both ways, at 1, 2, 4, 8 and 16
	@base/packages.sh course
	@+$(MAKE) --no-print-directory -s -j2 $(BUILD)/bench/latches
	@BUILD=$(BUILD) SECONDS_EACH=$(or $(SECONDS_EACH),0.15) ROUNDS=$(or $(ROUNDS),3) course/lesson.sh "$(N)" curve

graders: $(GRADERS)
units: $(UNIT) $(STRESS) $(TOOLS) $(BUILD)/tests/interleave/interleave $(BUILD)/tests/oracle/oracle
stress: $(STRESS) $(TOOLS) $(BUILD)/tests/oracle/oracle
variants: $(VARIANTS)

lint:                             ## includes that point up the house; latches taken past base
	@tests/lint.sh

format:                           ## clang-format over all sources
	clang-format -i $$(git ls-files '*.c' '*.h')

install: all                      ## install the server under PREFIX (/usr/local)
	install -D -m 755 $(BUILD)/crabtree $(DESTDIR)$(PREFIX)/bin/crabtree

clean:                            ## remove build folders
	rm -rf build build-*

help:                             ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: all run test test-switches tsan-soak interleave mutants oracle slt-workers tpch plants crash tsan asan bench bench-latches bench-hooks bench-btree bench-pgbench bench-micro bench-tpch bench-parallel grade lesson lessons curve graders units stress variants lint format install clean help
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

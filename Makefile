# Crabtree. `make help` lists the targets.
CC      ?= gcc
BUILD   ?= build
MODE    ?= release
CFLAGS_release = -O2 -g
CFLAGS_debug   = -O1 -g -DCRAB_DEBUG
CFLAGS_tsan    = -O1 -g -fsanitize=thread -DCRAB_DEBUG
CFLAGS_asan    = -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined -DCRAB_DEBUG
CFLAGS  = -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -I. $(CFLAGS_$(MODE)) $(EXTRA_CFLAGS)
LDLIBS  = -luv -lgmp -lssl -lcrypto -lutf8proc -lz -lm -lpthread

FLOORS  = base storage btree parser engine engine/types engine/catalog engine/plan engine/exec server
SOURCES = $(filter-out server/main.c,$(foreach floor,$(FLOORS),$(wildcard $(floor)/*.c)))
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)

all: $(BUILD)/crabtree

$(BUILD)/crabtree: $(BUILD)/server/main.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/libcrab.a: $(OBJECTS)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

# Unit tests: one Criterion program for each tests/**/*_test.c; stress programs have a main of their own.
UNIT_TESTS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*/*_test.c))
STRESS     = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*/*_stress.c))
$(UNIT_TESTS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS) -lcriterion -lsqlite3
$(STRESS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcrab.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
unit: $(UNIT_TESTS)
stress: $(STRESS)

clean:
	rm -rf $(BUILD)

.PHONY: all unit stress clean
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

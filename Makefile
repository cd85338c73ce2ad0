# gmtrace: what is leaked, fragmented and used on the GPU. `make help` lists the targets.
#
# Products: build/libgmtrace.so, build/gmtrace, build/sim/ (the simulated CUDA), build/tests/.
# build/ can be copied elsewhere as a whole: the libraries it needs lie in it.

CUDA_HOME     ?= /usr/local/cuda
CUPTI_INCLUDE ?= $(firstword $(dir $(wildcard $(CUDA_HOME)/include/cupti.h \
                   $(CUDA_HOME)/extras/CUPTI/include/cupti.h)))
PREFIX        ?= /usr/local
CC            ?= cc
CXX           ?= c++
NVCC          ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc))
PYTHON        ?= /usr/bin/python3
VERSION       := 0.1.0

# SAN=address,undefined or SAN=thread builds everything with sanitizers, beside the plain build.
comma := ,
BUILD := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))

V ?= 0
ifeq ($(V),0)
Q = @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
OPTIMIZE := $(if $(DEBUG),-O0 -DGMT_DEBUG,-O2)
CFLAGS_COMMON := -std=gnu11 $(OPTIMIZE) -g $(WARNINGS)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
HARDENING := -fstack-protector-strong -D_FORTIFY_SOURCE=2
INCLUDES := -I. -isystem $(CUDA_HOME)/include -DGMT_VERSION='"$(VERSION)"'
ifneq ($(CUPTI_INCLUDE),)
INCLUDES += -isystem $(CUPTI_INCLUDE)
else
INCLUDES += -DGMT_NO_CUPTI
endif
CFLAGS_LIB = $(CFLAGS_COMMON) $(if $(SAN),,$(HARDENING)) $(INCLUDES) -fPIC -fvisibility=hidden \
             -ftls-model=initial-exec -MMD -MP $(CFLAGS)

# The program gmtrace has all of report/; the .so has what needs no library but libc.
PROGRAM_ONLY := report/symbolize.c report/read_trace.c report/read_rows.c report/main.c
REPORT_SRC   := $(wildcard report/*.c)
LIB_SRC      := $(wildcard preload/*.c cupti/*.c) $(filter-out $(PROGRAM_ONLY) \
                  $(wildcard report/symbolize_*.c report/main_*.c),$(REPORT_SRC))
PURE_SRC     := preload/arena.c preload/ledger.c preload/ledger_account.c preload/ledger_errors.c preload/ledger_facts.c \
                preload/ledger_kernels.c preload/ledger_space.c \
                preload/ledger_vmm.c \
                preload/pages.c
PROGRAM_SRC  := $(REPORT_SRC) $(PURE_SRC)
OBJ          := $(BUILD)/obj
LIB_OBJ      := $(LIB_SRC:%.c=$(OBJ)/%.o) $(patsubst %.S,$(OBJ)/%.o,$(wildcard preload/*.S))
PROGRAM_OBJ  := $(PROGRAM_SRC:%.c=$(OBJ)/%.o) $(patsubst %.cc,$(OBJ)/%.o,$(wildcard report/*.cc))
SAN_OBJ      := $(if $(SAN),$(OBJ)/tests/san_options.o)
JANSSON      := -Wl,-Bstatic -ljansson -Wl,-Bdynamic

# Libraries that the machine of a user may lack; they lie beside libgmtrace.so.
SHIPPED := libunwind.so.8 liblzma.so.5 libdw.so.1 libelf.so.1 libz.so.1 libbz2.so.1.0

.PHONY: all demo test check-gpu check-matrix bench lint format install dist help clean unit programs sim
.DELETE_ON_ERROR:
all: $(BUILD)/libgmtrace.so $(BUILD)/gmtrace sim programs

-include $(LIB_OBJ:.o=.d) $(PROGRAM_OBJ:.o=.d)

# Freestanding: it runs inside dlsym of any program, also before a sanitizer has started.
$(OBJ)/preload/lookup.o $(OBJ)/preload/real.o: SANFLAGS :=
# gcc makes calls of memset out of loops; clang does not under -fno-builtin, and lacks the option.
NO_LOOP_CALLS := $(shell $(CC) -fno-tree-loop-distribute-patterns -E -x c /dev/null >/dev/null 2>&1 \
                   && echo -fno-tree-loop-distribute-patterns)
$(OBJ)/preload/lookup.o $(OBJ)/preload/real.o: HARDENING := -fno-stack-protector -fno-builtin \
                                               $(NO_LOOP_CALLS)

$(OBJ)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_LIB) $(SANFLAGS) -c $< -o $@

$(OBJ)/%.o: %.S
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -g -c $< -o $@

$(OBJ)/%.o: %.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Werror -I. -MMD -MP $(SANFLAGS) -c $< -o $@

# Anonymous: a named version would make the linker pass the symbols by.
$(BUILD)/exports.map: preload/driver_apis.def scripts/exports.sh
	@mkdir -p $(@D)
	$(Q)CC='$(CC)' scripts/exports.sh preload/driver_apis.def >$@

$(BUILD)/libgmtrace.so: $(LIB_OBJ) $(BUILD)/exports.map | shipped
	$(call say,LD,$@)
	$(Q)$(CC) -shared -o $@ $(LIB_OBJ) $(SANFLAGS) -Wl,--version-script=$(BUILD)/exports.map \
	  -Wl,-Bsymbolic -Wl,-z,relro -Wl,-z,now $(if $(SAN),,-Wl,-z,defs) -Wl,--exclude-libs,ALL \
	  -Wl,-soname,libgmtrace.so -Wl,--build-id $(JANSSON)

# RPATH, not RUNPATH: it also holds for the libraries that these need.
$(BUILD)/gmtrace: $(PROGRAM_OBJ) $(SAN_OBJ) | shipped
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $(PROGRAM_OBJ) $(SAN_OBJ) $(SANFLAGS) -static-libstdc++ -static-libgcc -Wl,-z,relro \
	  -Wl,-z,now -Wl,--disable-new-dtags '-Wl,-rpath,$$ORIGIN:$$ORIGIN/../lib/gmtrace' \
	  -Wl,--build-id $(JANSSON) -ldw -lelf

.PHONY: shipped
shipped: $(SHIPPED:%=$(BUILD)/%)
$(SHIPPED:%=$(BUILD)/%):
	@mkdir -p $(@D)
	$(Q)cp -L "$$($(CC) -print-file-name=$(@F))" $@

# The simulated CUDA.
-include tests/sim/driver.mk tests/sim/runtime.mk tests/sim/cupti.mk
sim: $(BUILD)/sim/libcuda.so.1 $(BUILD)/sim/libcudart.so.13 \
  $(if $(CUPTI_INCLUDE),$(BUILD)/sim/libcupti.so.13)

# Unit tests: one program per file, on the modules it names in its "links:" line.
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)
unit: $(UNIT_BIN)
UNIT_OBJ := $(filter-out $(OBJ)/report/main.o $(wildcard $(OBJ)/report/main_*.o),$(PROGRAM_OBJ))
UNIT_OBJ += $(OBJ)/preload/snapshot.o $(OBJ)/preload/config.o $(OBJ)/preload/diag.o \
            $(OBJ)/preload/counters.o $(OBJ)/preload/guard.o
$(BUILD)/tests/unit/%: tests/unit/%.c tests/test_main.c $(UNIT_OBJ) | shipped
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_COMMON) $(INCLUDES) $(SANFLAGS) -c $< -o $@.o
	$(Q)$(CC) $(CFLAGS_COMMON) $(INCLUDES) $(SANFLAGS) -c tests/test_main.c -o $@.main.o
	$(Q)$(CXX) -o $@ $@.o $@.main.o $(UNIT_OBJ) $(SANFLAGS) -static-libstdc++ -static-libgcc \
	  -Wl,--disable-new-dtags '-Wl,-rpath,$$ORIGIN/../..' $(JANSSON) -ldw -lelf -lpthread

-include tests/programs/rules.mk
programs: $(PROGRAMS)

# Tests and tools.
test: all unit
	$(Q)$(PYTHON) tests/run.py --build $(BUILD) $(if $(SAN),--san $(SAN)) $(TESTS)

check-gpu:
	$(Q)$(PYTHON) tests/run.py --build $(BUILD) --gpu $(TESTS)

check-matrix: $(BUILD)/libgmtrace.so
	$(Q)CC='$(CC)' PYTHON='$(PYTHON)' scripts/check-matrix.sh $(BUILD)

demo:
	$(Q)scripts/deps.sh
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo.sh $(BUILD)

# Linked with the shared runtime, so that it runs on the simulated CUDA and on the GPU.
$(BUILD)/tests/bench/pairs: tests/bench/pairs.c | sim
	$(call say,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARNINGS) $(INCLUDES) $< -o $@ -L$(CUDA_HOME)/lib64 \
	  -L$(BUILD)/sim -lcudart

bench: all $(BUILD)/tests/bench/pairs
	$(Q)tests/bench/run.sh $(BUILD)

lint:
	$(Q)scripts/lint.sh

format:
	$(Q)scripts/format.sh

install: all
	install -d $(DESTDIR)$(PREFIX)/lib/gmtrace $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BUILD)/libgmtrace.so $(DESTDIR)$(PREFIX)/lib/gmtrace/
	install -m 644 $(SHIPPED:%=$(BUILD)/%) $(DESTDIR)$(PREFIX)/lib/gmtrace/
	install -m 644 report/report.schema.json $(DESTDIR)$(PREFIX)/lib/gmtrace/
	install -m 755 $(BUILD)/gmtrace $(DESTDIR)$(PREFIX)/bin/

dist:
	$(Q)rm -rf $(BUILD)/dist
	$(Q)$(MAKE) --no-print-directory install DESTDIR= PREFIX=$(CURDIR)/$(BUILD)/dist/gmtrace-$(VERSION)
	$(Q)cp README.md LICENSE $(BUILD)/dist/gmtrace-$(VERSION)/
	$(Q)tar -C $(BUILD)/dist -czf $(BUILD)/gmtrace-$(VERSION)-$(shell uname -m).tar.gz gmtrace-$(VERSION)
	@echo $(BUILD)/gmtrace-$(VERSION)-$(shell uname -m).tar.gz

clean:
	rm -rf build

help:
	@echo 'make demo        install what is missing, build, run a leaky program, show its report'
	@echo 'make             build/libgmtrace.so, build/gmtrace, the simulated CUDA, test programs'
	@echo 'make test        all tests, without a GPU (TESTS=pattern for some)'
	@echo 'make check-gpu   the same programs on the GPU, with the real static and shared cudart'
	@echo 'make check-matrix  builds with the headers, and programs, of CUDA 11.8 to 13.5 (fetched)'
	@echo 'make bench       what gmtrace costs'
	@echo 'make lint        format, layers, exports, table of entries, README'
	@echo 'make format      apply .clang-format'
	@echo 'make install     PREFIX=$(PREFIX) DESTDIR='
	@echo 'make dist        a relocatable tarball'
	@echo 'Variables: V=1 shows commands; SAN=address,undefined or SAN=thread; CC=clang; DEBUG=1;'
	@echo '           CUDA_HOME=$(CUDA_HOME) (headers; cudart and nvcc if there)'

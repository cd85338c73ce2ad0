# The simulated driver, libcuda.so.1. The including Makefile sets BUILD, CC, CUDA_HOME,
# CFLAGS_COMMON and SANFLAGS.

SIM_DRIVER_SRC := $(filter-out tests/sim/driver_selftest_%,$(wildcard tests/sim/driver_*.c))
SIM_DRIVER_DIR := $(BUILD)/sim/driver
SIM_DRIVER_OBJ := $(SIM_DRIVER_SRC:tests/sim/%.c=$(SIM_DRIVER_DIR)/%.o) $(SIM_DRIVER_DIR)/stubs.o
# An entry has all of its vendor's parameters, whether the simulation needs them or not.
SIM_DRIVER_CFLAGS = $(CFLAGS_COMMON) $(SANFLAGS) -fPIC -Wno-unused-parameter \
	-isystem $(CUDA_HOME)/include -Itests/sim -MMD -MP

# -Bsymbolic: under a preload that exports cu* as well, the driver must still find its own.
$(BUILD)/sim/libcuda.so.1: $(SIM_DRIVER_OBJ) tests/sim/driver.map
	$(call say,SIM,$@)
	$(Q)$(CC) -shared $(SANFLAGS) -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,nodelete \
		-Wl,--version-script=tests/sim/driver.map -o $@ $(SIM_DRIVER_OBJ) -lpthread
	$(Q)ln -sf libcuda.so.1 $(BUILD)/sim/libcuda.so

$(SIM_DRIVER_DIR)/%.o: tests/sim/%.c
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(SIM_DRIVER_CFLAGS) -c -o $@ $<

$(SIM_DRIVER_DIR)/stubs.o: $(SIM_DRIVER_DIR)/stubs.c
	$(call say,SIM,$@)
	$(Q)$(CC) $(SIM_DRIVER_CFLAGS) -c -o $@ $<

$(SIM_DRIVER_DIR)/stubs.c: tests/sim/gen-stubs.sh tests/sim/driver-symbols.tsv
	@mkdir -p $(@D)
	$(Q)sh tests/sim/gen-stubs.sh tests/sim/driver-symbols.tsv > $@

# Run it with LD_LIBRARY_PATH=$(BUILD)/sim.
SIM_DRIVER_TEST := tests/sim/selftest_driver.c tests/sim/driver_selftest_work.c \
	tests/sim/driver_selftest_share.c
$(BUILD)/tests/selftest_driver: $(SIM_DRIVER_TEST) tests/sim/driver_selftest.h tests/sim/sim.h \
		tests/sim/driver_public.h $(BUILD)/sim/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(CFLAGS_COMMON) $(SANFLAGS) -isystem $(CUDA_HOME)/include -Itests/sim -o $@ \
		$(SIM_DRIVER_TEST) -ldl -lpthread

-include $(SIM_DRIVER_OBJ:.o=.d)

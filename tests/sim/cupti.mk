# The simulated CUPTI, libcupti.so.13. Included by the top Makefile, which may set CUPTI_INCLUDE.
# CUPTI is an optional part of the toolkit: without its headers, SIM_CUPTI is empty and the library
# is not built.

CUPTI_INCLUDE ?= $(firstword $(patsubst %/cupti.h,%,$(wildcard \
	$(CUDA_HOME)/include/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h)))

ifneq ($(wildcard $(CUPTI_INCLUDE)/cupti_callbacks.h),)

SIM_CUPTI := $(BUILD)/sim/libcupti.so.13 $(BUILD)/sim/libcupti.so

CUPTI_SRC   := $(sort $(wildcard tests/sim/cupti_*.c))
CUPTI_OBJ   := $(CUPTI_SRC:%.c=$(BUILD)/%.o)
CUPTI_CBIDS := $(BUILD)/tests/sim/cupti_driver_cbids.h $(BUILD)/tests/sim/cupti_runtime_cbids.h
CUPTI_FLAGS := -I. -I$(BUILD)/tests/sim -isystem $(CUPTI_INCLUDE) -isystem $(CUDA_HOME)/include -fPIC

# The enumerators of the callback ids, one CBID(number, "name") a line.
$(BUILD)/tests/sim/cupti_%_cbids.h: $(CUPTI_INCLUDE)/cupti_%_cbid.h
	@mkdir -p $(@D)
	sed -n 's/^ *CUPTI_[A-Z]*_TRACE_CBID_\([_a-z][A-Za-z0-9_]*\) *= *\([0-9]*\),.*/CBID(\2, "\1")/p' \
		$< > $@.tmp
	@mv $@.tmp $@

$(CUPTI_OBJ): $(BUILD)/%.o: %.c | $(CUPTI_CBIDS)
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(CFLAGS_COMMON) $(SANFLAGS) $(CUPTI_FLAGS) -MMD -MP -c -o $@ $<

# nodelete: the driver keeps pointers to the tool's functions.
$(BUILD)/sim/libcupti.so.13: $(CUPTI_OBJ) tests/sim/cupti.map
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(SANFLAGS) -shared -Wl,-soname,libcupti.so.13 -Wl,-z,nodelete \
		-Wl,--version-script=tests/sim/cupti.map -o $@ $(CUPTI_OBJ) -ldl -lpthread

$(BUILD)/sim/libcupti.so: $(BUILD)/sim/libcupti.so.13
	$(Q)ln -sf libcupti.so.13 $@

# Self-test; run it with LD_LIBRARY_PATH=$(BUILD)/sim.
$(BUILD)/tests/selftest_cupti: tests/sim/selftest_cupti.c $(SIM_CUPTI) $(BUILD)/sim/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(CFLAGS_COMMON) $(SANFLAGS) -isystem $(CUPTI_INCLUDE) -isystem $(CUDA_HOME)/include \
		-o $@ $< -L$(BUILD)/sim -lcupti -l:libcuda.so.1

-include $(CUPTI_OBJ:.o=.d)

else

SIM_CUPTI :=
$(info no cupti.h under $(CUDA_HOME): the simulated libcupti.so.13 is left out (set CUPTI_INCLUDE))

endif

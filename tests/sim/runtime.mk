# The simulated CUDA runtime, libcudart.so.13. Included by the top Makefile.
#
# No sibling calls: they would drop the exported function from a stack, and reports name it.
# What the header deprecates has to be served all the same.

RUNTIME_SRC   := $(sort $(wildcard tests/sim/runtime_*.c))
RUNTIME_OBJ   := $(RUNTIME_SRC:%.c=$(BUILD)/%.o)
RUNTIME_FLAGS := -I. -isystem $(CUDA_HOME)/include -fPIC -fno-optimize-sibling-calls -Wno-deprecated-declarations

$(RUNTIME_OBJ): $(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(CFLAGS_COMMON) $(SANFLAGS) $(RUNTIME_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/sim/libcudart.so.13: $(RUNTIME_OBJ) tests/sim/runtime.map
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(SANFLAGS) -shared -Wl,-soname,libcudart.so.13 \
		-Wl,--version-script=tests/sim/runtime.map -o $@ $(RUNTIME_OBJ) -ldl -lpthread

$(BUILD)/sim/libcudart.so: $(BUILD)/sim/libcudart.so.13
	$(Q)ln -sf libcudart.so.13 $@

-include $(RUNTIME_OBJ:.o=.d)

# For a library that carries a runtime of its own.
$(BUILD)/sim/libcudart_static.a: $(RUNTIME_OBJ)
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(RUNTIME_OBJ)

# Self-tests; run them with LD_LIBRARY_PATH=$(BUILD)/sim.
$(BUILD)/tests/selftest_runtime: tests/sim/selftest_runtime.c $(BUILD)/sim/libcudart.so
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(CC) $(CFLAGS_COMMON) $(SANFLAGS) -isystem $(CUDA_HOME)/include -o $@ $< \
		-L$(BUILD)/sim -lcudart -lpthread

NVCC ?= $(CUDA_HOME)/bin/nvcc

$(BUILD)/tests/selftest_kernel: tests/sim/selftest_kernel.cu $(BUILD)/sim/libcudart.so
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(NVCC) -g -cudart shared --no-compress -L$(BUILD)/sim -o $@ $<

$(BUILD)/tests/selftest_kernel_ptsz: tests/sim/selftest_kernel.cu $(BUILD)/sim/libcudart.so
	@mkdir -p $(@D)
	$(call say,SIM,$@)
	$(Q)$(NVCC) -g -cudart shared --no-compress -default-stream per-thread \
		-L$(BUILD)/sim -o $@ $<

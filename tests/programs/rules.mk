# The test programs, included by the top Makefile; sets PROGRAMS. NAME.c, .cpp and .cu become
# tests/shared/NAME and, where NVIDIA's static runtime is there, tests/static/NAME under $(BUILD):
# reports of the two must be the same. A comment in the source asks for what is unusual:
#
#	/* links: none */  no CUDA library    /* links: cuda */  the driver's    /* strip */
#
# NAME.plugin.c and NAME.WHAT.plugin.c become .so files beside the program; there is one more:
#
#	/* links: own runtime */  carries a CUDA runtime in itself, whatever the program links
#
# -O0: functions and lines are exact.

PROGRAM_DIR    := tests/programs
PROGRAM_SRC    := $(filter-out %.plugin.c,$(wildcard $(PROGRAM_DIR)/*.c $(PROGRAM_DIR)/*.cpp))
PROGRAM_CU     := $(if $(NVCC),$(wildcard $(PROGRAM_DIR)/*.cu))
PROGRAM_PLUGIN := $(wildcard $(PROGRAM_DIR)/*.plugin.c)

program_names = $(basename $(notdir $(1)))
program_says  = $(call program_names,$(shell grep -lF '/* $(1) */' $(PROGRAM_SRC) $(PROGRAM_CU) \
                    $(PROGRAM_PLUGIN)))
PROGRAM_LINKS_NONE := $(call program_says,links: none)
PROGRAM_LINKS_CUDA := $(call program_says,links: cuda)
PROGRAM_LINKS_OWN  := $(call program_says,links: own runtime)
PROGRAM_STRIPPED   := $(call program_says,strip)

# NVIDIA's runtime where there is one; it lies in the build as well, which may be copied elsewhere.
PROGRAM_CUDART_DIR := $(firstword $(dir $(wildcard $(CUDA_HOME)/lib64/libcudart.so \
                        $(CUDA_HOME)/lib/libcudart.so)) $(BUILD)/sim)
PROGRAM_STATIC_DIR := $(firstword $(dir $(wildcard $(CUDA_HOME)/lib64/libcudart_static.a \
                        $(CUDA_HOME)/lib/libcudart_static.a)))
PROGRAM_CUDART_REAL := $(firstword $(wildcard $(PROGRAM_CUDART_DIR)/libcudart.so.[0-9][0-9]))
PROGRAM_CUDART := $(if $(PROGRAM_CUDART_REAL),$(BUILD)/tests/lib/$(notdir $(PROGRAM_CUDART_REAL)))

PROGRAM_FLAGS := -O0 -g -Wall -Wextra -Werror -fdebug-prefix-map=$(CURDIR)=. \
                 -isystem $(CUDA_HOME)/include
# RUNPATH, so that LD_LIBRARY_PATH chooses between the simulated CUDA and the real one.
PROGRAM_LINK  := -Wl,--build-id=sha1 -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib' -pthread
PROGRAM_ARCH  ?= -gencode arch=compute_75,code=[sm_75,compute_75] -gencode arch=compute_90,code=sm_90

PROGRAM_LIBS_shared := -L$(PROGRAM_CUDART_DIR) -lcudart
PROGRAM_LIBS_static := -L$(PROGRAM_STATIC_DIR) -lcudart_static -ldl -lrt -lpthread
# Hidden in it, as a vendor's library does it.
PROGRAM_OWN_shared := -Wl,-Bsymbolic -Wl,--exclude-libs,ALL $(BUILD)/sim/libcudart_static.a -ldl
PROGRAM_OWN_static := -Wl,-Bsymbolic -Wl,--exclude-libs,ALL $(PROGRAM_LIBS_static)
# $(1) shared or static, $(2) the program's name
program_libs = $(if $(filter $(2),$(PROGRAM_LINKS_NONE)),,$(if $(filter $(2),$(PROGRAM_LINKS_CUDA)),\
                 -L$(BUILD)/sim -lcuda,$(if $(filter $(2),$(PROGRAM_LINKS_OWN)),$(PROGRAM_OWN_$(1)),\
                 $(PROGRAM_LIBS_$(1)))))
program_strip = $(if $(filter $(1),$(PROGRAM_STRIPPED)),strip $@)

# Those that link the driver alone are the same in both.
PROGRAM_SHARED := $(call program_names,$(PROGRAM_SRC) $(PROGRAM_CU))
PROGRAM_STATIC := $(if $(PROGRAM_STATIC_DIR),$(filter-out $(PROGRAM_LINKS_CUDA),$(PROGRAM_SHARED)))
PROGRAMS := $(PROGRAM_CUDART) $(PROGRAM_SHARED:%=$(BUILD)/tests/shared/%) \
            $(PROGRAM_STATIC:%=$(BUILD)/tests/static/%) \
            $(PROGRAM_PLUGIN:$(PROGRAM_DIR)/%.c=$(BUILD)/tests/shared/%.so) \
            $(if $(PROGRAM_STATIC_DIR),$(PROGRAM_PLUGIN:$(PROGRAM_DIR)/%.c=$(BUILD)/tests/static/%.so))

# What has to be there to link against. The simulated libcudart.so is a link, made by its own rule.
PROGRAM_NEEDS := $(BUILD)/sim/libcuda.so.1 $(BUILD)/sim/libcudart_static.a \
                 $(if $(PROGRAM_CUDART_REAL),$(PROGRAM_CUDART),$(BUILD)/sim/libcudart.so)

$(BUILD)/tests/lib/libcudart.so.%: $(PROGRAM_CUDART_DIR)/libcudart.so.%
	@mkdir -p $(@D)
	$(Q)cp -L $< $@

# $(1) shared or static, $(2) how the source ends, $(3) its compiler with what only it takes
define program_rule
$(BUILD)/tests/$(1)/%: $(PROGRAM_DIR)/%.$(2) $(PROGRAM_DIR)/program.h $(PROGRAM_DIR)/rules.mk | $(PROGRAM_NEEDS)
	$$(call say,PROGRAM,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(3) $(PROGRAM_FLAGS) -o $$@ $$< $(PROGRAM_LINK) $$(call program_libs,$(1),$$*)
	$$(Q)$$(call program_strip,$$*)
endef
$(foreach kind,shared static,$(eval $(call program_rule,$(kind),c,$(CC) -std=gnu11)))
$(foreach kind,shared static,$(eval $(call program_rule,$(kind),cpp,$(CXX) -std=c++17)))

# Compiled once; not compressed, so that the simulated driver can read the parameters of kernels.
$(BUILD)/tests/obj/%.o: $(PROGRAM_DIR)/%.cu $(PROGRAM_DIR)/program.h $(PROGRAM_DIR)/rules.mk
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O0 -g --no-compress $(PROGRAM_ARCH) -Xcompiler -fdebug-prefix-map=$(CURDIR)=. \
	  -I. -c -o $@ $<

define program_cu_rule
$(BUILD)/tests/$(1)/%: $(BUILD)/tests/obj/%.o | $(PROGRAM_NEEDS)
	$$(call say,PROGRAM,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CXX) -o $$@ $$< $(PROGRAM_LINK) $$(call program_libs,$(1),$$*)
endef
$(foreach kind,shared static,$(eval $(call program_cu_rule,$(kind))))
.PRECIOUS: $(BUILD)/tests/obj/%.o

define program_plugin_rule
$(BUILD)/tests/$(1)/%.plugin.so: $(PROGRAM_DIR)/%.plugin.c $(PROGRAM_DIR)/rules.mk | $(PROGRAM_NEEDS)
	$$(call say,PROGRAM,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CC) -std=gnu11 -shared -fPIC $(PROGRAM_FLAGS) -o $$@ $$< $(PROGRAM_LINK) \
	  -Wl,-rpath,'$$$$ORIGIN' $$(call program_libs,$(1),$$*.plugin)
endef
$(foreach kind,shared static,$(eval $(call program_plugin_rule,$(kind))))

# The simulated CUDA's own tests, by the rules of tests/sim; they run without the tracer.
SELFTESTS := $(patsubst tests/sim/%,$(BUILD)/tests/%,$(basename $(wildcard \
               tests/sim/selftest_*.c) $(if $(NVCC),$(wildcard tests/sim/selftest_*.cu))))
SELFTESTS += $(if $(filter %selftest_kernel,$(SELFTESTS)),$(BUILD)/tests/selftest_kernel_ptsz)
PROGRAMS  += $(filter-out $(if $(CUPTI_INCLUDE),,%selftest_cupti),$(SELFTESTS))

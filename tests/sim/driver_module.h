/* What driver_module.c and driver_library.c share. */
#ifndef GMT_TESTS_SIM_DRIVER_MODULE_H
#define GMT_TESTS_SIM_DRIVER_MODULE_H

#include "driver.h"

/* The file's bytes and a zero behind them, to free; or NULL and the error. */
void *sim_file_read(const char *path, size_t *bytes, CUresult *rc);
CUresult sim_module_global(struct sim_module *module, const char *name, CUdeviceptr *addr,
			   size_t *bytes);

#endif

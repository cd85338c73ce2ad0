/*
 * What a test program may ask of the simulated driver beyond CUDA. Found with dlsym in
 * libcuda.so.1, so that the same program runs on the real driver, where there is no such symbol.
 */
#ifndef GMT_TESTS_SIM_DRIVER_PUBLIC_H
#define GMT_TESTS_SIM_DRIVER_PUBLIC_H

/*
 * From now on launches of this kernel call fn, on the launching thread, with kernelParams. A name
 * that no loaded code has is accepted by cuModuleGetFunction and cuLibraryGetKernel from then on,
 * with an unknown parameter layout.
 */
void gmtsim_register_kernel(const char *mangled_name, void (*fn)(void **params));

#endif

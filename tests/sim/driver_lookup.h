/* The generated table of exported entries. See gen-stubs.sh. */
#ifndef GMT_TESTS_SIM_DRIVER_LOOKUP_H
#define GMT_TESTS_SIM_DRIVER_LOOKUP_H

struct sim_lookup {
	const char *base;
	int version;	/* first CUDA version with this ABI: 1000 * major + 10 * minor */
	int per_thread; /* the _ptsz or _ptds twin */
	const char *symbol;
	void *address;
};

extern const struct sim_lookup sim_lookups[];
extern const unsigned int sim_nr_lookups;

int sim_unsupported(const char *name);

/* With GMTSIM_FUTURE, cuMemAlloc of this version is another ABI, which takes the level too. */
#define SIM_FUTURE	 14000
#define SIM_FUTURE_LEVEL 14

/* An address that jumps to that row's entry, the same at every call (driver_thunk.c). */
void *sim_thunk(unsigned int row);

/* Replaced by the linker where a real definition exists. Each has its own address. */
#define SIM_STUB(name)                                                                             \
	int name(void);                                                                            \
	__attribute__((weak)) int name(void)                                                       \
	{                                                                                          \
		return sim_unsupported(#name);                                                     \
	}

#endif

/*
 * Inside the simulated libcupti.so.13.
 *
 * It learns everything over the seam of sim.h and tells it on: API calls and contexts to the one
 * subscriber, on the calling thread (cupti_callbacks.c); finished kernels as activity records, in
 * the client's buffers, on a worker thread or at a flush (cupti_activity.c). It is on the seam only
 * while something is enabled.
 *
 * GMTSIM_CUPTI makes it fail in one of the ways that users meet: busy, notinit, old, empty.
 */
#ifndef GMT_TESTS_SIM_CUPTI_SIM_H
#define GMT_TESTS_SIM_CUPTI_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "tests/sim/sim.h"

enum sim_cupti_fault {
	SIM_CUPTI_FINE,
	SIM_CUPTI_BUSY,	   /* another tool holds the one subscription */
	SIM_CUPTI_NOTINIT, /* as with a driver that is too old for this CUPTI */
	SIM_CUPTI_OLD,	   /* the library of another age */
	SIM_CUPTI_EMPTY,   /* as with a GPU that is too new: no error, no records */
};

enum sim_cupti_fault sim_cupti_fault(void);

/* Remembers an error for cuptiGetLastError and returns it. */
CUptiResult sim_cupti_done(CUptiResult result);

/* CUPTI_ERROR_NOT_INITIALIZED if the library is to be of no use, else CUPTI_SUCCESS. */
CUptiResult sim_cupti_check(void);

/*
 * Goes onto the driver's seam or off it, as what is enabled asks. Loads the driver if it must, as
 * NVIDIA's library does; without a driver, CUPTI_ERROR_NOT_INITIALIZED.
 */
CUptiResult sim_cupti_update_tool(void);

/* 0 for a context that the driver does not know. */
uint32_t sim_cupti_context_id(CUcontext context);

/* 0 for a name that CUPTI has no number for. */
CUpti_CallbackId sim_cupti_driver_cbid(const char *name);
/* NULL for a number that is out of range or unused. */
const char *sim_cupti_cbid_name(CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
/* One more than the highest number of the domain; 0 for no such domain. */
CUpti_CallbackId sim_cupti_nr_cbids(CUpti_CallbackDomain domain);

/* The seam's events, in the file that owns them. */
void sim_cupti_call(const struct gmtsim_call *call, CUpti_ApiCallbackSite site);
void sim_cupti_context(CUcontext context, int created);
void sim_cupti_launch(const struct gmtsim_call *call);
void sim_cupti_kernel(const struct gmtsim_kernel *kernel);

bool sim_cupti_callbacks_wanted(void);
bool sim_cupti_activity_wanted(void);

/* cuptiFinalize, file by file. */
void sim_cupti_callbacks_stop(void);
void sim_cupti_activity_stop(void);

#endif

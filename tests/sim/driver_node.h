/* Node parameters as work: shared by driver_node.c and driver_exec.c. */
#ifndef GMT_TESTS_SIM_DRIVER_NODE_H
#define GMT_TESTS_SIM_DRIVER_NODE_H

#include "driver.h"

/* Always leave a work that sim_work_drop takes. */
CUresult sim_work_of_kernel(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult sim_work_of_kernel_v1(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
CUresult sim_work_of_event(struct sim_work *work, CUgraphNodeType type, CUevent event);
/* Writes the address of a new allocation node into params. */
CUresult sim_work_of_params(struct sim_work *work, CUgraphNodeParams *params);
/* Replaces the node's work by a copy. */
CUresult sim_node_set(struct sim_node *node, const struct sim_work *work);

#endif

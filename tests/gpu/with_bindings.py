#!/usr/bin/env python3
# case: cuda-bindings, driver and runtime: every kind of allocation, kept and freed, to the byte
import importlib.util

import lib

KEPT = 12_345
FREED = 77_777


def call(function, *arguments):
    error, *results = function(*arguments)
    if int(error):
        raise RuntimeError(f"{function.__name__}: {error}")
    return results[0] if results else None


def by_driver():
    from cuda.bindings import driver

    call(driver.cuInit, 0)
    device = call(driver.cuDeviceGet, 0)
    call(driver.cuCtxSetCurrent, call(driver.cuDevicePrimaryCtxRetain, device))
    stream = call(driver.cuStreamCreate, 0)
    for size in (KEPT, FREED):
        linear = call(driver.cuMemAlloc, size)
        ordered = call(driver.cuMemAllocAsync, size, stream)
        managed = call(driver.cuMemAllocManaged, size,
                       driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
        pinned = call(driver.cuMemHostAlloc, size, 0)
        if size == FREED:
            call(driver.cuMemFree, linear)
            call(driver.cuMemFreeAsync, ordered, stream)
            call(driver.cuMemFree, managed)
            call(driver.cuMemFreeHost, pinned)
    call(driver.cuStreamSynchronize, stream)
    print("done")


def by_runtime():
    from cuda.bindings import runtime

    stream = call(runtime.cudaStreamCreate)
    for size in (KEPT, FREED):
        linear = call(runtime.cudaMalloc, size)
        ordered = call(runtime.cudaMallocAsync, size, stream)
        managed = call(runtime.cudaMallocManaged, size, runtime.cudaMemAttachGlobal)
        pinned = call(runtime.cudaHostAlloc, size, 0)
        if size == FREED:
            call(runtime.cudaFree, linear)
            call(runtime.cudaFreeAsync, ordered, stream)
            call(runtime.cudaFree, managed)
            call(runtime.cudaFreeHost, pinned)
    call(runtime.cudaStreamSynchronize, stream)
    print("done")


def check(run):
    for name in ("device", "pool", "managed", "pinned"):
        kind = run.kinds[name]
        run.equal(f"{name}: allocations, frees, live and highest bytes",
                  [kind["allocations"], kind["frees"], kind["live_bytes"], kind["peak_bytes"]],
                  [2, 1, KEPT, KEPT + FREED])
    run.equal("leaked blocks", run.report["totals"]["leaked_blocks"], 4)


if importlib.util.find_spec("cuda") is None:
    lib.outcome(lambda scratch: lib.skip("cuda.bindings is not installed"))
lib.main("cuda.bindings", lib.Case(by_driver, check), lib.Case(by_runtime, check))

#!/usr/bin/env python3
# case: PyCUDA's allocations, kept and freed, are gmtrace's, to the byte
import lib

KEPT = [12_345, 3_000_001]
FREED = [77_777]


def work():
    import pycuda.autoinit
    from pycuda import driver

    freed = [driver.mem_alloc(size) for size in FREED]
    lib.keep(pycuda.autoinit.context, *[driver.mem_alloc(size) for size in KEPT])
    for one in freed:
        one.free()
    print("freed", len(freed))
    lib.leave()


def check(run):
    run.equal("bytes that were freed or are live, and asked for",
              sum(site["total_bytes"] for site in run.report["sites"]), sum(KEPT) + sum(FREED))
    run.equal("live blocks by size, and those kept", dict(run.sizes()), {size: 1 for size in KEPT})


lib.main("pycuda", lib.Case(work, check))

#!/usr/bin/env python3
# case: Numba's arrays, kept and freed, device, pinned and managed, are gmtrace's, to the byte
import lib

KEPT = [12_345, 1 << 20, 50_000_001]  # bytes
FREED = [77_777, 200_000_003]
PINNED = 30_003
MANAGED = 40_004
LAUNCHES = 3


def work():
    import numpy

    # Versions of Numba that ask for it meet versions of NumPy that have dropped it.
    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit
    def add_one(values):
        index = cuda.grid(1)
        if index < values.size:
            values[index] += 1

    byte = numpy.uint8
    freed = [cuda.device_array(size, dtype=byte) for size in FREED]
    kept = [cuda.to_device(numpy.zeros(size, dtype=byte)) for size in KEPT]
    pinned = cuda.pinned_array(PINNED, dtype=byte)
    pinned[:] = 5
    managed = cuda.managed_array(MANAGED, dtype=byte)
    managed[:] = 6
    for _ in range(LAUNCHES):
        add_one[(KEPT[0] + 255) // 256, 256](kept[0])
    print("sum", int(kept[0].copy_to_host().sum()), int(pinned.sum()), int(managed.sum()))
    del freed
    cuda.synchronize()
    # Numba frees later, in batches.
    cuda.current_context().memory_manager.deallocations.clear()
    lib.keep(pinned, managed, *kept)
    lib.leave()


def check(run):
    device = run.report["devices"][0]
    sizes = run.sizes()

    run.equal("live bytes of the device, and of kept arrays", device["live_bytes"], sum(KEPT))
    run.equal("highest bytes of the device, and of all arrays", device["peak_bytes"],
              sum(KEPT) + sum(FREED))
    for size in KEPT:
        run.equal(f"live blocks of {size} bytes, and such arrays", sizes[size], 1)
    run.equal("live pinned bytes, and those of the array", run.kinds["pinned"]["live_bytes"],
              PINNED)
    run.equal("live managed bytes, and those of the array", run.kinds["managed"]["live_bytes"],
              MANAGED)
    run.equal("launches of add_one", run.kernel("add_one"), LAUNCHES)


lib.main("numba", lib.Case(work, check))

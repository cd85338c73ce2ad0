#!/usr/bin/env python3
# case: CuPy's pool is gmtrace's blocks, to the byte; without the pool every array is one block
import lib

ELEMENTS = [1000, 1 << 20, 3_000_001]  # of float32
DIRECT = [100_000_004, 50_000_000]  # bytes
RUNTIME = r"/cupy"  # cuBLAS and the like allocate from modules of their own


def pooled():
    import cupy

    pool = cupy.get_default_memory_pool()
    arrays = [cupy.ones(count, dtype=cupy.float32) for count in ELEMENTS]
    print("sums", [float(array.sum()) for array in arrays])
    square = arrays[1].reshape(1024, 1024)
    print("product", float((square @ square)[0, 0]))

    # The highest moment of the device is that of the pool.
    big = cupy.empty(1 << 30, dtype=cupy.uint8)
    lib.tell(highest=pool.total_bytes())
    del big
    pool.free_all_blocks()
    arrays.append(cupy.zeros(70_001, dtype=cupy.float64))
    cupy.cuda.runtime.deviceSynchronize()
    lib.tell(total=pool.total_bytes(), used=pool.used_bytes())
    lib.keep(pool, *arrays)


def check_pooled(run):
    run.equal("live bytes by CuPy, and total_bytes() of its pool", run.of(RUNTIME).live,
              run.told["total"])
    run.equal("bytes by CuPy at the peak of the device, and total_bytes() then",
              run.share_of_peak(RUNTIME), run.told["highest"])


def direct():
    import cupy

    cupy.cuda.set_allocator(None)
    first = cupy.zeros(DIRECT[0], dtype=cupy.uint8)
    second = cupy.zeros(DIRECT[1], dtype=cupy.uint8)
    third = first[:DIRECT[1]] + second
    print("third", int(third[7]))
    lib.tell(arrays=[first.nbytes, second.nbytes, third.nbytes])
    del first, second, third
    cupy.cuda.runtime.deviceSynchronize()


def check_direct(run):
    blocks, total = run.of(RUNTIME), sum(run.told["arrays"])

    run.equal("allocations by CuPy, and its arrays", blocks.allocations, len(run.told["arrays"]))
    run.equal("bytes by CuPy, and of its arrays", blocks.total, total)
    run.equal("highest bytes of the device, and of the arrays",
              run.report["devices"][0]["peak_bytes"], total)
    run.equal("frees by CuPy", blocks.frees, blocks.allocations)
    run.equal("live blocks of the device", run.report["devices"][0]["live_blocks"], 0)


lib.main("cupy", lib.Case(pooled, check_pooled), lib.Case(direct, check_direct))

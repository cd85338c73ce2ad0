#!/usr/bin/env python3
# case: JAX's buffers, pooled and one by one: results unchanged, bytes as JAX tells them
import collections

import lib

ELEMENTS = [12_345_677, 3_000_001]  # of float32; sizes that nothing else has

PAGE = 2 << 20


def compute():
    import jax
    import jax.numpy
    import numpy

    device = jax.local_devices()[0]
    print("platform", device.platform)
    values = jax.numpy.arange(100_000, dtype=jax.numpy.float32)
    print("sum", float(jax.jit(lambda x: (x * 2 + 1).max())(values)))
    square = jax.numpy.ones((1024, 1024))
    print("product", float((square @ square)[0, 0]))
    kept = [jax.device_put(numpy.ones(ELEMENTS[0], dtype=numpy.float32), device),
            jax.numpy.zeros(ELEMENTS[1], dtype=jax.numpy.float32)]
    for array in kept:
        array.block_until_ready()
    lib.keep(*kept)
    stats = device.memory_stats() or {}
    lib.tell(platform=device.platform, stats=stats, sizes=[array.nbytes for array in kept])


def pooled():
    compute()


def one_by_one():
    compute()


def live_by_caller(run, depth):
    """Live device bytes by the innermost frames: JAX's pool grows from one place in XLA."""
    live = collections.Counter()
    for leak in run.report["leaks"]:
        if leak["kind"] in ("device", "vmm"):
            live[tuple((frame["module"], frame["offset"])
                       for frame in leak["stack"][:depth])] += leak["bytes"]
    return live


def check_pooled(run):
    stats = run.told["stats"]
    pool = stats.get("pool_bytes")

    run.equal("the platform", run.told["platform"], "gpu")
    if not pool:
        run.true("JAX tells no pool_bytes, but blocks were seen", run.kinds["device"]["live_bytes"])
        return
    found = [depth for depth in range(1, 13) if pool in live_by_caller(run, depth).values()]
    if "cuMemCreate" in run.passed_through and not found:
        run.accounted_or_passed("cuMemCreate", "live device bytes, and pool_bytes",
                                run.kinds["device"]["live_bytes"], pool)
        return
    run.true(f"the blocks of one place in XLA have {pool} bytes, as pool_bytes says; places:"
             f" {[sorted(live_by_caller(run, depth).values()) for depth in (2, 4, 8)]}", found)
    run.true(f"bytes_in_use {stats['bytes_in_use']} are within them", stats["bytes_in_use"] <= pool)


def check_one_by_one(run):
    sizes = run.sizes()

    run.equal("the platform", run.told["platform"], "gpu")
    for size in run.told["sizes"]:
        # Of JAX 0.11 this allocator, too, takes its memory by cuMemCreate: in whole pages.
        whole = -(-size // PAGE) * PAGE
        run.accounted_or_passed("cuMemCreate", f"a live block of {size} or {whole} bytes",
                                sizes[size] + sizes[whole] >= 1, True)


lib.main("jax", lib.Case(pooled, check_pooled, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
         lib.Case(one_by_one, check_one_by_one, {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}))

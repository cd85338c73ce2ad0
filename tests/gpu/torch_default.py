#!/usr/bin/env python3
# case: PyTorch's segments are gmtrace's blocks, to the byte; training, cuDNN and a graph unchanged
import collections

import lib
import torch_work

BIG = 1 << 30


def work():
    torch = torch_work.deterministic()
    torch_work.convolve(torch)
    torch_work.capture(torch)
    lib.keep(*torch_work.train(torch))
    torch_work.clean(torch)

    # The highest moment of the device is that of the allocator, whoever else allocates.
    big = torch.empty(BIG, dtype=torch.uint8, device="cuda")
    lib.tell(highest=torch.cuda.max_memory_reserved())
    del big
    torch.cuda.empty_cache()
    lib.keep(torch.ones(3_000_001, device="cuda"))

    stats = torch.cuda.memory_stats()
    lib.tell(reserved=torch.cuda.memory_reserved(),
             num_device_alloc=stats.get("num_device_alloc"),
             num_device_free=stats.get("num_device_free"),
             segments=[segment["total_size"] for segment in torch.cuda.memory_snapshot()])


def check(run):
    told, blocks = run.told, run.of(r"/libc10_cuda\.so")

    # What the caching allocator reserved, it took by cudaMalloc, and nobody else calls it there.
    run.equal("live bytes by libc10_cuda, and memory_reserved()", blocks.live, told["reserved"])
    run.equal("sizes of the blocks by libc10_cuda, and of the segments of memory_snapshot()",
              sorted(run.sizes(r"/libc10_cuda\.so").items()),
              sorted(collections.Counter(told["segments"]).items()))
    run.equal("bytes by libc10_cuda at the peak of the device, and max_memory_reserved()",
              run.share_of_peak(r"/libc10_cuda\.so"), told["highest"])
    if told["num_device_alloc"] is not None:
        run.equal("allocations by libc10_cuda, and num_device_alloc", blocks.allocations,
                  told["num_device_alloc"])
        run.equal("frees by libc10_cuda, and num_device_free", blocks.frees,
                  told["num_device_free"])
    run.true("kernels were seen", run.report["kernels"])


lib.main("torch", lib.Case(work, check, torch_work.ENVIRONMENT))

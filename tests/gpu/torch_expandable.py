#!/usr/bin/env python3
# case: expandable segments: training unchanged, and the memory accounted for or named as passed by
import lib
import torch_work


def work():
    torch = torch_work.deterministic()
    lib.keep(*torch_work.train(torch))
    torch_work.clean(torch)
    lib.tell(reserved=torch.cuda.memory_reserved())


def check(run):
    run.true("PyTorch reserved memory", run.told["reserved"] > 0)
    run.equal("blocks of PyTorch's allocator, and handles of physical memory",
              run.of(r"/libc10_cuda\.so").allocations, run.kinds["vmm"]["allocations"])
    run.accounted_or_passed("cuMemCreate", "live vmm bytes, and memory_reserved()",
                            run.kinds["vmm"]["live_bytes"], run.told["reserved"])


lib.main("torch", lib.Case(work, check, {**torch_work.ENVIRONMENT,
                                         "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}))

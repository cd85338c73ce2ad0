#!/usr/bin/env python3
# case: under cudaMallocAsync, PyTorch's allocated bytes are gmtrace's pool bytes
import lib
import torch_work

# Whole pages, so that the pool's granularity adds nothing to them; the largest comes last, and is
# the peak.
SIZES = [4096, 1 << 20, 3 << 20, 1 << 30]


def work():
    torch = torch_work.deterministic()
    torch_work.train(torch)
    torch_work.clean(torch)
    lib.tell(left_over=torch.cuda.memory_allocated())

    lib.keep(*[torch.empty(size, dtype=torch.uint8, device="cuda") for size in SIZES])
    torch.cuda.synchronize()
    lib.tell(backend=torch.cuda.get_allocator_backend(),
             allocated=torch.cuda.memory_allocated(), peak=torch.cuda.max_memory_allocated(),
             reserved=torch.cuda.memory_reserved())


def check(run):
    told, pool = run.told, run.kinds["pool"]
    pools = [each for each in run.report["fragmentation"]["pools"] if each["device"] == 0]

    run.equal("the backend", told["backend"], "cudaMallocAsync")
    run.equal("bytes of libc10_cuda's live pool blocks, and memory_allocated()", pool["live_bytes"],
              told["allocated"])
    run.equal("highest bytes of pool blocks, and max_memory_allocated()", pool["peak_bytes"],
              told["peak"])
    # Here both ask the driver.
    run.equal("the pool's used bytes, and memory_allocated()",
              [each["used_bytes"] for each in pools], [told["allocated"]])
    run.equal("the pool's reserved bytes, and memory_reserved()",
              [each["reserved_bytes"] for each in pools], [told["reserved"]])


lib.main("torch", lib.Case(work, check, {**torch_work.ENVIRONMENT,
                                         "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}))

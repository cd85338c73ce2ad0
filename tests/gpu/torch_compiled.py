#!/usr/bin/env python3
# case: Triton's kernels are seen with their launches; torch.compile and its compilers unchanged
import importlib.util

import lib
import torch_work

LAUNCHES = 7


def work():
    torch = torch_work.deterministic()
    # A kernel finds the language among the globals of its module.
    global tl
    import triton
    import triton.language as tl

    @triton.jit
    def add_vectors(left, right, out, count, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < count
        tl.store(out + at, tl.load(left + at, mask=inside) + tl.load(right + at, mask=inside),
                 mask=inside)

    left = torch.arange(100_000, device="cuda", dtype=torch.float32)
    out = torch.zeros_like(left)
    for _ in range(LAUNCHES):
        add_vectors[(triton.cdiv(100_000, 1024),)](left, out, out, 100_000, BLOCK=1024)
    print("triton", out.max().item())

    compiled = torch.compile(lambda values: (values * 3 + 1).relu() - values)
    print("compile", compiled(left).max().item())
    lib.keep(left, out)
    torch.cuda.synchronize()
    lib.tell(reserved=torch.cuda.memory_reserved())


def check(run):
    run.equal("launches of add_vectors", run.kernel("add_vectors"), LAUNCHES)
    run.true("torch.compile's kernel was seen", run.kernel("triton_"))
    run.equal("live bytes by libc10_cuda, and memory_reserved()", run.of(r"/libc10_cuda\.so").live,
              run.told["reserved"])


if importlib.util.find_spec("torch") is None:
    lib.outcome(lambda scratch: lib.skip("torch is not installed"))
lib.main("triton", lib.Case(work, check, {**torch_work.ENVIRONMENT,
                                          "TORCHINDUCTOR_COMPILE_THREADS": "1"}))

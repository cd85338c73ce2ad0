#!/usr/bin/env python3
# case: workers of a DataLoader are silent, before and after the parent has used CUDA
import lib
import torch_work


class Squares:
    """A data set; it is made in the workers."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        import torch

        return torch.full((1024,), float(index * index))


def load(torch, pinned):
    loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2,
                                         pin_memory=pinned)
    total = 0.0
    for batch in loader:
        total += batch.cuda(non_blocking=pinned).sum().item()
    print("pinned" if pinned else "pageable", total)


def work():
    torch = torch_work.deterministic()
    load(torch, False)
    load(torch, True)
    torch.cuda.synchronize()
    stats = torch.cuda.host_memory_stats() if hasattr(torch.cuda, "host_memory_stats") else {}
    lib.tell(reserved=torch.cuda.memory_reserved(), num_host_alloc=stats.get("num_host_alloc"),
             host_peak=stats.get("allocated_bytes.peak"))


def check(run):
    told = run.told
    pinned = run.kinds["pinned"]

    # That nobody but the parent writes a report, lib.Run has checked.
    run.equal("live bytes by libc10_cuda, and memory_reserved()", run.of(r"/libc10_cuda\.so").live,
              told["reserved"])
    if told["num_host_alloc"]:
        run.equal("allocations of pinned memory, and num_host_alloc", pinned["allocations"],
                  told["num_host_alloc"])
        run.equal("highest bytes of pinned memory, and allocated_bytes.peak of the host",
                  pinned["peak_bytes"], told["host_peak"])
    else:
        run.true("pinned memory was seen", pinned["allocations"])


lib.main("torch", lib.Case(work, check))

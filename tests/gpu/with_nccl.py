#!/usr/bin/env python3
# case: a program that uses NCCL gets the same results, and its own blocks are told from NCCL's
import lib

lib.main_c("use_nccl.c", {"nccl": "nccl.h", "cudart": "cuda_runtime_api.h"},
           lib.own_blocks(allocations=3, total=2 * 1000003 * 4 + lib.KEPT))

#!/usr/bin/env python3
# case: a program that uses cuBLAS gets the same results, and its own blocks are told from cuBLAS's
import lib

lib.main_c("use_cublas.c", {"cublas": "cublas_v2.h", "cudart": "cuda_runtime_api.h"},
           lib.own_blocks(allocations=4, total=3 * 512 * 512 * 4 + lib.KEPT))

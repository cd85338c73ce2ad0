#!/usr/bin/env python3
# case: a program that uses cuFFT gets the same results, and its own blocks are told from cuFFT's
import lib

lib.main_c("use_cufft.c", {"cufft": "cufft.h", "cudart": "cuda_runtime_api.h"},
           lib.own_blocks(allocations=2, total=65536 * 16 * 8 + lib.KEPT))

#!/usr/bin/env python3
# case: python3 and "import torch" are as without gmtrace: same output, no report, without CUDA
import importlib.util
import os
import sys

import lib


def test(scratch):
    wrong = []
    for number, code in enumerate(["pass", "import torch; print(torch.__version__)"]):
        if "torch" in code and importlib.util.find_spec("torch") is None:
            continue
        directory = os.path.join(scratch, str(number))
        os.mkdir(directory)
        plain, traced = lib.both([sys.executable, "-c", code], {}, directory)
        if traced.err != plain.err:
            wrong.append(f"{code}: stderr differs\n--- without gmtrace\n{plain.err}"
                         f"--- with it\n{traced.err}")
        if traced.reports:
            wrong.append(f"{code}: reports {sorted(traced.reports)}")
    if wrong:
        raise lib.Wrong("\n".join(wrong))
    return 0


lib.outcome(test)

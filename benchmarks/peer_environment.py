"""The environment that both sides of a comparison run in."""

import os
import pathlib


def environment(threads):
    """So many threads for PyTorch and OpenBLAS, and OpenBLAS's code for this processor.

    Debian's OpenBLAS does not know newer processors with AVX-512 and falls back to code without vectors of 32 bytes,
    a third as fast. That would slow PyTorch's linear layers and lower the peak: it is told what to use.
    """
    settings = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    processor = pathlib.Path("/proc/cpuinfo")
    if processor.exists() and " avx512bw " in processor.read_text():
        settings["OPENBLAS_CORETYPE"] = "SKYLAKEX"
    return settings | dict(os.environ) | {key: settings[key] for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}

"""The environment that both sides of a comparison run in."""

import os
import pathlib


def environment(threads):
    """So many threads for PyTorch and OpenBLAS, and OpenBLAS's code for this processor.

    Debian's OpenBLAS does not know newer processors with AVX-512 and may fall back to code without vectors of 32 bytes,
    a third as fast. That would slow PyTorch's linear layers and lower the peak: it is told what to use. AMD's
    processors do half a vector of 64 bytes at a time; vectors of 32 bytes are a little faster there.
    """
    settings = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    file = pathlib.Path("/proc/cpuinfo")
    processor = file.read_text() if file.exists() else ""
    if " avx512bw " in processor:
        settings["OPENBLAS_CORETYPE"] = "ZEN" if "AuthenticAMD" in processor else "SKYLAKEX"
    return settings | dict(os.environ) | {key: settings[key] for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}

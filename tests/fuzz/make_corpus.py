#!/usr/bin/env python3
"""Writes the fuzzers' seeds for the data readers into corpus/. Run with python3 and numpy; the output is
committed."""

import gzip
import io
import pathlib
import pickle
import struct
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference/waveform_pickles"))
import make as pickles  # noqa: E402


def write(kind, name, content):
    directory = HERE / "corpus" / kind
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)


def idx():
    images = struct.pack(">IIII", 0x803, 2, 2, 3) + bytes(range(12))
    labels = struct.pack(">II", 0x801, 2) + bytes([1, 2])
    packed = gzip.compress(images, mtime=0), gzip.compress(labels, mtime=0)
    for name, (first, second) in {"plain": (images, labels), "gzip": packed}.items():
        write("idx", name, struct.pack("<H", len(first)) + first + second)


def cifar():
    write("cifar", "one", bytes([1, 2]) + bytes(i % 256 for i in range(3072)))
    write("cifar", "bad_label", bytes([1, 9]) + bytes(3072))


def npy():
    for name, dtype in {"f4": "<f4", "f8": "<f8", "i4": "<i4", "i8": "<i8", "u1": "|u1"}.items():
        out = io.BytesIO()
        np.lib.format.write_array(out, np.arange(6, dtype=dtype).reshape(2, 3), version=(1, 0))
        write("npy", name, out.getvalue())
    for version in ((2, 0), (3, 0)):
        out = io.BytesIO()
        np.lib.format.write_array(out, np.arange(3, dtype="<f4"), version=version)
        write("npy", f"version{version[0]}", out.getvalue())


def pickled():
    one = {("QPSK", 2): (np.arange(256) / 256).astype(np.float32).reshape(1, 2, 128)}
    small = {("8PSK", -4): np.zeros((1, 1), dtype=np.float32), ("GFSK", 0): np.zeros((1, 1), dtype=np.float32)}
    for protocol in range(6):
        write("pickle", f"python3_protocol{protocol}", pickle.dumps(one, protocol))
    write("pickle", "two_entries", pickle.dumps(small, 4))
    write("pickle", "numpy_key", pickle.dumps({("QPSK", np.int64(2)): np.zeros((1, 2), dtype=np.float64)}, 2))
    write("pickle", "python2_protocol0", pickles.python2_protocol0(one))
    write("pickle", "python2_protocol2", pickles.python2_protocol2(one))


if __name__ == "__main__":
    idx()
    cifar()
    npy()
    pickled()

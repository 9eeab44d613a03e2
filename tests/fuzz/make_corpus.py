#!/usr/bin/env python3
"""Writes the fuzzers' seeds for the readers of data and networks into corpus/. Run with python3 and numpy; the output is
committed."""

import gzip
import io
import json
import pathlib
import pickle
import struct
import sys
import zlib

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


def safetensors():
    def network(shape, layers, tensors):
        header = {"__metadata__": {"network.input": shape, "network.layers": layers, "note": "seed"}}
        data = b""
        for name, sizes in tensors.items():
            values = np.arange(np.prod(sizes), dtype="<f4") / 8
            header[name] = {"dtype": "F32", "shape": sizes, "data_offsets": [len(data), len(data) + values.nbytes]}
            data += values.tobytes()
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    write("safetensors", "linear", network("1x1x2", "linear 3", {"fc1.weight": [3, 2], "fc1.bias": [3]}))
    write(
        "safetensors",
        "conv",
        network(
            "3x3x1",
            "conv 2 2x2 stride 1 padding 1; relu; pool 2 stride 1; dropout 0.5; linear 2; softmax",
            {"conv1.weight": [2, 1, 2, 2], "conv1.bias": [2], "fc1.weight": [2, 18], "fc1.bias": [2]},
        ),
    )
    lstm = {"weight_ih_l0": [4, 2], "weight_hh_l0": [4, 1], "bias_ih_l0": [4], "bias_hh_l0": [4]}
    write(
        "safetensors",
        "lstm",
        network("2x2x1", "lstm 1 sequence", {f"lstm1.{name}": sizes for name, sizes in lstm.items()}),
    )


def message():
    def party(kind, swarm=0, index=0):
        return struct.pack("<BII", kind, swarm, index)

    def whole(kind, sender, receiver, content=b"", subject=party(0), payload=0):
        head = b"SK" + struct.pack("<BB", 1, kind) + sender + receiver + subject
        global_round = 0 if kind in (1, 2) else 2
        body = head + struct.pack("<IIIQQI", 1, global_round, 0, 7, payload, len(content)) + content
        return body + struct.pack("<I", zlib.crc32(body))

    core, access_point, leader = party(0), party(1, 0, 1), party(2, 3)
    coordinator, worker, device = party(3, 3, 0), party(4, 3, 1), party(5, 3, 2)
    shares = coordinator + struct.pack("<QB", 100, 0) + device + struct.pack("<QB", 0, 1)
    write("message", "plan", whole(1, core, access_point, struct.pack("<IIII", 4, 1, 2, 3), leader, 1000))
    write("message", "position", whole(2, leader, worker, struct.pack("<ddd", 1.0, -2.0, 50.0)))
    write("message", "shares", whole(3, leader, worker, shares))
    write("message", "start_training", whole(6, leader, coordinator, struct.pack("<II", 2, 2)))
    write("message", "wake_up", whole(8, coordinator, device, struct.pack("<Q", 100)))
    write("message", "data", whole(10, device, worker, payload=100))
    write("message", "model_announced", whole(12, worker, leader, struct.pack("<d", 0.5)))
    write("message", "lost", whole(23, leader, worker, subject=coordinator))
    write("message", "acknowledgement", whole(24, worker, leader, struct.pack("<Q", 7)))


if __name__ == "__main__":
    idx()
    cifar()
    npy()
    pickled()
    safetensors()
    message()

#!/usr/bin/env python3
"""Runs saved networks with PyTorch, in double precision, to compare their outputs with ours.

For every NAME.safetensors in the directory given, reads samples from NAME.inputs and writes the network's
outputs to NAME.outputs, both little-endian float64. Exit code 77 if PyTorch is not there.

The file format is read here from its description, not with any library; the network is built from the file's
metadata as anyone would write it in PyTorch, and loads the tensors by their names.
"""

import json
import pathlib
import struct
import sys

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit(77)


def read_file(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    data = content[8 + length :]
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32"
        begin, end = entry["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
        tensors[name] = torch.tensor(values, dtype=torch.float64).reshape(entry["shape"])
    return metadata, tensors


def both(word):
    height, _, width = word.partition("x")
    return (int(height), int(width or height))


def options(words):
    return {words[i]: both(words[i + 1]) for i in range(0, len(words), 2)}


def as_images(x):
    """Samples of height, width and channels, PyTorch's way: (sample, channel, y, x)."""
    if x.dim() == 2:
        return x[:, :, None, None]
    return x.transpose(1, 2)[:, :, :, None] if x.dim() == 3 else x


def as_sequence(x):
    """(sample, moment, feature)"""
    if x.dim() == 2:
        return x[:, None, :]
    return x.permute(0, 2, 3, 1).flatten(2) if x.dim() == 4 else x


class Network(nn.Module):
    def __init__(self, shape, layers):
        super().__init__()
        self.steps = []
        x = torch.zeros(1, shape[2], shape[0], shape[1], dtype=torch.float64)
        numbers = {"conv": 0, "fc": 0, "lstm": 0}

        def add(prefix, module):
            numbers[prefix] += 1
            self.add_module(f"{prefix}{numbers[prefix]}", module.double())
            return module

        for line in layers:
            kind, *words = line.split()
            if kind == "conv":
                extra = options(words[2:])
                conv = add("conv", nn.Conv2d(as_images(x).shape[1], int(words[0]), both(words[1]), **extra))
                step = lambda x, conv=conv: conv(as_images(x))
            elif kind == "pool":
                pool = nn.MaxPool2d(both(words[0]), **options(words[1:]))
                step = lambda x, pool=pool: pool(as_images(x))
            elif kind == "linear":
                linear = add("fc", nn.Linear(x.flatten(1).shape[1], int(words[0])))
                step = lambda x, linear=linear: linear(x.flatten(1))
            elif kind == "lstm":
                lstm = add("lstm", nn.LSTM(as_sequence(x).shape[2], int(words[0]), batch_first=True))
                last = words[1:] != ["sequence"]
                step = lambda x, lstm=lstm, last=last: lstm(as_sequence(x))[0][:, -1 if last else slice(None)]
            elif kind == "dropout":
                step = lambda x: x  # nothing is dropped when a network is used
            elif kind == "softmax":
                step = lambda x: torch.softmax(x.flatten(1), 1)
            else:
                step = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}[kind]
            x = step(x)
            self.steps.append(step)

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x.flatten(1)


def run(path):
    metadata, tensors = read_file(path)
    height, width, channels = map(int, metadata["network.input"].split("x"))
    network = Network((height, width, channels), metadata["network.layers"].split("; "))
    network.load_state_dict(tensors)
    raw = path.with_suffix(".inputs").read_bytes()
    inputs = torch.tensor(struct.unpack(f"<{len(raw) // 8}d", raw), dtype=torch.float64)
    with torch.no_grad():
        outputs = network(inputs.reshape(-1, height, width, channels).permute(0, 3, 1, 2)).flatten().tolist()
    path.with_suffix(".outputs").write_bytes(struct.pack(f"<{len(outputs)}d", *outputs))


if __name__ == "__main__":
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.safetensors")):
        run(file)

#!/usr/bin/env python3
"""Makes tests/reference/pytorch_start.json: digests of the parameters that PyTorch gives to new modules.

Run with Debian's python3-torch: tests/reference/pytorch_start.py > tests/reference/pytorch_start.json
A digest is the sum over a tensor's numbers, in PyTorch's order, of (place + 1) * bits, modulo 2^64.
"""

import json

import numpy
import torch
from torch import nn

CASES = {
    "mnist_cnn": ([28, 28, 1], lambda: [nn.Conv2d(1, 16, 2), nn.Conv2d(16, 32, 2), nn.Linear(18432, 128), nn.Linear(128, 10)]),
    "cifar10_cnn": ([32, 32, 3], lambda: [nn.Conv2d(3, 20, 5), nn.Conv2d(20, 50, 5), nn.Linear(1250, 500), nn.Linear(500, 10)]),
    "radioml_cnn": ([2, 128, 1], lambda: [nn.Conv2d(1, 16, (2, 5)), nn.Conv2d(16, 32, (1, 4)), nn.Linear(3872, 128), nn.Linear(128, 4)]),
    "lstm 7; linear 10": ([5, 3, 1], lambda: [nn.LSTM(3, 7), nn.Linear(7, 10)]),
}


def digest(tensor):
    bits = tensor.detach().numpy().ravel().view(numpy.uint32).astype(numpy.uint64)
    return str(int((bits * numpy.arange(1, bits.size + 1, dtype=numpy.uint64)).sum(dtype=numpy.uint64)))


rows = []
for name, (shape, modules) in CASES.items():
    for seed in (0, 1, 4294967295):
        torch.manual_seed(seed)
        digests = [digest(tensor) for module in modules() for tensor in module.parameters()]
        rows.append({"network": name, "input": shape, "seed": seed, "digests": digests})
print(json.dumps({"torch": torch.__version__, "cases": rows}, indent=1))

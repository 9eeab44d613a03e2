#!/usr/bin/env python3
"""The updates of training_benchmark.cc in PyTorch, as fast as simple PyTorch code does them.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 benchmarks/training_peer.py [--seconds S] [CELL...]

A cell is NETWORK,BATCH,KIND as in M,4,first_order; without cells they are read from standard input, one a line.
Each gives a line of JSON with the median time of an update (on the wall, and of the processor) by setting: PyTorch's
defaults, layout channels last, and without oneDNN. Networks, batches and steps are those of training_benchmark.cc;
logits go into the cross-entropy, nothing is dropped, and batches are in memory. scripts/benchmark-training runs both
programs cell by cell and compares them.
"""

import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as functional

INNER_STEP = 1e-3
META_STEP = 1e-3
DIFFERENCE_STEP = 1e-3
FEWEST_UPDATES = 3  # of each setting
WARM_UP = 0.2  # seconds: the first updates are slower, while the heap finds its size

# Channels, height and width of a sample, then: convolution (filters, kernel), pool (kernel, stride), linear
# (outputs). A ReLU follows every convolution and every linear layer but the last.
NETWORKS = {
    "M": ((1, 28, 28), [("conv", 16, (2, 2)), ("pool", 2, 1), ("conv", 32, (2, 2)), ("pool", 2, 1), 128, 10]),
    "Ms2": ((1, 28, 28), [("conv", 16, (2, 2)), ("pool", 2, 2), ("conv", 32, (2, 2)), ("pool", 2, 2), 128, 10]),
    "C": ((3, 32, 32), [("conv", 20, (5, 5)), ("pool", 2, 2), ("conv", 50, (5, 5)), ("pool", 2, 2), 500, 10]),
    "R": ((1, 2, 128), [("conv", 16, (2, 5)), ("conv", 32, (1, 4)), 128, 4]),
}
# (channels last, oneDNN)
SETTINGS = {"default": (False, True), "channels last": (True, True), "no oneDNN": (False, False)}


def initial_parameters(network):
    """PyTorch's default: uniform by the fan in. Also returns the number of classes."""
    (channels, height, width), layers = NETWORKS[network]
    parameters = []

    def add(*shape, fan_in):
        parameters.append((torch.rand(shape) * 2 - 1) * fan_in**-0.5)

    for layer in layers:
        if isinstance(layer, int):
            features = channels * height * width
            add(layer, features, fan_in=features)
            add(layer, fan_in=features)
            channels, height, width = layer, 1, 1
        elif layer[0] == "conv":
            fan_in = channels * layer[2][0] * layer[2][1]
            add(layer[1], channels, *layer[2], fan_in=fan_in)
            add(layer[1], fan_in=fan_in)
            channels, height, width = layer[1], height - layer[2][0] + 1, width - layer[2][1] + 1
        else:
            height, width = ((size - layer[1]) // layer[2] + 1 for size in (height, width))
    return parameters, channels


def loss(network, parameters, batch):
    x, labels = batch
    rest = iter(parameters)
    layers = NETWORKS[network][1]
    for layer in layers[:-1]:
        if isinstance(layer, int):
            x = functional.linear(x.flatten(1), next(rest), next(rest)).relu_()
        elif layer[0] == "conv":
            x = functional.conv2d(x, next(rest), next(rest)).relu_()
        else:
            x = functional.max_pool2d(x, layer[1], layer[2])
    return functional.cross_entropy(functional.linear(x, next(rest), next(rest)), labels)


def gradient(network, parameters, batch):
    return torch.autograd.grad(loss(network, parameters, batch), parameters)


def moved(parameters, direction, length):
    """parameters + length * direction, as leaves."""
    with torch.no_grad():
        return [torch.add(p, d, alpha=length).requires_grad_() for p, d in zip(parameters, direction)]


def update(network, kind, parameters, batches):
    """The meta-update of section III-B in place: w -= META_STEP (I - INNER_STEP H(w)) g(w - INNER_STEP g(w))."""
    inner = moved(parameters, gradient(network, parameters, batches[0]), -INNER_STEP)
    v = gradient(network, inner, batches[1])
    factor = 0.0
    if kind == "hessian_free":
        plus = gradient(network, moved(parameters, v, DIFFERENCE_STEP), batches[2])
        minus = gradient(network, moved(parameters, v, -DIFFERENCE_STEP), batches[2])
        with torch.no_grad():
            curvature = [p.sub_(m) for p, m in zip(plus, minus)]
        factor = INNER_STEP / (2 * DIFFERENCE_STEP)
    elif kind == "exact":
        g = torch.autograd.grad(loss(network, parameters, batches[2]), parameters, create_graph=True)
        curvature = torch.autograd.grad(g, parameters, v)
        factor = INNER_STEP
    with torch.no_grad():
        for i, p in enumerate(parameters):
            p.add_(v[i], alpha=-META_STEP)
            if factor != 0.0:
                p.add_(curvature[i], alpha=META_STEP * factor)


def median_seconds(network, kind, size, setting, seconds):
    """Of an update: on the wall, and of the processor."""
    channels_last, onednn = setting
    torch.manual_seed(1)
    parameters, classes = initial_parameters(network)
    shape = NETWORKS[network][0]
    batches = [(torch.rand(size, *shape), torch.randint(classes, (size,))) for _ in range(3)]
    if channels_last:
        layout = {"memory_format": torch.channels_last}
        parameters = [p.contiguous(**layout) if p.dim() == 4 else p for p in parameters]
        batches = [(x.contiguous(**layout), labels) for x, labels in batches]
    parameters = [p.requires_grad_() for p in parameters]
    times = []
    with torch.backends.mkldnn.flags(enabled=onednn):
        start = time.perf_counter()
        while time.perf_counter() - start < WARM_UP:
            update(network, kind, parameters, batches)
        start = time.perf_counter()
        while True:
            before = time.perf_counter(), time.process_time()
            update(network, kind, parameters, batches)
            now = time.perf_counter(), time.process_time()
            times.append((now[0] - before[0], now[1] - before[1]))
            spent = now[0] - start
            if spent > seconds and len(times) >= FEWEST_UPDATES:
                return tuple(statistics.median(each) for each in zip(*times))


def measure(cell, seconds):
    network, size, kind = cell.split(",")
    times = {
        name: median_seconds(network, kind, int(size), setting, seconds / len(SETTINGS))
        for name, setting in SETTINGS.items()
    }
    return {
        "cell": cell,
        "seconds": {name: wall for name, (wall, _) in times.items()},
        "processor_seconds": {name: processor for name, (_, processor) in times.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="about how long a cell takes")
    parser.add_argument("cells", nargs="*", metavar="CELL")
    arguments = parser.parse_args()
    for cell in arguments.cells or sys.stdin:
        print(json.dumps(measure(cell.strip(), arguments.seconds)), flush=True)


if __name__ == "__main__":
    main()

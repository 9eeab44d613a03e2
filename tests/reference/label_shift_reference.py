#!/usr/bin/env python3
"""Steps of training with a label shift, by PyTorch in double precision, where the shift is added to the logits. Writes
label_shift_reference.json beside this file; tests/learning/label_shift_test.cc compares with it steps that have it on
the biases of the last layer.

    python3 tests/reference/label_shift_reference.py

Parameters and samples are drawn as in network_reference.py, with the case's number as seed. Networks are smooth, so
that no decision hangs on rounding. Of K classes, class y has counts[y] points of n; s and u are smoothing and mix:

    shift          log(K pi_y), pi_y = (n_y + s) / (n + K s)
    lasting_shift  log(K ((1 - u) pi_y + u / K))
    step           the model after one step along the gradient of the shifted loss
    first_order, hessian_free, exact   the model after one step along a meta-gradient of it
"""

import json
import pathlib
import sys

import torch
import torch.nn.functional as functional

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import network_reference as networks  # noqa: E402
from random_streams import Stream  # noqa: E402

FILE = HERE / "label_shift_reference.json"

# (input, layers, points of each class, smoothing, mix)
CASES = [
    ((1, 1, 6), "linear 4", [30, 0, 1, 12], 0.5, 0.1),
    ((1, 1, 9), "linear 12, sigmoid, linear 6", [0, 0, 400, 3, 0, 77], 0.5, 0.1),
    ((5, 6, 2), "conv 7 3x2, tanh, linear 9, tanh, linear 3", [5, 5, 5], 2.0, 0.3),
    ((4, 3, 1), "lstm 5, linear 5", [0, 1, 2, 3, 4], 0.125, 0.0),
    ((6, 6, 1), "conv 4 2x2 stride 2, sigmoid, linear 10", [9, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1.0, 1.0),
]
LENGTH = 0.75
INNER_STEP = 0.125
DIFFERENCE_STEP = 0.01


class ShiftedNetwork(networks.Network):
    shift = None

    def loss(self, w, batch):
        return functional.cross_entropy(self.outputs(w, batch.x) + self.shift, batch.labels)


def compute(number, shape, layers, counts, smoothing, mix):
    network = ShiftedNetwork(shape, layers.split(", "))
    k = len(counts)
    n = torch.tensor([float(count) for count in counts])
    pi = (n + smoothing) / (n.sum() + k * smoothing)
    network.shift = torch.log(k * pi)
    w = []
    stream = Stream(number, "reference parameters")
    for size, bound in network.tensors:
        w += [bound * value for value in networks.draws(stream, size)]
    w = torch.tensor(w)
    case = {"case": number, "values": "plain"}
    batches = []
    next_sample = 0
    for size in (5, 4, 6):
        batches.append(networks.fill(case, network, size, [w], next_sample))
        next_sample += size
    first, second, third = batches
    gradient = network.gradient(w, first)
    w_inner = w - INNER_STEP * gradient
    v = network.gradient(w_inner, second)
    d = DIFFERENCE_STEP
    difference = (network.gradient(w + d * v, third) - network.gradient(w - d * v, third)) / (2 * d)

    def numbers(values):
        return [float("%.13g" % float(value)) for value in values]

    return {
        "case": number,
        "input": list(shape),
        "layers": layers.split(", "),
        "counts": counts,
        "smoothing": smoothing,
        "mix": mix,
        "shift": numbers(network.shift),
        "lasting_shift": numbers(torch.log(k * ((1 - mix) * pi + mix / k))),
        "loss": numbers([network.loss(w, first)])[0],
        "step": numbers(w - LENGTH * gradient),
        "first_order": numbers(w - LENGTH * v),
        "hessian_free": numbers(w - LENGTH * (v - INNER_STEP * difference)),
        "exact": numbers(w - LENGTH * (v - INNER_STEP * network.hessian_vector(w, v, third))),
    }


def main():
    done = [compute(number, *case) for number, case in enumerate(CASES)]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in done)
    FILE.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()

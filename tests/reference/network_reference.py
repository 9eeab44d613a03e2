#!/usr/bin/env python3
"""Losses, outputs, gradients, Hessian-vector products and meta-gradients of small networks, by PyTorch in double
precision. Writes network_reference.json beside this file; tests/nn/network_reference_test.cc compares with it.

    python3 tests/reference/network_reference.py [--check]

--check writes nothing and says whether the file is what this script gives, to 1e-10.

A case is a network and three batches. Its numbers are not stored: both sides draw them from the named streams of
random_streams.py, with the case's number as seed and u = stream.uniform() in [0, 1):

    parameters  stream (case, "reference parameters"), in the order of Skein's flat vector: bound * (2 u - 1), with
                the bound of the tensor that the parameter belongs to
    direction   stream (case, "reference direction"): 2 u - 1
    a sample    stream (case, "reference sample", its number): 2 u - 1 for each value, channels innermost, then
                below(classes) for the label

"values" says if samples and parameters are changed after that, to make ties (see shape_sample below).

Layouts are Skein's (skein/nn/architecture.h). A gradient is taken with respect to Skein's flat vector itself: the
forward pass turns slices of it into PyTorch's layouts, and autograd turns the results back.

Every derivative here is that of a piecewise smooth function, so a decision of a ReLU or a max-pool that hangs on
rounding would make two right answers differ. Samples are therefore chosen one by one: the first whose decisions,
at every parameter vector where the batch is used (the inner step and both difference points included), all lie
at least `MARGIN` of the layer's root mean square away from flipping. Equal values are allowed, for they are
equal by construction (zeros of a ReLU or of padding, and the cases that are about ties): the first maximum wins,
and the slope of a ReLU at 0 is 0.

Vectors longer than MOST_STORED are stored in part: every k-th component from the first on. The dot product with
the direction stands for the rest.
"""

import json
import pathlib
import sys

import torch
import torch.nn.functional as functional

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from random_streams import Stream  # noqa: E402

FILE = HERE / "network_reference.json"
MARGIN = 1e-3
MOST_STORED = 240
MOST_TRIES = 4000
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def uniform(stream):
    return 2.0**-53 * (stream.bits() >> 11)


def draws(stream, count):
    return [2.0 * uniform(stream) - 1.0 for _ in range(count)]


# --- Layers --------------------------------------------------------------------------------------------------


def pair(text):
    numbers = [int(part) for part in text.split("x")]
    return (numbers[0], numbers[-1])


def options(words):
    """stride 2x1 padding 1 -> {"stride": (2, 1), "padding": (1, 1)}"""
    return {words[i]: pair(words[i + 1]) for i in range(0, len(words), 2)}


class Layer:
    """Text like "conv 4 3x2 stride 2 padding 1"; shapes are (height, width, channels)."""

    def __init__(self, text, shape):
        words = text.split()
        self.kind = words[0]
        height, width, channels = shape
        features = height * width * channels
        self.output = shape
        self.tensors = []  # (size, bound)
        if self.kind == "conv":
            self.filters = int(words[1])
            self.kernel = pair(words[2])
            given = options(words[3:])
            self.stride = given.get("stride", (1, 1))
            self.padding = given.get("padding", (0, 0))
            self.output = tuple(
                (size + 2 * padding - kernel) // stride + 1
                for size, padding, kernel, stride in zip(shape, self.padding, self.kernel, self.stride)
            ) + (self.filters,)
            fan_in = self.kernel[0] * self.kernel[1] * channels
            self.tensors = [(fan_in * self.filters, fan_in**-0.5), (self.filters, fan_in**-0.5)]
        elif self.kind == "pool":
            self.kernel = pair(words[1])
            self.stride = options(words[2:]).get("stride", self.kernel)
            self.output = tuple(
                (size - kernel) // stride + 1 for size, kernel, stride in zip(shape, self.kernel, self.stride)
            ) + (channels,)
        elif self.kind == "linear":
            self.outputs = int(words[1])
            self.output = (1, 1, self.outputs)
            self.tensors = [(features * self.outputs, features**-0.5), (self.outputs, features**-0.5)]
        elif self.kind == "lstm":
            self.hidden = int(words[1])
            self.sequence = words[2:] == ["sequence"]
            self.steps = height
            self.output = (height if self.sequence else 1, 1, self.hidden)
            self.features = width * channels
            bound = self.hidden**-0.5
            gates = 4 * self.hidden
            self.tensors = [(size * gates, bound) for size in (self.features, self.hidden, 1, 1)]
        if min(self.output) < 1:
            raise ValueError(f"{text} does not fit {shape}")

    def forward(self, x, tensors, decisions):
        """x is [batch, height, width, channels]; appends (values, how far each decision is from
        flipping, the value that won) to `decisions`."""
        if self.kind == "conv":
            weight = tensors[0].view(*self.kernel, x.shape[3], self.filters).permute(3, 2, 0, 1).contiguous()
            y = functional.conv2d(x.permute(0, 3, 1, 2).contiguous(), weight, tensors[1], self.stride, self.padding)
            return y.permute(0, 2, 3, 1)
        if self.kind == "pool":
            planes = x.permute(0, 3, 1, 2).contiguous()
            y = functional.max_pool2d(planes, self.kernel, self.stride)
            if self.kernel != (1, 1):
                windows = planes.detach().unfold(2, self.kernel[0], self.stride[0])
                windows = windows.unfold(3, self.kernel[1], self.stride[1]).flatten(4)
                top = windows.topk(2, dim=4).values
                decisions.append((planes.detach(), top[..., 0] - top[..., 1], top[..., 0]))
            return y.permute(0, 2, 3, 1)
        if self.kind == "linear":
            y = functional.linear(x.flatten(1), tensors[0].view(-1, self.outputs).t(), tensors[1])
            return y.view(-1, 1, 1, self.outputs)
        if self.kind == "lstm":
            gates = 4 * self.hidden
            weights = [tensors[0].view(-1, gates).t(), tensors[1].view(-1, gates).t(), tensors[2], tensors[3]]
            start = x.new_zeros(1, x.shape[0], self.hidden)
            sequence = x.reshape(x.shape[0], self.steps, self.features)
            y, _, _ = torch._VF.lstm(sequence, (start, start), weights, True, 1, 0.0, False, False, True)
            y = y if self.sequence else y[:, -1:]
            return y.unsqueeze(2)
        if self.kind == "relu":
            decisions.append((x.detach(), x.detach().abs(), torch.zeros_like(x)))
            return functional.relu(x)
        if self.kind == "softmax":
            return functional.softmax(x.flatten(1), 1).view(x.shape)
        return {"tanh": torch.tanh, "sigmoid": torch.sigmoid}[self.kind](x)


class Network:
    def __init__(self, shape, texts):
        self.shape = shape
        self.texts = texts
        self.layers = []
        for text in texts:
            self.layers.append(Layer(text, shape))
            shape = self.layers[-1].output
        self.classes = shape[0] * shape[1] * shape[2]
        self.tensors = [tensor for layer in self.layers for tensor in layer.tensors]
        self.size = sum(size for size, _ in self.tensors)

    def outputs(self, w, x, decisions=None):
        decisions = [] if decisions is None else decisions
        slices = list(torch.split(w, [size for size, _ in self.tensors])) if self.tensors else []
        for layer in self.layers:
            count = len(layer.tensors)
            x = layer.forward(x, slices[:count], decisions)
            slices = slices[count:]
        return x.flatten(1)

    def loss(self, w, batch):
        return functional.cross_entropy(self.outputs(w, batch.x), batch.labels)

    def gradient(self, w, batch):
        w = w.detach().requires_grad_()
        return torch.autograd.grad(self.loss(w, batch), w)[0]

    def hessian_vector(self, w, v, batch):
        w = w.detach().requires_grad_()
        (g,) = torch.autograd.grad(self.loss(w, batch), w, create_graph=True)
        return torch.autograd.grad(g, w, v)[0]

    def is_flip_free(self, points, x):
        """No decision of one sample is near flipping, at any of these parameters."""
        for w in points:
            decisions = []
            self.outputs(w, x, decisions)
            for values, distances, _ in decisions:
                margin = MARGIN * values.square().mean().sqrt()
                if not bool(((distances > margin) | (distances == 0)).all()):
                    return False
        return True


# --- Cases ---------------------------------------------------------------------------------------------------


class Batch:
    def __init__(self):
        self.numbers = []
        self.samples = []
        self.label_list = []

    def close(self):
        self.x = torch.cat(self.samples)
        self.labels = torch.tensor(self.label_list)


def shape_sample(kind, x):
    """What "values" means. plain: as drawn. sparse: values below 0.7 become 0, like the background of an image,
    so that whole windows are equal. grid: rounded up to quarters, and parameters to eighths, so that sums in
    the first layers are exact and often equal."""
    if kind == "sparse":
        return torch.where(x < 0.7, torch.zeros_like(x), x)
    if kind == "grid":
        return torch.ceil(x * 4) / 4
    return x


def fill(case, network, size, points, first_number):
    """A batch that is flip-free at these parameters, of samples from this number on."""
    batch = Batch()
    number = first_number
    while len(batch.samples) < size:
        stream = Stream(case["case"], "reference sample", number)
        x = torch.tensor(draws(stream, network.shape[0] * network.shape[1] * network.shape[2]))
        x = shape_sample(case["values"], x).view(1, *network.shape)
        label = stream.below(network.classes)
        if network.is_flip_free(points, x):
            batch.numbers.append(number)
            batch.samples.append(x)
            batch.label_list.append(label)
        number += 1
        if number - first_number > MOST_TRIES:
            raise RuntimeError(f"case {case['case']}: no flip-free samples")
    batch.close()
    return batch


def check_ties(network, w, batch):
    """A case about ties has windows with several largest values that are not the zeros of a ReLU."""
    decisions = []
    network.outputs(w, batch.x, decisions)
    assert any(bool(((distances == 0) & (top != 0)).any()) for _, distances, top in decisions), network.texts


def compute(case):
    network = Network(tuple(case["input"]), case["layers"])
    w = []
    stream = Stream(case["case"], "reference parameters")
    for size, bound in network.tensors:
        w += [bound * value for value in draws(stream, size)]
    w = torch.tensor(w)
    if case["values"] == "grid":
        w = torch.ceil(w * 8) / 8
    direction = torch.tensor(draws(Stream(case["case"], "reference direction"), network.size))

    first = fill(case, network, case["batches"][0], [w], 0)
    gradient = network.gradient(w, first)
    if case["values"] != "plain":
        check_ties(network, w, first)

    every = max(1, -(-network.size // MOST_STORED))
    while every > 1 and any(every % divisor == 0 for divisor in range(2, every)):
        every += 1  # a prime meets every channel of every layer

    def number(value):
        return float("%.12g" % float(value))

    def vector(values):
        return {"values": [number(value) for value in values[::every]], "dot": number(values @ direction)}

    result = {
        **case,
        "tensors": [[size, bound] for size, bound in network.tensors],
        "batches": [first.numbers],
        "every": every,
        "outputs": [number(value) for value in network.outputs(w, first.x).flatten()],
        "loss": number(network.loss(w, first)),
        "gradient": vector(gradient),
        "hessian_vector": vector(network.hessian_vector(w, direction, first)),
    }
    if case["values"] == "grid":
        return result  # after a step sums are no longer exact, and what was equal differs by rounding

    inner, d = case["inner_step"], case["difference_step"]
    w_inner = w - inner * gradient
    second = fill(case, network, case["batches"][1], [w_inner], first.numbers[-1] + 1)
    v = network.gradient(w_inner, second)
    third = fill(case, network, case["batches"][2], [w, w + d * v, w - d * v], second.numbers[-1] + 1)
    difference = (network.gradient(w + d * v, third) - network.gradient(w - d * v, third)) / (2 * d)
    result["batches"] += [second.numbers, third.numbers]
    result["meta"] = {
        "loss": number(network.loss(w_inner, second)),
        "first_order": vector(v),
        "hessian_free": vector(v - inner * difference),
        "exact": vector(v - inner * network.hessian_vector(w, v, third)),
    }
    return result


def shaped(text, name, numbers):
    """Appends " stride 2" or " stride 2x1"."""
    y, x = numbers
    return f"{text} {name} {y}" if y == x else f"{text} {name} {y}x{x}"


def random_convolution(stream, shape):
    most = [min(5, size + 1) for size in shape[:2]]
    kernel = [1 + stream.below(size) for size in most]
    padding = [stream.below(size) for size in kernel]
    if stream.below(2) == 0:
        padding = [0, 0]
    kernel = [min(k, size + 2 * p) for k, size, p in zip(kernel, shape, padding)]
    stride = [1 + stream.below(3), 1 + stream.below(3)] if stream.below(2) == 0 else [1, 1]
    text = f"conv {1 + stream.below(9)} {kernel[0]}x{kernel[1]}"
    if stride != [1, 1]:
        text = shaped(text, "stride", stride)
    if padding != [0, 0]:
        text = shaped(text, "padding", padding)
    return text


def random_pool(stream, shape):
    kernel = [1 + stream.below(min(3, size)) for size in shape[:2]]
    stride = [1 + stream.below(3), 1 + stream.below(3)] if stream.below(3) else [1, 1]
    return shaped(f"pool {kernel[0]}x{kernel[1]}", "stride", stride)


def random_activation(stream):
    return ["relu", "relu", "tanh", "sigmoid"][stream.below(4)]


def random_network(stream):
    """(shape, layers): images through convolutions and pools, or sequences through LSTMs, then linear layers."""
    layers = []
    if stream.below(3) > 0:
        shape = (3 + stream.below(6), 3 + stream.below(6), 1 + stream.below(4))
        now = shape
        for _ in range(1 + stream.below(3)):
            layers.append(random_convolution(stream, now))
            now = Layer(layers[-1], now).output
            if stream.below(4) > 0:
                layers.append(random_activation(stream))
            if stream.below(2) == 0:
                layers.append(random_pool(stream, now))
                now = Layer(layers[-1], now).output
    else:
        shape = (2 + stream.below(5), 1 + stream.below(3), 1 + stream.below(4))
        stacked = stream.below(2) == 0
        if stacked:
            layers.append(f"lstm {2 + stream.below(6)} sequence")
        layers.append(f"lstm {2 + stream.below(6)}" + (" sequence" if stream.below(3) == 0 else ""))
    for _ in range(stream.below(3)):
        layers += [f"linear {2 + stream.below(11)}", random_activation(stream)]
    layers.append(f"linear {2 + stream.below(7)}")
    if stream.below(3) == 0:
        layers.append("softmax")
    return shape, layers


# Each about something: the paper's networks made small, the widths around whole registers, layers in unusual
# places.
CHOSEN = [
    # the paper's three networks, and the first with pools of stride 2
    (
        (7, 7, 1),
        "conv 16 2x2, relu, pool 2x2 stride 1, conv 32 2x2, relu, pool 2x2 stride 1, "
        "linear 24, relu, linear 10, softmax",
    ),
    (
        (8, 8, 1),
        "conv 16 2x2, relu, pool 2x2 stride 2, conv 32 2x2, relu, pool 2x2 stride 2, linear 24, relu, linear 10",
    ),
    (
        (10, 10, 3),
        "conv 20 5x5, relu, pool 2x2 stride 2, conv 50 3x3, relu, pool 1x1 stride 1, linear 30, relu, linear 10",
    ),
    ((2, 16, 1), "conv 16 2x5, relu, conv 32 1x4, relu, linear 20, relu, linear 4, softmax"),
    # linear alone, and widths around whole registers
    ((1, 1, 5), "linear 3"),
    ((1, 1, 1), "linear 2"),
    ((1, 1, 33), "linear 17, relu, linear 31, tanh, linear 8"),
    ((4, 4, 2), "linear 64, relu, linear 15, relu, linear 9"),
    ((3, 1, 7), "linear 65, sigmoid, linear 33"),
    ((5, 4, 3), "conv 8 2x2, relu, conv 7 2x2, relu, linear 5"),
    ((4, 6, 9), "conv 17 3x2 padding 1, relu, conv 25 2x2 stride 2, tanh, linear 3"),
    ((3, 3, 16), "conv 16 3x3 padding 1, relu, conv 33 2x2, relu, linear 4"),
    ((6, 5, 24), "conv 3 3x3, sigmoid, linear 2"),
    # narrower than a register, one after another
    ((1, 1, 2), "linear 1, tanh, linear 2"),
    ((1, 1, 1), "linear 2, linear 1, sigmoid, linear 3, linear 2"),
    ((2, 2, 1), "conv 1 1x1, conv 2 1x2, tanh, conv 1 2x1, linear 2"),
    ((2, 1, 1), "lstm 1 sequence, lstm 1, linear 2"),
    # no linear layer: the last layer's values are the outputs
    ((5, 5, 2), "conv 6 3x3, relu, conv 4 3x3"),
    ((6, 6, 1), "conv 3 2x2, tanh, pool 3x3 stride 2"),
    ((4, 2, 3), "lstm 5"),
    ((3, 1, 2), "lstm 4 sequence"),
    # layers without parameters first, twice, or after one another
    ((6, 6, 2), "pool 2x2 stride 2, conv 5 2x2, relu, linear 4"),
    ((6, 7, 2), "tanh, conv 4 3x3 stride 2 padding 1, relu, pool 2x2 stride 1, pool 2x1 stride 1x2, linear 3"),
    ((1, 1, 6), "linear 7, softmax, linear 5, sigmoid, tanh, linear 4, softmax"),
    # kernels as large as the image, strides beyond the kernel, the widest padding, a kernel of one
    ((4, 5, 2), "conv 7 4x5, relu, linear 3"),
    ((7, 7, 1), "conv 4 1x1 stride 3, relu, conv 5 2x1 stride 1x2, tanh, linear 3"),
    ((3, 3, 2), "conv 4 2x3 padding 1x2, relu, pool 2x3 stride 3x2, linear 3"),
    ((5, 8, 1), "conv 6 1x3 stride 1x2 padding 0x1, relu, pool 3x3 stride 1, linear 4"),
    # images between sequences
    ((6, 4, 1), "conv 3 2x2, tanh, lstm 5 sequence, relu, lstm 4, linear 3"),
    ((8, 3, 2), "lstm 9 sequence, conv 4 3x1 stride 2, relu, linear 3"),
    ((5, 1, 1), "lstm 17, linear 2, softmax"),
    # the same layers in other orders
    ((6, 6, 1), "conv 4 2x2, pool 2x2 stride 1, relu, conv 3 2x2, relu, relu, linear 4"),
    ((5, 5, 1), "conv 3 2x2, sigmoid, pool 2x2 stride 1, tanh, linear 3"),
]

# Linear layers so large beside the batch that a step along a batch's gradient is better kept as its factors; the
# batches are given.
LARGE = [
    ((1, 1, 150), "linear 128, relu, linear 10", [4, 4, 4]),
    ((6, 6, 3), "conv 8 2x2, relu, pool 2x2 stride 1, linear 140, tanh, linear 130, relu, linear 5", [5, 2, 7]),
    ((10, 14, 10), "linear 12, relu, linear 3", [3, 8, 5]),
    ((10, 14, 10), "linear 12, tanh, linear 3, softmax", [9, 2, 4]),
    ((4, 8, 16), "linear 33", [7, 6, 1]),
]

TIES = [
    ("sparse", (7, 7, 1), "conv 5 2x2, relu, pool 2x2 stride 1, linear 4"),
    ("sparse", (8, 8, 1), "conv 16 2x2, pool 2x2 stride 2, linear 6, relu, linear 3"),
    ("sparse", (6, 6, 2), "conv 3 1x1, relu, pool 3x3 stride 1, linear 4"),
    ("grid", (6, 6, 1), "conv 4 2x2, pool 2x2 stride 1, linear 3"),
    ("grid", (6, 6, 1), "conv 4 2x2, relu, pool 3x3 stride 1, linear 3"),
    ("grid", (7, 5, 1), "conv 9 1x1, pool 2x3 stride 1x2, conv 4 2x1, linear 5"),
]

NUM_RANDOM = 24
LARGEST_RANDOM = 1500


def cases():
    networks = [("plain", shape, layers.split(", "), None) for shape, layers in CHOSEN]
    networks += [("plain", shape, layers.split(", "), sizes) for shape, layers, sizes in LARGE]
    networks += [(values, shape, layers.split(", "), None) for values, shape, layers in TIES]
    num_listed = len(networks)
    number = 0
    while len(networks) < num_listed + NUM_RANDOM:
        shape, layers = random_network(Stream(number, "reference network"))
        number += 1
        if Network(shape, layers).size <= LARGEST_RANDOM:
            networks.append(("plain", shape, layers, None))
    for number, (values, shape, layers, sizes) in enumerate(networks):
        stream = Stream(number, "reference case")
        yield {
            "case": number,
            "input": list(shape),
            "layers": layers,
            "values": values,
            "batches": sizes or [1 + stream.below(9) for _ in range(3)],
            "inner_step": [0.03, 0.125, 0.5][stream.below(3)],
            "difference_step": [1e-3, 1e-2, 0.1][stream.below(3)],
        }


def check_coverage(done):
    """The list is worth its name only if all that a layer can do occurs."""
    layers = [layer for case in done for layer in Network(tuple(case["input"]), case["layers"]).layers]
    convolutions = [layer for layer in layers if layer.kind == "conv"]
    pools = [layer for layer in layers if layer.kind == "pool"]
    seen = {layer.kind for layer in layers}
    assert seen == {"conv", "pool", "linear", "relu", "tanh", "sigmoid", "softmax", "lstm"}, seen
    for has in (
        any(c.stride[0] != c.stride[1] for c in convolutions),
        any(c.padding[0] != c.padding[1] for c in convolutions),
        any(c.stride > c.kernel for c in convolutions),
        any(c.padding == (c.kernel[0] - 1, c.kernel[1] - 1) != (0, 0) for c in convolutions),
        any(p.stride == (1, 1) and p.kernel != (1, 1) for p in pools),
        any(p.stride[0] > p.kernel[0] for p in pools),
        any(1 < p.stride[0] < p.kernel[0] for p in pools),
        any(layer.kind == "lstm" and layer.sequence for layer in layers),
        {len(batch) for case in done for batch in case["batches"]} == set(range(1, 10)),
    ):
        assert has


def differs(ours, theirs):
    """The first place where two results differ by more than 1e-10 of the largest value there, or None."""
    if isinstance(ours, dict):
        if ours.keys() != theirs.keys():
            return "keys"
        found = [(key, differs(value, theirs[key])) for key, value in ours.items()]
        return next((f"{key} {where}" for key, where in found if where is not None), None)
    if isinstance(ours, list) and ours and isinstance(ours[0], float):
        largest = max(abs(value) for value in theirs)
        same = len(ours) == len(theirs) and all(abs(a - b) <= 1e-10 * largest for a, b in zip(ours, theirs))
        return None if same else "values"
    if isinstance(ours, float):
        return None if abs(ours - theirs) <= 1e-10 * max(1.0, abs(theirs)) else "value"
    return None if ours == theirs else "value"


def main():
    done = [compute(case) for case in cases()]
    check_coverage(done)
    if "--check" in sys.argv[1:]:
        stored = json.loads(FILE.read_text())
        where = [f"case {a['case']}: {differs(a, b)}" for a, b in zip(done, stored) if differs(a, b) is not None]
        if len(stored) != len(done):
            where.append("number of cases")
        print("\n".join(where) or "network_reference.json is right")
        sys.exit(1 if where else 0)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in done)
    FILE.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()

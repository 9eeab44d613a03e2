#!/usr/bin/env python3
"""The published MNIST curve (one local and one global aggregation per iteration) as a plain PyTorch loop.

    python3 benchmarks/published_loop_peer.py [--algorithm hn_pfl] [--iterations N] [--seed N]

Written as one would write it in PyTorch: a Dataset that turns and normalises one sample at a time, a DataLoader,
an nn.Module with dropout and the softmax before the cross-entropy, torch.optim.SGD. Prints a line of JSON per
iteration (accuracy of the global model on the test set, seconds), and at the end the mean seconds of an iteration,
on the wall and of the processor, and the peak memory of the process. Needs MNIST where Skein keeps it: `skein data
fetch mnist`. The variables OMP_NUM_THREADS and OPENBLAS_NUM_THREADS say how many threads PyTorch uses.
scripts/benchmark-training published compares it with `skein train`.
"""

import argparse
import copy
import json
import os
import pathlib
import resource
import time

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

# Of the published study: labels of the four swarms, and points of each worker.
LABELS = [[1, 7, 8], [0, 4, 9], [2, 3, 6], [5, 0, 9]]
POINTS = [[2367, 2231, 2716], [1924, 2936, 2309], [2579, 2437], [2865, 1984]]
H_FL_STEP = 1e-3
INNER_STEP = 1e-3
META_STEP = 1e-2
BATCH = 12  # of H-FL; HN-PFL takes a third


def data_directory():
    """As skein/data/data_source.h has it."""
    if os.environ.get("SKEIN_DATA"):
        return pathlib.Path(os.environ["SKEIN_DATA"])
    if os.environ.get("XDG_DATA_HOME"):
        return pathlib.Path(os.environ["XDG_DATA_HOME"]) / "skein"
    return pathlib.Path.home() / ".local/share/skein"


class Mnist(Dataset):
    def __init__(self, part):
        directory = data_directory() / "mnist"
        if not directory.is_dir():
            raise SystemExit("MNIST is not there; to get it: skein data fetch mnist")
        images = numpy.fromfile(directory / f"{part}-images-idx3-ubyte", dtype=numpy.uint8)
        labels = numpy.fromfile(directory / f"{part}-labels-idx1-ubyte", dtype=numpy.uint8)
        self.images = torch.from_numpy(images[16:].reshape(-1, 28, 28))
        self.labels = torch.from_numpy(labels[8:].astype(numpy.int64))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index].unsqueeze(0).float().div(255)
        image.sub_(0.1307).div_(0.3081)
        return image, int(self.labels[index])


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 2)
        self.conv2 = nn.Conv2d(16, 32, 2)
        self.pool = nn.MaxPool2d(2, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(18432, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = self.dropout1(self.pool(torch.relu(self.conv1(x))))
        x = self.dropout2(self.pool(torch.relu(self.conv2(x))))
        x = torch.relu(self.fc1(x.flatten(1)))
        return torch.softmax(self.fc2(x), dim=1)


def draw(labels_of_set, labels, points, generator):
    """A worker's data of one iteration: as many points of each of its labels, without replacement."""
    chosen = []
    for label in labels:
        pool = numpy.flatnonzero(labels_of_set == label)
        chosen.append(generator.choice(pool, points // len(labels), replace=False))
    return numpy.concatenate(chosen)


def train_h_fl(model, data, criterion):
    """One shuffled epoch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=H_FL_STEP)
    for x, labels in DataLoader(data, batch_size=BATCH, shuffle=True):
        optimizer.zero_grad()
        criterion(model(x), labels).backward()
        optimizer.step()


def train_hn_pfl(model, data, criterion, generator):
    """First-order meta-gradients: each step goes ahead along one batch, and applies the gradient of another,
    taken there, to where it started. The batches come from two thirds of the data, drawn independently."""
    third = len(data) // 3
    first, second = (
        DataLoader(Subset(data, generator.choice(len(data), third, replace=False)), batch_size=BATCH // 3, shuffle=True)
        for _ in range(2)
    )
    inner = torch.optim.SGD(model.parameters(), lr=INNER_STEP)
    outer = torch.optim.SGD(model.parameters(), lr=META_STEP)
    for (x1, labels1), (x2, labels2) in zip(first, second):
        start = [p.detach().clone() for p in model.parameters()]
        inner.zero_grad()
        criterion(model(x1), labels1).backward()
        inner.step()
        outer.zero_grad()
        criterion(model(x2), labels2).backward()
        with torch.no_grad():
            for p, saved in zip(model.parameters(), start):
                p.copy_(saved)
        outer.step()


def average(models, weights):
    total = sum(weights)
    result = copy.deepcopy(models[0].state_dict())
    for name in result:
        result[name] = sum(m.state_dict()[name] * (w / total) for m, w in zip(models, weights))
    return result


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    correct = 0
    for x, labels in DataLoader(data, batch_size=100):
        correct += int((model(x).argmax(1) == labels).sum())
    return correct / len(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=["hn_pfl", "h_fl"], default="hn_pfl")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    generator = numpy.random.default_rng(arguments.seed)
    train, test = Mnist("train"), Mnist("t10k")
    labels_of_set = train.labels.numpy()
    criterion = nn.CrossEntropyLoss()
    model = Cnn()
    times = []
    for iteration in range(1, arguments.iterations + 1):
        start = time.perf_counter(), time.process_time()
        swarm_models = []
        for labels, points in zip(LABELS, POINTS):
            workers = []
            for count in points:
                worker = copy.deepcopy(model)
                worker.train()
                data = Subset(train, draw(labels_of_set, labels, count, generator))
                if arguments.algorithm == "hn_pfl":
                    train_hn_pfl(worker, data, criterion, generator)
                else:
                    train_h_fl(worker, data, criterion)
                workers.append(worker)
            swarm = copy.deepcopy(model)
            swarm.load_state_dict(average(workers, points))
            swarm_models.append(swarm)
        model.load_state_dict(average(swarm_models, [1] * len(swarm_models)))
        result = accuracy(model, test)
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        print(json.dumps({"iteration": iteration, "accuracy": result, "seconds": times[-1][0]}), flush=True)
    wall, processor = (sum(each) / len(times) for each in zip(*times))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": wall, "processor_seconds": processor, "peak_bytes": peak}))


if __name__ == "__main__":
    main()

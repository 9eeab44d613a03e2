#!/usr/bin/env python3
"""Iterations of the published MNIST curve, in Skein and in published_loop_peer.py, one after the other.

    scripts/benchmark-training published [--iterations N] [--threads N] [--peer-threads N ...] [--algorithm hn_pfl ...]

builds Skein and runs this. Both train the same networks on as much data with as many updates, and evaluate the
global model on the test set after every iteration. PyTorch runs with 1 thread and with as many as Skein, and the
faster of the two counts: batches of 4 gain little from threads. The whole curve, 40 iterations, is compared, by the
time of these few: PyTorch's loop alone, and the whole command of Skein, which also reads the data, evaluates the
initial model and personalises the last one (runs of 1 and of N + 1 iterations, N at least 4, tell what these cost).
Memory is the peak of the whole process. The exit code is 1 if a target is missed.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from peer_environment import environment

HERE = pathlib.Path(__file__).resolve().parent
SCENARIO = HERE.parent / "scenarios/paper/mnist-published.toml"
LEAST_ITERATIONS = 4  # of ours: an iteration is a difference of two runs, and short ones are mostly noise
WHOLE_CURVE = 40
TIMES_FASTER = 12.0
SHARE_OF_MEMORY = 1 / 3


def run(command, threads):
    """(standard output, seconds on the wall, usage)"""
    env = environment(threads)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(str(word) for word in command)}")
    return output, seconds, usage


def run_peer(algorithm, iterations, threads, clock):
    command = [sys.executable, HERE / "published_loop_peer.py"]
    output, _, usage = run([*command, "--algorithm", algorithm, "--iterations", str(iterations)], threads)
    *rows, total = [json.loads(line) for line in output.splitlines()]
    return {
        "threads": threads,
        "iteration": total[clock],
        "curve": total[clock] * WHOLE_CURVE,
        "peak": usage.ru_maxrss * 1024,
        "accuracies": [100 * row["accuracy"] for row in rows],
    }


def run_ours(binary, algorithm, iterations, threads, clock):
    def train(count):
        # The norm of the meta-gradient is not in the peer's loop.
        settings = [f"learning.algorithm={algorithm}", f"learning.iterations={count}", "learning.gradient_points=0"]
        with tempfile.TemporaryDirectory() as directory:
            command = [binary, "train", SCENARIO, "--out", directory, "--threads", str(threads), "--quiet"]
            for setting in settings:
                command += ["--set", setting]
            _, seconds, usage = run(command, threads)
            with open(pathlib.Path(directory) / "metrics.csv") as file:
                accuracies = [float(row["accuracy_percent"]) for row in csv.DictReader(file)]
        if clock == "processor_seconds":
            seconds = usage.ru_utime + usage.ru_stime
        return seconds, usage.ru_maxrss * 1024, accuracies[1:]

    iterations = max(iterations, LEAST_ITERATIONS)
    one, _, _ = train(1)
    more, peak, accuracies = train(1 + iterations)
    each = (more - one) / iterations
    return {
        "threads": threads,
        "iteration": each,
        "curve": one + (WHOLE_CURVE - 1) * each,
        "peak": peak,
        "accuracies": accuracies,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of Skein; all cores if not given")
    parser.add_argument(
        "--peer-threads", type=int, nargs="+", help="of PyTorch: the fastest counts; 1 and Skein's if not given"
    )
    parser.add_argument("--algorithm", nargs="+", choices=["hn_pfl", "h_fl"], default=["hn_pfl", "h_fl"])
    parser.add_argument(
        "--processor-time", action="store_true", help="count it instead of time on the wall, where other programs run"
    )
    arguments = parser.parse_args()
    clock = "processor_seconds" if arguments.processor_time else "seconds"
    peer_threads = sorted(set(arguments.peer_threads or [1, arguments.threads]))
    print(f"The whole curve, {WHOLE_CURVE} iterations, is extrapolated from {arguments.iterations}.")
    print("algorithm           threads   seconds/iteration   curve, minutes   peak MB   accuracy % by iteration")
    failed = False
    for algorithm in arguments.algorithm:
        peers = [run_peer(algorithm, arguments.iterations, threads, clock) for threads in peer_threads]
        peer = min(peers, key=lambda result: result["curve"])
        ours = run_ours(arguments.binary, algorithm, arguments.iterations, arguments.threads, clock)
        for name, result in [*(("PyTorch", each) for each in peers), ("Skein", ours)]:
            print(
                f"{algorithm:<9} {name:<9} {result['threads']:>7} {result['iteration']:>19.2f}"
                f" {result['curve'] / 60:>16.1f} {result['peak'] / 1e6:>9.0f}  "
                f" {' '.join(f'{each:.1f}' for each in result['accuracies'])}"
            )
        faster = peer["curve"] / ours["curve"]
        share = ours["peak"] / peer["peak"]
        met = faster >= TIMES_FASTER and share <= SHARE_OF_MEMORY
        failed |= not met
        print(
            f"{algorithm:<9} {'PASS' if met else 'FAIL'}: {faster:.1f} times faster than PyTorch with "
            f"{peer['threads']} thread{'s' if peer['threads'] > 1 else ''} (at least {TIMES_FASTER:g}), "
            f"{share:.2f} of the memory (at most {SHARE_OF_MEMORY:.2f})",
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

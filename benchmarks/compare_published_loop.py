#!/usr/bin/env python3
"""Iterations of the published MNIST curve, in Skein and in published_loop_peer.py, one after the other.

    scripts/benchmark-training published [--iterations N] [--threads N] [--algorithm hn_pfl ...]

builds Skein and runs this. Both train the same networks on as much data with as many updates, and evaluate the
global model on the test set after every iteration. Skein's time is that of the whole command with reading the data,
PyTorch's that of its loop alone; memory is the peak of the whole process. A whole curve is 40 iterations, whose
time is taken from these. The exit code is 1 if a target is missed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCENARIO = HERE.parent / "scenarios/paper/mnist-published.toml"
WHOLE_CURVE = 40
TIMES_FASTER = 12.0
SHARE_OF_MEMORY = 1 / 3
# What the peer's loop does not do either: the norm of the meta-gradient, and a personalisation by a whole epoch.
SAME_WORK = ["learning.gradient_points=0", "learning.personalisation=step"]


def run(command, threads):
    """(standard output, seconds on the wall, usage)"""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
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
    return {"seconds": total[clock], "peak": usage.ru_maxrss * 1024, "accuracy": 100 * rows[-1]["accuracy"]}


def run_ours(binary, algorithm, iterations, threads, clock):
    settings = [f"learning.algorithm={algorithm}", f"learning.iterations={iterations}", *SAME_WORK]
    with tempfile.TemporaryDirectory() as directory:
        command = [binary, "train", SCENARIO, "--out", directory, "--threads", str(threads), "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        _, seconds, usage = run(command, threads)
        summary = json.loads((pathlib.Path(directory) / "summary.json").read_text())
    if clock == "processor_seconds":
        seconds = usage.ru_utime + usage.ru_stime
    accuracy = summary["last"]["global"]["accuracy_percent"]
    return {"seconds": seconds / iterations, "peak": usage.ru_maxrss * 1024, "accuracy": accuracy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of either")
    parser.add_argument("--algorithm", nargs="+", choices=["hn_pfl", "h_fl"], default=["hn_pfl", "h_fl"])
    parser.add_argument(
        "--processor-time", action="store_true", help="count it instead of time on the wall, where other programs run"
    )
    arguments = parser.parse_args()
    clock = "processor_seconds" if arguments.processor_time else "seconds"
    print("algorithm           seconds/iteration   curve, minutes   peak MB   accuracy %")
    failed = False
    for algorithm in arguments.algorithm:
        peer = run_peer(algorithm, arguments.iterations, arguments.threads, clock)
        ours = run_ours(arguments.binary, algorithm, arguments.iterations, arguments.threads, clock)
        for name, result in (("PyTorch", peer), ("Skein", ours)):
            print(
                f"{algorithm:<9} {name:<9} {result['seconds']:>17.2f} {result['seconds'] * WHOLE_CURVE / 60:>16.1f}"
                f" {result['peak'] / 1e6:>9.0f} {result['accuracy']:>12.1f}"
            )
        faster = peer["seconds"] / ours["seconds"]
        share = ours["peak"] / peer["peak"]
        met = faster >= TIMES_FASTER and share <= SHARE_OF_MEMORY
        failed |= not met
        print(
            f"{algorithm:<9} {'PASS' if met else 'FAIL'}: {faster:.1f} times faster (at least {TIMES_FASTER:g}), "
            f"{share:.2f} of the memory (at most {SHARE_OF_MEMORY:.2f})",
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the planning benchmark and its PyTorch peer in turn, and prints what matters and the ratio.

Processor time, one thread each. The peer does the same work per update: acting in 8 environments for 2 steps, all
legal plans of 32 next states through the train network, one update. Exit code 1 if a target is missed.
"""
import argparse
import json
import pathlib
import subprocess
import sys

TARGETS = {"ratio": 8.0, "steps_per_second": 1e6, "decision_ms": 50.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, help="planning_benchmark")
    parser.add_argument("--updates", type=int, default=200, help="updates of the peer")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each training; the best counts")
    options = parser.parse_args()
    peer_script = pathlib.Path(__file__).with_name("planning_peer.py")

    def ours(pattern):
        run = subprocess.run([options.binary, f"--benchmark_filter={pattern}", "--benchmark_format=json"],
                             check=True, capture_output=True, text=True)
        return json.loads(run.stdout)["benchmarks"]

    rates = ours("environment_steps")
    steps = rates[0]["items_per_second"]
    print(f"environment steps: {steps / 1e6:.2f} million a second (target {TARGETS['steps_per_second'] / 1e6:.0f})")
    missed = steps < TARGETS["steps_per_second"]
    print("\nmilliseconds a decision   3 swarms, 10 sites   10 swarms, 50 sites")
    times = {b["name"]: b["cpu_time"] for b in ours("decision")}
    for name in ["sequential", "threshold_nearest", "myopic", "learned", "beam", "guided"]:
        small, large = times[f"decision/3x10/{name}"], times[f"decision/10x50/{name}"]
        missed = missed or large > TARGETS["decision_ms"]
        print(f"{name:24}  {small:18.3f}   {large:19.3f}")

    best_ours, best_peer = 0.0, 0.0
    for _ in range(options.rounds):
        best_ours = max(best_ours, 200.0 / (ours("training")[0]["cpu_time"] / 1e3))
        peer = json.loads(subprocess.run([sys.executable, peer_script, "--updates", str(options.updates)], check=True,
                                         capture_output=True, text=True).stdout)
        best_peer = max(best_peer, peer["updates_per_second"])
    ratio = best_ours / best_peer
    missed = missed or ratio < TARGETS["ratio"]
    print(f"\ntraining, updates a second: Skein {best_ours:.1f}, PyTorch {peer['torch']} {best_peer:.1f}: "
          f"{ratio:.1f} times (target {TARGETS['ratio']:.0f})")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Geometric programs of problem P on cvxopt, and the paper's Algorithm 1 on top of it, for compare_offloading.py.

Reads commands from standard input, "gp NAME" or "algorithm_1 NAME", and answers each with a line of JSON. Times are
processor time of solvers.gp alone, with its own tolerances: what it takes to write the program down is left out, which
favours cvxopt.
"""

import json
import math
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = HERE.parent / "tests/reference"
sys.path.insert(0, str(REFERENCE))
import gp_reference as model  # noqa: E402
from cvxopt import solvers  # noqa: E402

for key in ("abstol", "reltol", "feastol", "maxiters"):
    solvers.options.pop(key, None)


def timed_gp(program):
    arguments = model.matrices(*program)
    before = time.process_time()
    try:
        result = solvers.gp(*arguments)
    except (ArithmeticError, ValueError) as error:
        return time.process_time() - before, None, str(error)
    return time.process_time() - before, list(result["x"]), result["status"]


def gp(p):
    program = model.first_condensed(p)
    runs = [timed_gp(program) for _ in range(3)]
    seconds, x, status = sorted(runs, key=lambda run: run[0])[1]
    return {"seconds": seconds, "status": status, "log_optimum": model.log_value(program[1], x) if x else None}


def objective(p, x):
    """Of problem P itself."""
    I, W, H = p["devices"], p["workers"], p["coordinators"]
    M, data, w = p["bits_per_datum"], p["device_data"], p["learning_weight"]
    a, b, c, d = (p["bound"][k] for k in "abcd")
    held = [sum(x["rho"][i][W + h] * data[i] for i in range(I)) for h in range(H)]
    D = [
        sum(x["rho"][i][j] * data[i] for i in range(I)) + sum(x["varrho"][h][j] * held[h] for h in range(H))
        for j in range(W)
    ]
    A = [sum(row) for row in x["alpha"]]
    delta = sum(A[j] * D[j] for j in range(W))
    learning = energy = 0.0
    for j in range(W):
        a1, a2, a3 = x["alpha"][j]
        batches = 1 / a2 + c / a1
        learning += A[j] / delta * p["gradient_error_weight"] * (a / a3 + b * batches / (a3 * D[j]) + d * batches)
        learning += A[j] / delta * p["mismatch_weight"] * (a + d * (1 + c) + b * (1 + c) / D[j])
        energy += p["local_period"] * p["capacitance_times_cycles"][j] / 2 * A[j] * D[j] * x["g"][j] ** 2
    for i in range(I):
        for u in range(W + H):
            energy += x["rho"][i][u] * data[i] * M * p["device_power_w"][i] / p["device_rate_bps"][i][u]
    for h in range(H):
        for j in range(W):
            power = p["coordinator_power_w"][h] / p["coordinator_rate_bps"][h][j]
            energy += x["varrho"][h][j] * held[h] * M * power
    return w * learning + (1 - w) * energy


def algorithm_1(p, tolerance=1e-5, most=200):
    """Condense, solve, repeat until the objective changes by less than the tolerance."""
    decision = model.even_decision(p)
    value, seconds, steps, status = objective(p, decision), 0.0, 0, "optimal"
    while steps < most:
        program, places = model.condensed_program(p, decision)
        took, x, status = timed_gp(program)
        seconds += took
        steps += 1
        if x is None:
            break
        point = {kind: [[math.exp(x[v]) for v in row] for row in rows] for kind, rows in places.items()}
        decision = point | {"g": point["g"][0]}
        lower = objective(p, decision)
        done = abs(value - lower) <= tolerance * lower
        value = lower
        if done:
            break
    return {"seconds": seconds, "condensations": steps, "objective": value, "status": status}


def main():
    lines = (REFERENCE / "offloading_instances.jsonl").read_text().splitlines()
    instances = {p["name"]: p for p in map(json.loads, lines)}
    for line in sys.stdin:
        command, name = line.split()
        work = {"gp": gp, "algorithm_1": algorithm_1}[command]
        print(json.dumps(work(instances[name])), flush=True)


if __name__ == "__main__":
    main()

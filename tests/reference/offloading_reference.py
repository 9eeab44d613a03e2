#!/usr/bin/python3
"""What follows from a decision of problem P, from the formulas of the paper's section IV alone (in the form that
skein/offloading/instance.h states), with exact fractions.

Writes offloading_reference.json beside this file: random decisions for instances of offloading_instances.jsonl, and
their objective, energies, data, times and the use of every limit.

    python3 tests/reference/offloading_reference.py [--check]

--check writes nothing and says whether the file is what this script gives.
"""

import json
import pathlib
import random
import sys
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "offloading_reference.json"
NAMES = [f"r_10_2_2_{i}" for i in range(12)] + ["r_50_4_2_0", "r_50_4_2_1"]


def F(value):
    return Fraction(value)  # of a float: exactly its value


def decision(p, rng):
    """Any, feasible or not; numbers with few digits."""
    I, W, H = p["devices"], p["workers"], p["coordinators"]
    low, high = p["cpu_hz"]
    size = rng.choice([0.05, 0.5, 1.5])
    share = lambda: 0.0 if rng.random() < 0.2 else round(size * rng.random() / (W + H), 4)
    return {
        "rho": [[share() for _ in range(W + H)] for _ in range(I)],
        "varrho": [[round(rng.random() * 1.2 / W, 4) for _ in range(W)] for _ in range(H)],
        "alpha": [[round(0.01 + 0.99 * rng.random(), 4) for _ in range(3)] for _ in range(W)],
        "g": [float(round(low + (high - low) * rng.random() ** 3)) for _ in range(W)],
    }


def evaluated(p, x):
    I, W, H = p["devices"], p["workers"], p["coordinators"]
    U = W + H
    M, tau, w = F(p["bits_per_datum"]), F(p["local_period"]), F(p["learning_weight"])
    S1, S2 = F(p["gradient_error_weight"]), F(p["mismatch_weight"])
    a, b, c, d = (F(p["bound"][k]) for k in "abcd")
    data = [F(v) for v in p["device_data"]]
    rate = lambda i, u: F(p["device_rate_bps"][i][u])
    relay_rate = lambda h, j: F(p["coordinator_rate_bps"][h][j])
    rho = [[F(v) for v in row] for row in x["rho"]]
    varrho = [[F(v) for v in row] for row in x["varrho"]]
    alpha = [[F(v) for v in row] for row in x["alpha"]]
    g = [F(v) for v in x["g"]]

    D = [None] * U
    for h in range(H):
        D[W + h] = sum(rho[i][W + h] * data[i] for i in range(I))
    for j in range(W):
        D[j] = sum(rho[i][j] * data[i] for i in range(I)) + sum(varrho[h][j] * D[W + h] for h in range(H))
    A = [sum(alpha[j]) for j in range(W)]
    Delta = sum(A[j] * D[j] for j in range(W))
    learning = 0
    for j in range(W):
        a1, a2, a3 = alpha[j]
        error = a / a3 + b * (1 / a2 + c / a1) / (a3 * D[j]) + d * (1 / a2 + c / a1)
        mismatch = a + d * (1 + c) + b * (1 + c) / D[j]
        learning += A[j] / Delta * (S1 * error + S2 * mismatch)
    device_energy = sum(rho[i][u] * data[i] * M * F(p["device_power_w"][i]) / rate(i, u) for i in range(I) for u in range(U))
    relay = [
        sum(varrho[h][j] * D[W + h] * M * F(p["coordinator_power_w"][h]) / relay_rate(h, j) for j in range(W))
        for h in range(H)
    ]
    processing = [tau * F(p["capacitance_times_cycles"][j]) / 2 * A[j] * D[j] * g[j] ** 2 for j in range(W)]
    gathering = [sum(rho[i][u] * data[i] * M / rate(i, u) for i in range(I)) for u in range(U)]
    for j in range(W):
        gathering[j] += sum(varrho[h][j] * D[W + h] * M / relay_rate(h, j) for h in range(H))
    processing_time = [tau * F(p["cycles_per_datum"][j]) * A[j] * D[j] / g[j] for j in range(W)]
    total_time = [gathering[u] + (processing_time[u] if u < W else 0) for u in range(U)]
    energy = processing + relay
    uses = {
        "device_share": [sum(row) for row in rho],
        "relay_share": [sum(row) for row in varrho],
        "buffer": [D[u] / F(p["buffer"][u]) for u in range(U)],
        "time": [t / F(p["local_time_limit_s"]) for t in total_time],
        "energy": [energy[u] / F(p["energy_budget_j"][u]) for u in range(U)],
    }
    floats = lambda values: [float(v) for v in values]
    return {
        "objective": float(w * learning + (1 - w) * (device_energy + sum(relay) + sum(processing))),
        "learning": float(learning),
        "device_energy": float(device_energy),
        "relay_energy": float(sum(relay)),
        "processing_energy": float(sum(processing)),
        "data": floats(D),
        "gathering_time": floats(gathering),
        "processing_time": floats(processing_time),
        "uav_energy": floats(energy),
        "uses": {kind: floats(values) for kind, values in uses.items()},
        "violation": float(max(0, max(max(values) for values in uses.values()) - 1)),
    }


def main():
    instances = {p["name"]: p for p in map(json.loads, (HERE / "offloading_instances.jsonl").read_text().splitlines())}
    cases = []
    for name in NAMES:
        for number in range(3):
            x = decision(instances[name], random.Random(f"{name} {number}"))
            cases.append({"name": name, "decision": x, "evaluation": evaluated(instances[name], x)})
    text = json.dumps(cases, separators=(",", ":")) + "\n"
    if "--check" in sys.argv[1:]:
        same = FILE.read_text() == text
        print("the same" if same else "differs")
        sys.exit(0 if same else 1)
    FILE.write_text(text)


if __name__ == "__main__":
    main()

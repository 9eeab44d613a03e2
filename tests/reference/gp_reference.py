#!/usr/bin/python3
"""Optima of geometric programs by cvxopt (Debian's python3-cvxopt).

Writes gp_reference.json beside this file: random programs with bounds, some with monomial equalities, and the first
condensed program of problem P for a few instances of offloading_instances.jsonl. The latter are built here from the
paper's formulas and independently of Skein: denominators are condensed at once into monomials of the primary variables
(Skein nests them as equalities), and only data and sums of ratios that cost have variables of their own.

    python3 tests/reference/gp_reference.py [--check]

--check writes nothing and says whether the file holds what cvxopt gives, to 1e-7.
"""

import json
import math
import pathlib
import random
import sys

import cvxopt
from cvxopt import matrix, solvers, spmatrix

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "gp_reference.json"
INSTANCES = HERE / "offloading_instances.jsonl"
NAMES = ["r_10_2_2_0", "r_10_2_2_3", "r_10_2_2_7", "r_10_2_2_18", "r_50_4_2_0"]
FLOOR = 1e-6  # of rho, varrho and alpha

solvers.options.update({"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-9, "maxiters": 200})


# A monomial is (log coefficient, {variable: exponent}); a posynomial is a list of them.
def times(*monomials):
    log, exponents = 0.0, {}
    for c, powers in monomials:
        log += c
        for variable, exponent in powers.items():
            exponents[variable] = exponents.get(variable, 0.0) + exponent
    return log, exponents


def power(monomial, exponent):
    return exponent * monomial[0], {v: exponent * e for v, e in monomial[1].items()}


def number(value):
    return math.log(value), {}


def variable(index, exponent=1.0):
    return 0.0, {index: exponent}


def log_value(posynomial, point):
    """point: logarithms."""
    logs = [c + sum(e * point[v] for v, e in powers.items()) for c, powers in posynomial]
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs))


def condensed(posynomial, point):
    """The monomial with the posynomial's value and logarithmic gradient at the point."""
    total = log_value(posynomial, point)
    exponents = {}
    for term in posynomial:
        share = math.exp(log_value([term], point) - total)
        for v, e in term[1].items():
            exponents[v] = exponents.get(v, 0.0) + share * e
    return total - sum(e * point[v] for v, e in exponents.items()), exponents


def matrices(size, objective, constraints, equalities, bounds):
    """What solvers.gp takes. Bounds are linear in logarithms."""
    posynomials = [objective, *constraints]
    terms = [term for posynomial in posynomials for term in posynomial]
    F = spmatrix(
        [e for c, powers in terms for e in powers.values()],
        [row for row, (c, powers) in enumerate(terms) for _ in powers],
        [v for c, powers in terms for v in powers],
        (len(terms), size),
    )
    g = matrix([c for c, _ in terms])
    rows = [(sign, v, limit) for v, low, high in bounds for sign, limit in ((-1.0, -math.log(low)), (1.0, math.log(high)))]
    G = spmatrix([s for s, _, _ in rows], range(len(rows)), [v for _, v, _ in rows], (len(rows), size))
    h = matrix([limit for _, _, limit in rows])
    A = b = None
    if equalities:
        A = spmatrix(
            [e for c, powers in equalities for e in powers.values()],
            [row for row, (c, powers) in enumerate(equalities) for _ in powers],
            [v for c, powers in equalities for v in powers],
            (len(equalities), size),
        )
        b = matrix([-c for c, _ in equalities])
    return [len(p) for p in posynomials], F, g, G, h, A, b


def solve(size, objective, constraints, equalities, bounds):
    """Minimises; returns the optimum's logarithm, or None if cvxopt is not sure of it."""
    result = solvers.gp(*matrices(size, objective, constraints, equalities, bounds))
    # "unknown" is what cvxopt says when rounding ends its steps: its own measure of the error decides.
    gap = min(result["gap"], math.inf if result["relative gap"] is None else result["relative gap"])
    if max(gap, result["primal infeasibility"], result["dual infeasibility"]) > 1e-8:
        return None
    return log_value(objective, list(result["x"]))


def random_program(seed):
    """Feasible at a random point; boxes keep it bounded."""
    rng = random.Random(seed)
    size = rng.randint(2, 25)
    point = [rng.uniform(-1.5, 1.5) for _ in range(size)]

    def term():
        chosen = rng.sample(range(size), rng.randint(1, min(size, 5)))
        return rng.gauss(0, 1), {v: rng.choice([rng.uniform(-2, 2), float(rng.randint(1, 3))]) for v in chosen}

    def posynomial(terms):
        return [term() for _ in range(rng.randint(1, terms))]

    constraints, equalities = [], []
    for _ in range(rng.randint(1, 2 * size)):
        p = posynomial(5)
        limit = log_value(p, point) + rng.choice([0.0, rng.uniform(0, 1)]) + 0.1
        constraints.append([(c - limit, powers) for c, powers in p])
    for _ in range(rng.randint(0, size // 4)):
        c, powers = term()
        equalities.append((c - log_value([(c, powers)], point), powers))
    bounds = [(v, math.exp(point[v] - rng.uniform(0.5, 6)), math.exp(point[v] + rng.uniform(0.5, 6))) for v in range(size)]
    objective = posynomial(8)
    return size, objective, constraints, equalities, bounds


def even_decision(p):
    """rho = 0.5 / U, varrho = 0.9 / W, alpha = 0.6, g in the middle of its range in logarithms."""
    I, W, H = p["devices"], p["workers"], p["coordinators"]
    U = W + H
    return {
        "rho": [[0.5 / U] * U for _ in range(I)],
        "varrho": [[0.9 / W] * W for _ in range(H)],
        "alpha": [[0.6] * 3 for _ in range(W)],
        "g": [math.sqrt(math.prod(p["cpu_hz"]))] * W,
    }


def condensed_program(p, decision):
    """Problem P's geometric program at a decision, and where the decision's variables are."""
    I, W, H = p["devices"], p["workers"], p["coordinators"]
    U = W + H
    w, M, data = p["learning_weight"], p["bits_per_datum"], p["device_data"]
    bound = p["bound"]
    low, high = p["cpu_hz"]
    names = iter(range(10**9))
    rho = [[next(names) for _ in range(U)] for _ in range(I)]
    varrho = [[next(names) for _ in range(W)] for _ in range(H)]
    alpha = [[next(names) for _ in range(3)] for _ in range(W)]
    clock = [next(names) for _ in range(W)]
    D = [next(names) for _ in range(U)]  # upper bounds of data and of sums of ratios
    A = [next(names) for _ in range(W)]
    size = next(names)
    x = variable

    places = {"rho": rho, "varrho": varrho, "alpha": alpha, "g": [clock]}
    point = [0.0] * size
    for kind, rows in places.items():
        values = [decision["g"]] if kind == "g" else decision[kind]
        for row, numbers in zip(rows, values):
            for v, value in zip(row, numbers):
                point[v] = math.log(value)

    held = [[times(number(data[i]), x(rho[i][W + h])) for i in range(I)] for h in range(H)]
    whole = [
        [times(number(data[i]), x(rho[i][j])) for i in range(I)]
        + [times(x(varrho[h][j]), term) for h in range(H) for term in held[h]]
        for j in range(W)
    ]
    ratios = [[x(a) for a in alpha[j]] for j in range(W)]
    processed = [times(r, d) for j in range(W) for r in ratios[j] for d in whole[j]]
    delta = condensed(processed, point)
    least_data = [condensed(whole[j], point) for j in range(W)]

    constraints = []
    for h in range(H):
        constraints.append([times(t, x(D[W + h], -1)) for t in held[h]])
    for j in range(W):
        direct = [times(number(data[i]), x(rho[i][j])) for i in range(I)]
        relayed = [times(x(varrho[h][j]), x(D[W + h])) for h in range(H)]
        constraints.append([times(t, x(D[j], -1)) for t in direct + relayed])
        constraints.append([times(r, x(A[j], -1)) for r in ratios[j]])
    constraints += [[x(v) for v in rho[i]] for i in range(I)]
    constraints += [[x(v) for v in varrho[h]] for h in range(H)]
    limit = p["local_time_limit_s"]
    device_time = [[data[i] * M / p["device_rate_bps"][i][u] for u in range(U)] for i in range(I)]
    relay_time = [[M / p["coordinator_rate_bps"][h][j] for j in range(W)] for h in range(H)]
    for u in range(U):
        time = [times(number(device_time[i][u] / limit), x(rho[i][u])) for i in range(I)]
        if u < W:
            time += [times(number(relay_time[h][u] / limit), x(varrho[h][u]), x(D[W + h])) for h in range(H)]
            cycles = p["local_period"] * p["cycles_per_datum"][u]
            time.append(times(number(cycles / limit), x(A[u]), x(D[u]), x(clock[u], -1)))
        constraints.append(time)
    processing = [
        times(number(p["local_period"] * p["capacitance_times_cycles"][j] / 2), x(A[j]), x(D[j]), x(clock[j], 2))
        for j in range(W)
    ]
    relaying = [
        [times(number(relay_time[h][j] * p["coordinator_power_w"][h]), x(varrho[h][j]), x(D[W + h])) for j in range(W)]
        for h in range(H)
    ]
    budget = p["energy_budget_j"]
    constraints += [[times(processing[j], number(1 / budget[j]))] for j in range(W)]
    constraints += [[times(t, number(1 / budget[W + h])) for t in relaying[h]] for h in range(H)]

    objective = []

    def add(weight, *factors):
        if weight > 0:
            objective.append(times(number(weight), *factors))

    a, b, c, d = (bound[key] for key in "abcd")
    S1, S2 = w * p["gradient_error_weight"], w * p["mismatch_weight"]
    for j in range(W):
        share = times(x(A[j]), power(delta, -1))
        few = times(share, power(least_data[j], -1))
        a1, a2, a3 = (x(v, -1) for v in alpha[j])
        add(S1 * a, share, a3)
        add(S1 * b, few, a2, a3)
        add(S1 * b * c, few, a1, a3)
        add(S1 * d, share, a2)
        add(S1 * d * c, share, a1)
        add(S2 * (a + d * (1 + c)), share)
        add(S2 * b * (1 + c), few)
        add(1 - w, processing[j])
    for i in range(I):
        for u in range(U):
            add((1 - w) * device_time[i][u] * p["device_power_w"][i], x(rho[i][u]))
    for row in relaying:
        for term in row:
            add(1 - w, term)

    bounds = [(v, FLOOR, 1.0) for group in (rho, varrho, alpha) for row in group for v in row]
    bounds += [(v, low, high) for v in clock]
    bounds += [(D[u], 1e-12, p["buffer"][u]) for u in range(U)]
    return (size, objective, constraints, [], bounds), places


def first_condensed(p):
    return condensed_program(p, even_decision(p))[0]


def as_json(size, objective, constraints, equalities, bounds):
    def terms(posynomial):
        return [[c, [[v, e] for v, e in sorted(powers.items())]] for c, powers in posynomial]

    return {
        "size": size,
        "objective": terms(objective),
        "constraints": [terms(p) for p in constraints],
        "equalities": [terms([m])[0] for m in equalities],
        "bounds": [[v, low, high] for v, low, high in bounds],
    }


def main():
    programs = []
    seed = 0
    while len(programs) < 20:
        program = random_program(seed)
        optimum = solve(*program)
        if optimum is None:
            print(f"program {seed}: cvxopt stops short of 1e-8, left out")
        else:
            programs.append({"seed": seed, **as_json(*program), "log_optimum": optimum})
        seed += 1
    instances = {p["name"]: p for p in map(json.loads, INSTANCES.read_text().splitlines())}
    condensations = [{"name": name, "log_optimum": solve(*first_condensed(instances[name]))} for name in NAMES]
    result = {"programs": programs, "condensed": condensations}
    if "--check" in sys.argv[1:]:
        known = json.loads(FILE.read_text())
        worst = max(
            abs(a["log_optimum"] - b["log_optimum"])
            for kind in ("programs", "condensed")
            for a, b in zip(known[kind], result[kind])
        )
        print(f"largest difference {worst:.1e}")
        sys.exit(0 if worst < 1e-7 else 1)
    FILE.write_text(json.dumps(result, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

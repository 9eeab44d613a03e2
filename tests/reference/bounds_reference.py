#!/usr/bin/python3
"""The convergence bounds of the paper's section III-C and the drift estimate of section V-A, from its text alone.

Writes bounds_reference.json beside this file: random networks of swarms and workers with their constants, and every
bound. Sums over updates, aggregations and swarms are written out as the paper has them; arithmetic is decimal with
80 digits, and results are natural logarithms, since some lie far beyond the range of floating point.

    python3 tests/reference/bounds_reference.py [--check]

--check writes nothing and says whether the file is what this script gives.
"""

import decimal
import json
import pathlib
import random
import sys

decimal.getcontext().prec = 80
FILE = pathlib.Path(__file__).resolve().parent / "bounds_reference.json"
D = decimal.Decimal


def sigma_F(w, alpha, points):
    """Mini-batch error of a worker; w holds the constants."""
    mixed = w["sG"] * (alpha[0] + (w["mu"] * w["eta1"]) ** 2 * alpha[1]) / (alpha[0] * alpha[1] * points)
    return 3 * w["eta1"] ** 2 * w["sH"] / (alpha[2] * points) * (w["B"] ** 2 + mixed) + 12 * mixed


def gamma_F(w, gH, gG):
    return 3 * w["B"] ** 2 * w["eta1"] ** 2 * gH + 192 * gG


def geometric(r, n):
    return (1 - r**n) / (1 - r)


def upsilon(w, swarms, tau_L, tau_G):
    """swarms: for each, the workers' (Delta_j, sigma_j^F)."""
    U = len(swarms)
    e2 = w["eta2"] ** 2
    r = 8 + 48 * (w["eta2"] * w["muF"]) ** 2
    total = [sum(delta for delta, _ in swarm) for swarm in swarms]
    by_worker = D(0)
    by_swarm = D(0)
    for u, swarm in enumerate(swarms):
        for delta, sigma in swarm:
            by_worker += delta / total[u] * sum(sigma for _ in range(1, tau_L + 1))
        sigma_u = sum(delta / total[u] * sigma for delta, sigma in swarm)
        by_swarm += sum(sigma_u for _ in range(1, tau_L * tau_G + 1))
    gamma_u = gamma_F(w, w["gHu"], w["gGu"])
    within = (16 * e2 / U * by_worker + 24 * e2 / U * sum(gamma_u for _ in swarms)) * geometric(r, tau_L)
    between = (16 * e2 / U * by_swarm + 24 * e2 * gamma_F(w, w["gH"], w["gG"])) * geometric(r, tau_L * tau_G)
    return within, between


def xi(w, swarms, tau_L, tau_G, K_G, gap):
    U = len(swarms)
    e, mu = w["eta2"], w["muF"]
    T = tau_L * tau_G * K_G
    Y = sum(upsilon(w, swarms, tau_L, tau_G))
    total = [sum(delta for delta, _ in swarm) for swarm in swarms]
    inner = D(0)
    for k_global in range(1, K_G + 1):
        for k in range((k_global - 1) * tau_G + 1, tau_G * k_global + 1):
            for _ in range((k - 1) * tau_L, tau_L * k):
                sigma = sum(
                    delta / total[u] * value for u, swarm in enumerate(swarms) for delta, value in swarm
                ) / U
                inner += (3 * e**2 * mu / 2 + e) * (sigma + mu**2 * Y)
                inner += 3 * e**2 * mu * sum(gamma_F(w, w["gHu"], w["gGu"]) for _ in swarms) / U
    return 1 / (e / 2 - 6 * e**2 * mu / 2) * (gap / T + inner / T)


def xi_hat(w, cluster, swarms):
    """swarms: for each, the workers' (Delta_j, D_j); cluster: its sigmas."""
    result = D(0)
    one = 1 + w["mu"] ** 2 * w["eta1"] ** 2
    for swarm in swarms:
        total = sum(delta for delta, _ in swarm)
        for delta, points in swarm:
            first = 3 * w["eta1"] ** 2 * cluster["sH"] / points * (w["B"] ** 2 + cluster["sG"] * one / points)
            result += delta / total * (first + 12 * cluster["sG"] * one / points)
    return result / len(swarms)


def drift(gradient, rate, n):
    return (n + 1) * gradient + (n + 1) * sum(rate for _ in range(n))


def number(draw, low, high):
    """Log-uniform, short enough to be the same number in decimal and binary to 1e-16."""
    return D("%.6g" % (low * (high / low) ** draw.random()))


def case(draw, tau_L, tau_G):
    w = {
        "eta1": number(draw, 1e-4, 1e-2),
        "B": number(draw, 1, 1000),
        "mu": number(draw, 0.1, 100),
        "muF": number(draw, 1, 400),
        "sG": number(draw, 0.01, 100),
        "sH": number(draw, 0.01, 100),
        "gGu": number(draw, 1e-3, 1),
        "gHu": number(draw, 1e-3, 1),
        "gG": number(draw, 1e-3, 1),
        "gH": number(draw, 1e-3, 1),
    }
    w["eta2"] = D("%.6g" % (0.95 * draw.random() / (6 * float(w["muF"]))))
    cluster = {"sG": number(draw, 0.01, 100), "sH": number(draw, 0.01, 100)}
    workers = [
        [
            {"points": D(draw.randint(1, 5000)), "alpha": [number(draw, 1e-3, 1) for _ in range(3)]}
            for _ in range(draw.randint(1, 4))
        ]
        for _ in range(draw.randint(1, 4))
    ]
    delta = [[sum(j["alpha"]) * j["points"] for j in swarm] for swarm in workers]
    sigma = [[sigma_F(w, j["alpha"], j["points"]) for j in swarm] for swarm in workers]
    weighted = [list(zip(*pair)) for pair in zip(delta, sigma)]
    K_G = draw.randint(1, 3)
    gap = number(draw, 0.01, 10)
    within, between = upsilon(w, weighted, tau_L, tau_G)
    gradient, rate, n = number(draw, 1e-4, 10), number(draw, 1e-4, 10), draw.randint(1, 30)
    results = {
        "gamma_u": gamma_F(w, w["gHu"], w["gGu"]),
        "gamma": gamma_F(w, w["gH"], w["gG"]),
        "within": within,
        "between": between,
        "xi": xi(w, weighted, tau_L, tau_G, K_G, gap),
        "xi_hat": xi_hat(
            w, cluster, [list(zip(d, [j["points"] for j in swarm])) for d, swarm in zip(delta, workers)]
        ),
        "drift": drift(gradient, rate, n),
    }
    return {
        "constants": plain(w),
        "cluster": plain(cluster),
        "tau_L": tau_L,
        "tau_G": tau_G,
        "K_G": K_G,
        "gap": float(gap),
        "workers": [[{"points": float(j["points"]), "alpha": [float(a) for a in j["alpha"]]} for j in s] for s in workers],
        "drift": [float(gradient), float(rate), n],
        "log_sigma": [[digits(value.ln()) for value in swarm] for swarm in sigma],
        "log": {name: digits(value.ln()) for name, value in results.items()},
    }


def plain(values):
    return {name: float(value) for name, value in values.items()}


def digits(value):
    return float("%.17g" % value)


def content():
    draw = random.Random(4)
    periods = [(1, 1), (2, 2), (1, 4), (4, 1), (4, 2), (4, 4), (8, 4), (8, 8), (20, 18), (3, 7)]
    cases = [case(draw, *periods[i % len(periods)]) for i in range(120)]
    return "[\n" + ",\n".join(json.dumps(one) for one in cases) + "\n]\n"


def main():
    if "--check" not in sys.argv[1:]:
        FILE.write_text(content())
    elif not FILE.exists() or FILE.read_text() != content():
        sys.exit("bounds_reference.json differs from what this script gives")


if __name__ == "__main__":
    main()

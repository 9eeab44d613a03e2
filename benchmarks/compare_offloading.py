#!/usr/bin/env python3
"""Compares Skein's solvers of problem P with cvxopt (solvers.gp) and Ipopt, and prints one report.

    scripts/benchmark-offloading [--quick] [--seconds S] [--json FILE]

builds the benchmark and runs this. Five parts:
  one geometric program   the first condensed program of P, at 10/2/2, 50/4/2 and 200/8/4 devices/workers/coordinators
  all of P                our default, our Algorithm 1, Algorithm 1 on cvxopt (10/2/2), Ipopt on P from one start
  price of time           P where hovering is paid for, against the same instances without
  growth                  one geometric program up to 800 devices: time per Newton step and variable
  verdicts                100 instances with random batteries, from ample to impossible, against Ipopt
All times are processor time on one thread, medians over instances. cvxopt is left out where it takes too long: one
program of 200/8/4 did not end in 15 minutes, and Algorithm 1 of 50/4/2 takes more than a minute for each instance.
Ipopt is left out where it is not installed. The exit code is 1 if a target is missed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from peer_environment import environment

HERE = pathlib.Path(__file__).resolve().parent
INSTANCES = HERE.parent / "tests/reference/offloading_instances.jsonl"
TIME_INSTANCES = HERE.parent / "tests/reference/offloading_time_instances.jsonl"
SIZES = {"10/2/2": "r_10_2_2_", "50/4/2": "r_50_4_2_", "200/8/4": "r_200_8_4_"}
GP_TARGETS = {"10/2/2": 80.0, "50/4/2": 300.0}  # times cvxopt's speed, at least
WHOLE_TARGET = 400.0  # our default against Algorithm 1 on cvxopt, at 10/2/2
TIME_RATIO = 1.5  # of the time for P with a price of time to that without, at most
AGREEMENT = 1e-6  # of optima, relative
GROWTH = [50, 100, 200, 400, 800]
GROWTH_EXPONENT = 1.15  # of the time per Newton step in the number of variables, at most


class Program:
    """Answers a line with a line of JSON."""

    def __init__(self, command):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes, text=True, env=environment(1))
        self.command = command

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"ended early: {' '.join(map(str, self.command))}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Report:
    def __init__(self):
        self.missed = []
        self.numbers = {}

    def check(self, what, holds):
        print(f"  {'PASS' if holds else 'MISS'}  {what}", flush=True)
        if not holds:
            self.missed.append(what)


def median(answers, key):
    return statistics.median(answer[key] for answer in answers)


def ms(seconds):
    return f"{1e3 * seconds:10.3f}"


def one_program(report, ours, peer, names, quick):
    print("One geometric program (ms)\n    size  variables  steps      Skein     cvxopt      Ipopt  times cvxopt  times Ipopt")
    for size, prefix in SIZES.items():
        chosen = [name for name in names if name.startswith(prefix)][: 3 if quick else 10]
        mine = [ours.ask("gp", name) for name in chosen]
        ipopt = [ours.ask("ipopt_gp", name) for name in chosen]
        ipopt = [] if "absent" in ipopt[0] else ipopt
        theirs = [peer.ask("gp", name) for name in chosen] if size in GP_TARGETS else []
        speed = median(mine, "seconds")
        row = f"{size:>8} {mine[0]['variables']:>10} {median(mine, 'iterations'):>6.0f} {ms(speed)}"
        row += f" {ms(median(theirs, 'seconds')) if theirs else 'too long':>10}"
        row += f" {ms(median(ipopt, 'seconds')) if ipopt else 'absent':>10}"
        times = median(theirs, "seconds") / speed if theirs else None
        row += f" {times:>13.0f}" if times else f" {'-':>13}"
        row += f" {median(ipopt, 'seconds') / speed:>12.1f}" if ipopt else f" {'-':>12}"
        print(row)
        report.numbers[f"gp {size}"] = {"skein": mine, "cvxopt": theirs, "ipopt": ipopt}
        report.check("all solved", all(answer["solved"] for answer in mine))
        if times:
            report.check(f"{times:.0f} times cvxopt's speed, at least {GP_TARGETS[size]:g}", times >= GP_TARGETS[size])
        for who, others in (("cvxopt", theirs), ("Ipopt", ipopt)):
            sure = [(a, b) for a, b in zip(mine, others) if b.get("solved", b.get("status") == "optimal")]
            if sure:
                worst = max(abs(a["log_optimum"] - b["log_optimum"]) for a, b in sure)
                text = f"optima agree with {who}'s to {worst:.1e}, {len(sure)} of {len(others)} of which it is sure of"
                report.check(text, worst <= AGREEMENT)


def whole_problem(report, ours, peer, names, quick):
    print("\nAll of problem P (ms)\n    size     newton  algorithm_1  algorithm_1 on cvxopt  Ipopt, one start  times cvxopt")
    for size, prefix in SIZES.items():
        chosen = [name for name in names if name.startswith(prefix)][: 2 if quick else 5]
        newton = [ours.ask("newton", name) for name in chosen]
        condensed = [ours.ask("algorithm_1", name) for name in chosen]
        ipopt = [ours.ask("ipopt", name) for name in chosen]
        ipopt = [] if "absent" in ipopt[0] else ipopt
        theirs = [peer.ask("algorithm_1", name) for name in chosen] if size == "10/2/2" else []
        row = f"{size:>8} {ms(median(newton, 'seconds'))} {ms(median(condensed, 'seconds')):>12}"
        row += f" {ms(median(theirs, 'seconds')) if theirs else 'too long':>22}"
        row += f" {ms(median(ipopt, 'seconds')) if ipopt else 'absent':>17}"
        if theirs:
            row += f" {median(theirs, 'seconds') / median(newton, 'seconds'):>13.0f}"
        print(row)
        report.numbers[f"P {size}"] = {"newton": newton, "algorithm_1": condensed, "cvxopt": theirs, "ipopt": ipopt}
        report.check("newton's results all have a certificate", all(a["status"] == "solved" for a in newton))
        for who, others in (("our Algorithm 1", condensed), ("Algorithm 1 on cvxopt", theirs)):
            if others:
                gaps = [b["objective"] / a["objective"] - 1 for a, b in zip(newton, others)]
                text = f"newton's objective is lower than that of {who} by {100 * statistics.mean(gaps):.2f} % (mean)"
                report.check(f"{text}, {100 * min(gaps):.4f} % (least)", min(gaps) >= -1e-5)
        if ipopt:
            gaps = [b["objective"] / a["objective"] - 1 for a, b in zip(newton, ipopt) if b["solved"]]
            if gaps:
                print(f"        Ipopt's is {100 * statistics.mean(gaps):.2f} % above newton's (mean)")
        if theirs:
            times = median(theirs, "seconds") / median(newton, "seconds")
            report.check(f"{times:.0f} times the speed of Algorithm 1 on cvxopt, at least {WHOLE_TARGET:g}", times >= WHOLE_TARGET)


def price_of_time(report, binary, seconds):
    ours = Program([binary, "--instances", str(TIME_INSTANCES), "--seconds", str(seconds)])
    names = [json.loads(line)["name"] for line in TIME_INSTANCES.read_text().splitlines()]
    answers = [ours.ask("price", name) for name in names]
    ours.close()
    ratios = [a["with"] / a["without"] for a in answers]
    ratio = sum(a["with"] for a in answers) / sum(a["without"] for a in answers)
    print(f"\nA price of time, {len(names)} instances, each with and without it in turns (ms, medians)")
    print(f"  {ms(median(answers, 'with'))} with, {ms(median(answers, 'without'))} without; ratio of an instance {min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.2f}")
    report.numbers["price of time"] = answers
    report.check("results all have a certificate", all(a["status"] == "solved" for a in answers))
    report.check(f"{ratio:.2f} times the time without, at most {TIME_RATIO:g}", ratio <= TIME_RATIO)


def growth(report, ours):
    print("\nGrowth, one geometric program\n devices  variables  steps         ms  us per step and variable")
    from math import log

    points = []
    for count in GROWTH:
        answer = ours.ask("growth", str(count))
        step = answer["seconds"] / answer["iterations"]
        points.append((log(answer["variables"]), log(step)))
        per = 1e6 * step / answer["variables"]
        print(f"{count:>8} {answer['variables']:>10} {answer['iterations']:>6} {ms(answer['seconds'])} {per:>25.3f}")
        report.numbers[f"growth {count}"] = answer
    slope = statistics.linear_regression(*zip(*points)).slope
    report.check(f"time per step grows with the variables to the {slope:.2f}, at most {GROWTH_EXPONENT}", slope <= GROWTH_EXPONENT)


def verdicts(report, ours):
    answer = ours.ask("verdicts", "100")
    if "absent" in answer:
        print("\nIpopt is not here (coinor-libipopt-dev): its verdicts are left out")
        return
    print(f"\nVerdicts, {answer['instances']} instances, {answer['impossible']} impossible, Ipopt fails on {answer['ipopt_failed']}")
    report.numbers["verdicts"] = answer
    report.check("none wrong: a certificate, or infeasible where it is", answer["wrong"] == 0)
    report.check(f"worst excess over Ipopt's objective {100 * answer['worst_excess']:.4f} %, at most 3", answer["worst_excess"] <= 0.03)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="fewer instances")
    parser.add_argument("--seconds", type=float, default=0.3, help="about, of each of our measurements")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all numbers")
    arguments = parser.parse_args()
    names = [json.loads(line)["name"] for line in INSTANCES.read_text().splitlines()]
    ours = Program([arguments.binary, "--instances", str(INSTANCES), "--seconds", str(arguments.seconds)])
    peer = Program([sys.executable, str(HERE / "offloading_peer.py")])
    report = Report()
    one_program(report, ours, peer, names, arguments.quick)
    whole_problem(report, ours, peer, names, arguments.quick)
    price_of_time(report, arguments.binary, arguments.seconds)
    growth(report, ours)
    verdicts(report, ours)
    ours.close()
    peer.close()
    if arguments.json:
        arguments.json.write_text(json.dumps(report.numbers) + "\n")
    print(f"\n{'all targets met' if not report.missed else 'missed: ' + '; '.join(report.missed)}")
    sys.exit(1 if report.missed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures missions over several processes, and what follows for larger machines. Prints Markdown.

Strong scaling: one mission of 40 swarms. Weak scaling: 10 swarms per process. Networks of several sizes: bytes and
messages of a global round, computing time beside them. First: what the first process does alone, by the size of the
mission. Model: time of a global round on larger machines, by these numbers. One thread per process; runs take turns,
and of each kind the fastest counts, as others may use the machine too. Exit code 1 if two processes are less than 1.7
times as fast as one.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
# A planner that is not trained first.
SETTINGS = {"planning.planner": "beam", "planning.durations": "[8]", "planning.local_periods": "[2]",
            "planning.global_periods": "[2]", "world.stations.count": 4, "world.access_points.count": 4}


def size(swarms, clusters):
    """Settings of a mission; the land grows with it."""
    widest = 2000 * max(1.0, math.sqrt(clusters / 50))
    return SETTINGS | {"swarms.count": swarms, "world.clusters.count": clusters,
                       "world.distance_m": f"[100, {widest:.0f}]"}


def environment():
    names = dict(os.environ)
    if os.geteuid() == 0:
        names |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return names | {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                    "OMPI_MCA_oob_tcp_if_include": "lo"}


class Runner:
    def __init__(self, program, scenario, sequences):
        self.program, self.scenario, self.sequences = program, scenario, sequences

    def run(self, processes, swarms, clusters, **settings):
        """One mission: wall and processor seconds, traffic and memory."""
        values = size(swarms, clusters) | {"run.sequences": self.sequences} | settings
        with tempfile.TemporaryDirectory() as directory:
            command = [self.program, "run", self.scenario, "--quiet", "--threads", "1", "--out", directory]
            for key, value in values.items():
                command += ["--set", f"{key}={value}"]
            if processes > 1:
                command = MPIRUN + ["-n", str(processes)] + command
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.monotonic()
            subprocess.run(command, check=True, env=environment())
            wall = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            manifest = json.loads(pathlib.Path(directory, "manifest.json").read_text())
            with open(pathlib.Path(directory, "sequences.csv")) as file:
                rows = list(csv.DictReader(file))
            rounds = sum(int(row["global_rounds"]) for row in rows)
            active = sum(int(row["global_rounds"]) * int(row["active_swarms"]) for row in rows) / max(1, rounds)
            model = pathlib.Path(directory, "models", "global.safetensors").stat().st_size
        return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                "rounds": rounds, "active": active, "messages": manifest["messages"],
                "bytes": manifest["message_bytes"], "model": model,
                "processor": [p["processor_s"] for p in manifest["processes"]],
                "memory": [p["peak_memory_MB"] for p in manifest["processes"]]}

    def tables_s(self, swarms, clusters):
        """Processor seconds of the planner's tables, for one timing."""
        command = [self.program, "plan", "tables", self.scenario, "--quiet", "--threads", "1"]
        for key, value in size(swarms, clusters).items():
            command += ["--set", f"{key}={value}"]
        with tempfile.TemporaryDirectory() as directory:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run(command + ["--out", directory], check=True)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def alternate(kinds, tries):
    """Runs all kinds in turn, several times; the fastest of each."""
    best = {}
    for _ in range(tries):
        for name, run in kinds.items():
            result = run()
            if name not in best or result["wall"] < best[name]["wall"]:
                best[name] = result
    return best


def table(header, rows):
    print("| " + " | ".join(header) + " |\n|" + "---:|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def scaling_rows(best):
    one = best[1]
    return [[n, f"{r['wall']:.1f}", f"{one['wall'] / r['wall']:.2f}", " ".join(f"{p:.1f}" for p in r["processor"]),
             f"{one['processor'][0] / max(r['processor']):.2f}", " ".join(f"{m:.0f}" for m in r["memory"])]
            for n, r in best.items()]


def messages(program):
    """Seconds of a message one way, by size, between two processes of this machine."""
    benchmark = pathlib.Path(program).parent / "benchmarks" / "crew_benchmark"
    run = subprocess.run(MPIRUN + ["-n", "2", str(benchmark)], check=True, capture_output=True, text=True,
                         env=environment())
    return [(int(size), float(seconds)) for size, seconds in (line.split() for line in run.stdout.splitlines())]


def traffic(runner, settings, tries):
    """Of a global round, what its sequence sends besides included. Messages of four processes tell what goes to a
    process from what goes with a swarm. Computing is processor time, so that others may use the machine: twice that of
    the second of two processes, which does nothing else, of two sequences less one."""
    kinds = {(n, s): lambda n=n, s=s: runner.run(n, 8, 10, **settings, **{"run.sequences": s})
             for n, s in ((2, 1), (2, 2), (4, 2))}
    best = alternate(kinds, tries)
    one, two, four = best[2, 1], best[2, 2], best[4, 2]
    of_round = lambda r, name: r[name] / r["rounds"]
    remote = {2: two["active"] / 2, 4: four["active"] * 3 / 4}
    computing = 2 * (two["processor"][1] - one["processor"][1]) / (two["rounds"] - one["rounds"])
    swarm = (of_round(four, "bytes") - 3 * of_round(two, "bytes")) / (remote[4] - 3 * remote[2])
    return {"model": two["model"], "messages": of_round(two, "messages"), "messages_4": of_round(four, "messages"),
            "bytes": of_round(two, "bytes"), "bytes_4": of_round(four, "bytes"), "swarm_bytes": swarm,
            "process_bytes": of_round(two, "bytes") - swarm * remote[2],
            "swarm_s": computing / two["active"], "computing": computing}


def alone(runner, sizes, tries):
    """What the first process does beside its swarms, by the number of all swarms: processor seconds of a global round
    that it uses more than the second of two, from the difference of a longer and a shorter mission; and peak memory."""
    rows = []
    for swarms in sizes:
        best = {}
        for sequences in (1, 3):
            run = lambda s=sequences: runner.run(2, swarms, swarms * 5 // 4, **{
                "run.sequences": s, "learning.network.preset": "mlp"})
            best[sequences] = alternate({0: run}, tries)[0]
        of = lambda r: r["processor"][0] - r["processor"][1]
        short, long = best[1], best[3]
        rows.append({"swarms": swarms, "alone": (of(long) - of(short)) / (long["rounds"] - short["rounds"]),
                     "memory": long["memory"]})
    return rows


def power_law(points):
    """a and k of a * x^k through the last two points."""
    (x, y), (u, v) = points[-2:]
    k = math.log(v / y) / math.log(u / x)
    return v / u**k, k


# What a cluster is taken for: 16 processes on a node, 10 Gbit/s and 50 us between nodes.
CORES, LINK, LATENCY = 16, 1.25e9, 50e-6
DEVICES_PER_CLUSTER, CLUSTERS_PER_SWARM, TIMINGS = 9, 1.25, 2


def model(measured):
    """Time of a global round by the measured constants, for larger machines and missions."""
    factor, exponent = measured["alone"]
    rows = []
    for devices in (1e3, 1e4, 1e5, 1e6):
        swarms = devices / DEVICES_PER_CLUSTER / CLUSTERS_PER_SWARM
        for nodes in (10, 100, 1000):
            processes = min(nodes * CORES, swarms)
            compute = math.ceil(swarms / processes) * measured["swarm_s"]
            sending = (swarms * measured["swarm_bytes"] + processes * measured["process_bytes"]) / LINK
            sending += measured["process_messages"] * processes * LATENCY
            first = factor * swarms**exponent
            entries = TIMINGS * swarms * swarms * CLUSTERS_PER_SWARM
            rows.append([f"{devices:,.0f}", f"{swarms:,.0f}", f"{nodes:,}", f"{compute:.2f}", f"{sending:.2f}",
                         f"{first:.2f}", f"{compute + sending + first:.2f}",
                         f"{compute / (compute + sending + first):.0%}",
                         f"{entries * measured['solve_s'] / processes:,.0f}", f"{16 * entries / 1e9:,.2f}"])
    table(["devices", "swarms", "nodes", "computing (s)", "messages (s)", "first process alone (s)", "round (s)",
           "of it computing", "tables, once (s)", "tables (GB)"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="skein, built with MPI")
    parser.add_argument("--scenario", required=True, help="the default mission")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--sequences", type=int, default=2)
    parts = ["strong", "weak", "networks", "messages", "first", "model", "all"]
    parser.add_argument("--part", choices=parts, default="all", help="model measures networks and first again")
    parser.add_argument("--given", type=json.loads, help="only the model, with these constants (JSON) in place of measured"
                        " ones: swarm_s, swarm_bytes, process_bytes, process_messages, solve_s, alone")
    options = parser.parse_args()
    if options.given:
        model(options.given)
        return
    runner = Runner(options.program, options.scenario, options.sequences)
    header = ["processes", "wall (s)", "speed-up", "processor (s) of each", "speed-up by processor time",
              "peak memory (MB) of each"]
    wanted = lambda part: options.part in (part, "all")
    ratio = None
    if wanted("strong"):
        best = alternate({n: lambda n=n: runner.run(n, 40, 50) for n in (1, 2, 4)}, options.tries)
        ratio = best[1]["wall"] / best[2]["wall"]
        print("Strong scaling: 40 swarms, 50 clusters\n")
        table(header, scaling_rows(best))
    if wanted("weak"):
        best = alternate({n: lambda n=n: runner.run(n, 10 * n, 13 * n) for n in (1, 2, 4)}, options.tries)
        print("Weak scaling: 10 swarms and 13 clusters per process\n")
        table(header, scaling_rows(best))
    if wanted("networks") or wanted("model"):
        default = "mnist_cnn_stride2"
        names = [default] if options.part == "model" else ["mlp", default]
        of = {name: traffic(runner, {"learning.network.preset": name}, options.tries) for name in names}
        print("Networks: 8 swarms, 10 clusters; of a global round, scores and gradients of its sequence included\n")
        table(["network", "model (kB)", "messages: 2, 4 processes", "MB: 2, 4 processes", "kB with a swarm",
               "kB to a process", "computing (s)", "computing / sending at 1.25 GB/s, 2 processes"],
              [[name, f"{r['model'] / 1e3:.0f}", f"{r['messages']:.1f}, {r['messages_4']:.1f}",
                f"{r['bytes'] / 1e6:.2f}, {r['bytes_4'] / 1e6:.2f}", f"{r['swarm_bytes'] / 1e3:.0f}",
                f"{r['process_bytes'] / 1e3:.0f}", f"{r['computing']:.2f}",
                f"{r['computing'] / (r['bytes'] / LINK):.0f}"] for name, r in of.items()])
        measured = of[default] | {"process_messages": of[default]["messages"]}
    if wanted("messages"):
        print("Messages between two processes of this machine, one way\n")
        table(["bytes", "microseconds", "GB/s"],
              [[f"{size:,}", f"{1e6 * s:.0f}", f"{size / s / 1e9:.2f}"] for size, s in messages(options.program)])
    if wanted("first") or wanted("model"):
        sizes = alone(runner, (10, 20, 40), min(options.tries, 2))
        print("What the first process does alone, of two; network mlp\n")
        table(["swarms", "clusters", "seconds of a global round", "peak memory (MB) of each"],
              [[r["swarms"], r["swarms"] * 5 // 4, f"{r['alone']:.4f}",
                " ".join(f"{m:.0f}" for m in r["memory"])] for r in sizes])
    if wanted("model"):
        few, many = (min(runner.tables_s(4, clusters) for _ in range(options.tries)) for clusters in (6, 46))
        measured |= {"solve_s": (many - few) / (4 * 40), "alone": power_law([(r["swarms"], r["alone"]) for r in sizes])}
        print(f"Measured: {measured['swarm_s']:.3f} s of computing per swarm and global round; "
              f"{1e3 * measured['solve_s']:.1f} ms for an entry of the tables; the first process alone takes "
              f"{measured['alone'][0]:.2e} s times the number of swarms to the power {measured['alone'][1]:.2f}\n")
        model(measured)
    if ratio is not None and ratio < 1.7:
        print(f"two processes: {ratio:.2f} times one, wanted 1.7", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

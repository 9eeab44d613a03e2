#!/usr/bin/env python3
"""Measures missions over several processes, and what follows for larger machines. Prints Markdown.

Strong scaling: one mission of 40 swarms. Weak scaling: 10 swarms per process. Networks of several sizes: bytes and
messages of a global round, computing time beside them. One thread per process; runs take turns, and of each kind
the fastest counts, as others may use the machine too. Exit code 1 if two processes are less than 1.7 times as fast
as one.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
SETTINGS = {"planning.durations": "[8]", "planning.local_periods": "[2]", "planning.global_periods": "[2]",
            "world.stations.count": 4, "world.access_points.count": 4}


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
        values = SETTINGS | {"run.sequences": self.sequences, "swarms.count": swarms, "world.clusters.count": clusters}
        values |= settings
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
                "rounds": rounds, "active": active, "mission": manifest["seconds"], "messages": manifest["messages"],
                "bytes": manifest["message_bytes"], "model": model,
                "processor": [p["processor_s"] for p in manifest["processes"]],
                "busy": [p["busy_s"] for p in manifest["processes"]],
                "memory": [p["peak_memory_MB"] for p in manifest["processes"]]}

    def tables_s(self, swarms, clusters):
        """Processor seconds of the planner's tables, for one timing."""
        command = [self.program, "plan", "tables", self.scenario, "--quiet", "--threads", "1"]
        for key, value in (SETTINGS | {"swarms.count": swarms, "world.clusters.count": clusters}).items():
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


# What a cluster is taken for: 16 processes on a node, 10 Gbit/s and 50 us between nodes; memory is read at 10 GB/s.
CORES, LINK, LATENCY, MEMORY = 16, 1.25e9, 50e-6, 10e9
DEVICES_PER_CLUSTER, CLUSTERS_PER_SWARM = 9, 1.25


def model(measured):
    """Time of a global round by the measured constants, for larger machines and missions."""
    swarm_s, swarm_bytes, model_bytes = measured["swarm_s"], measured["swarm_bytes"], measured["model_bytes"]
    rows = []
    for devices in (1e3, 1e4, 1e5, 1e6):
        swarms = devices / DEVICES_PER_CLUSTER / CLUSTERS_PER_SWARM
        for nodes in (10, 100, 1000):
            processes = min(nodes * CORES, swarms)
            compute = -(-swarms // processes) * swarm_s
            sending = swarms * swarm_bytes / 2 / LINK + 2 * processes * LATENCY
            merging = swarms * model_bytes / MEMORY
            tables = measured["timings"] * swarms * swarms * CLUSTERS_PER_SWARM * measured["solve_s"] / processes
            table_bytes = 16 * measured["timings"] * swarms * swarms * CLUSTERS_PER_SWARM
            rows.append([f"{devices:,.0f}", f"{swarms:,.0f}", nodes, f"{compute:.2f}", f"{sending:.3f}",
                         f"{merging:.3f}", f"{(compute + sending + merging):.2f}",
                         f"{compute / (compute + sending + merging):.0%}", f"{tables:,.0f}", f"{table_bytes / 1e9:,.2f}"])
    table(["devices", "swarms", "nodes", "computing (s)", "first process's messages (s)", "merging (s)", "round (s)",
           "of it computing", "tables, once (s)", "tables (GB)"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="skein, built with MPI")
    parser.add_argument("--scenario", required=True, help="the default mission")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--sequences", type=int, default=2)
    parser.add_argument("--part", choices=["strong", "weak", "networks", "messages", "model", "all"], default="all")
    options = parser.parse_args()
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
    measured = {}
    if wanted("networks") or wanted("model"):
        kinds = {"mlp": {"learning.network.preset": "mlp"}, "mnist_cnn_stride2": {},
                 "mnist_cnn": {"learning.network.preset": "mnist_cnn"}}
        if options.part == "model":
            kinds = {"mnist_cnn_stride2": {}}
        best = alternate({name: lambda s=s: runner.run(4, 12, 15, **s) for name, s in kinds.items()}, options.tries)
        # Three quarters of the swarms are in other processes than the first.
        print("Networks: 12 swarms over 4 processes; of a global round, scores and gradients of its sequence included\n")
        table(["network", "model (kB)", "messages", "bytes (MB)", "bytes of a swarm / model", "computing (s)",
               "computing / sending at 1.25 GB/s"],
              [[name, f"{r['model'] / 1e3:.0f}", f"{r['messages'] / r['rounds']:.1f}",
                f"{r['bytes'] / r['rounds'] / 1e6:.2f}",
                f"{r['bytes'] / r['rounds'] / (0.75 * r['active']) / r['model']:.1f}",
                f"{sum(r['busy']) / r['rounds']:.2f}",
                f"{sum(r['busy']) / (r['bytes'] / LINK):.0f}"] for name, r in best.items()])
        r = best["mnist_cnn_stride2"]
        measured = {"swarm_s": sum(r["busy"]) / r["rounds"] / r["active"],
                    "swarm_bytes": r["bytes"] / r["rounds"] / (0.75 * r["active"]), "model_bytes": r["model"]}
    if wanted("messages"):
        print("Messages between two processes of this machine, one way\n")
        table(["bytes", "microseconds", "GB/s"],
              [[f"{size:,}", f"{1e6 * s:.0f}", f"{size / s / 1e9:.2f}"] for size, s in messages(options.program)])
    if wanted("model"):
        few, many = (min(runner.tables_s(4, clusters) for _ in range(options.tries)) for clusters in (6, 46))
        measured |= {"timings": 8, "solve_s": (many - few) / (4 * 40)}
        print(f"Measured: {measured['swarm_s']:.3f} s of computing and {measured['swarm_bytes'] / 1e3:.0f} kB of "
              f"messages per swarm and global round; {1e3 * measured['solve_s']:.1f} ms for an entry of the tables\n")
        model(measured)
    if ratio is not None and ratio < 1.7:
        print(f"two processes: {ratio:.2f} times one, wanted 1.7", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

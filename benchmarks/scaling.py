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
                rounds = sum(int(row["global_rounds"]) for row in csv.DictReader(file))
            model = pathlib.Path(directory, "models", "global.safetensors").stat().st_size
        return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                "rounds": rounds, "mission": manifest["seconds"], "messages": manifest["messages"],
                "bytes": manifest["message_bytes"], "model": model,
                "busy": [p["busy_s"] for p in manifest["processes"]],
                "memory": [p["peak_memory_MB"] for p in manifest["processes"]]}


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
    return [[n, f"{r['wall']:.1f}", f"{r['cpu']:.1f}", f"{one['wall'] / r['wall']:.2f}",
             " ".join(f"{b:.1f}" for b in r["busy"]), " ".join(f"{m:.0f}" for m in r["memory"])]
            for n, r in best.items()]


def round_seconds(measured, link, nodes, cores, swarms, devices_per_swarm):
    """A model of the time of a global round, in seconds, and its parts."""
    swarms_per_process = -(-swarms // (nodes * cores))
    compute = swarms_per_process * measured["seconds_per_swarm"]
    # Each message goes through the first process.
    traffic = swarms * measured["bytes_per_swarm"] / link["bytes_per_s"] + 2 * nodes * cores * link["latency_s"]
    merge = swarms * measured["model_bytes"] / link["memory_bytes_per_s"]
    return compute, traffic, merge


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="skein, built with MPI")
    parser.add_argument("--scenario", required=True, help="the default mission")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--sequences", type=int, default=2)
    parser.add_argument("--part", choices=["strong", "weak", "networks", "all"], default="all")
    options = parser.parse_args()
    runner = Runner(options.program, options.scenario, options.sequences)
    header = ["processes", "wall (s)", "processor (s)", "speed-up", "busy (s) of each", "peak memory (MB) of each"]
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
    if wanted("networks"):
        kinds = {"mlp": {"learning.network.preset": "mlp"}, "mnist_cnn_stride2": {},
                 "mnist_cnn": {"learning.network.preset": "mnist_cnn"}}
        best = alternate({name: lambda s=s: runner.run(2, 12, 15, **s) for name, s in kinds.items()}, 1)
        print("Networks: 12 swarms over 2 processes; of a global round\n")
        table(["network", "model (kB)", "messages", "bytes (MB)", "bytes per swarm / model", "computing (s)",
               "computing / sending at 1 GB/s"],
              [[name, f"{r['model'] / 1e3:.0f}", f"{r['messages'] / r['rounds']:.1f}",
                f"{r['bytes'] / r['rounds'] / 1e6:.2f}", f"{r['bytes'] / r['rounds'] / 6 / r['model']:.2f}",
                f"{sum(r['busy']) / r['rounds']:.2f}",
                f"{sum(r['busy']) / (r['bytes'] / 1e9):.0f}"] for name, r in best.items()])
    if ratio is not None and ratio < 1.7:
        print(f"two processes: {ratio:.2f} times one, wanted 1.7", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

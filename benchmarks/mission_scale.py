#!/usr/bin/env python3
"""Measures one training sequence of scenarios/scale.toml for several numbers of swarms. Prints Markdown.

"Sequence" is the training sequence alone, with its files; "set-up" is what comes before: data, the world, and those
entries of the planner's tables, one problem P for a swarm and a cluster, that its first search asks for. Exit code 1 if the largest mission needs 4 GB of memory
or more, or if processor time of the sequence grows faster than swarms to the power of 1.1.
"""
import argparse
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def run(program, scenario, swarms, threads):
    with tempfile.TemporaryDirectory() as directory:
        command = [program, "run", scenario, "--quiet", "--out", directory, "--threads", str(threads), "--set",
                   f"swarms.count={swarms}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        subprocess.run(command, check=True)
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        manifest = json.loads(pathlib.Path(directory, "manifest.json").read_text())
        world = json.loads(pathlib.Path(directory, "world.json").read_text())
        energy = pathlib.Path(directory, "energy.csv").read_text().splitlines()
        summary = json.loads(pathlib.Path(directory, "summary.json").read_text())
    process = manifest["processes"][0]
    return {"swarms": swarms, "uavs": len(energy) - 1, "clusters": len(world["clusters"]),
            "visits": summary["visits"], "wall": wall, "sequence": manifest["seconds"],
            "sequence_cpu": manifest["processor_seconds"],
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "memory": process["peak_memory_MB"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--swarms", type=int, nargs="+", default=[10, 50, 100, 200])
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    rows = [run(options.program, options.scenario, swarms, options.threads) for swarms in options.swarms]
    header = ["swarms", "UAVs", "trained", "sequence (s)", "processor (s)", "per swarm", "set-up (s)", "its processor (s)",
              "memory (MB)"]
    print("| " + " | ".join(header) + " |\n|" + "---:|" * len(header))
    for r in rows:
        print(f"| {r['swarms']} | {r['uavs']} | {r['visits']} | {r['sequence']:.1f} | {r['sequence_cpu']:.1f} | "
              f"{r['sequence_cpu'] / r['swarms']:.3f} | {r['wall'] - r['sequence']:.1f} | "
              f"{r['cpu'] - r['sequence_cpu']:.1f} | {r['memory']:.0f} |",
              flush=True)
    bad = []
    if rows[-1]["memory"] >= 4000:
        bad.append(f"{rows[-1]['memory']:.0f} MB, allowed 4000")
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        power = math.log(last["sequence_cpu"] / first["sequence_cpu"]) / math.log(last["swarms"] / first["swarms"])
        print(f"\nProcessor time of a sequence grows as swarms^{power:.2f}.")
        if power > 1.1:
            bad.append(f"grows as swarms^{power:.2f}, allowed 1.1")
    for what in bad:
        print(what, file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains one model under every precision and recipe from one seed and prints what it costs and what it does to the loss.

    python3 tests/bench/recipes.py build/dev/bin/amaxscope-cli --preset small --steps 200 --data text:FILE
    python3 tests/bench/recipes.py build/dev/bin/amaxscope-cli --preset base --steps 3 --data text:FILE --memory

Columns: validation loss after the last step and its distance from FP32's, median time of a step, and the largest
resident set of the process. With --memory the FP8 runs are repeated with weights stored in FP8. With --unfused each is
repeated with separate passes, turn by turn. Runs follow each other; times mean something on an idle machine only, where
one thread suffers least from others.
"""
import argparse
import json
import resource
import statistics
import subprocess
import sys

RECIPES = [
    ("fp32", ["--precision", "fp32"]),
    ("bf16", ["--precision", "bf16"]),
    ("delayed hybrid", ["--precision", "fp8"]),
    ("delayed e4m3", ["--precision", "fp8", "--format", "e4m3"]),
    ("current hybrid", ["--precision", "fp8", "--recipe", "current"]),
    ("block e4m3", ["--precision", "fp8", "--recipe", "block"]),
    ("mxfp8 e4m3", ["--precision", "fp8", "--recipe", "mxfp8"]),
    ("nvfp4", ["--precision", "fp8", "--recipe", "nvfp4"]),
]


def train(cli, common, options):
    """Validation loss, step times in ms, peak resident MiB."""
    process = subprocess.Popen([cli, "train", "--json", *common, *options], stdout=subprocess.PIPE, text=True)
    loss, times = None, []
    for line in process.stdout:
        record = json.loads(line)
        if record.get("val_loss") is not None:
            loss = record["val_loss"]
        if record.get("type") == "step":
            times.append(record["duration_ns"] / 1e6)
    if process.wait() != 0:
        sys.exit(f"recipes: {' '.join(options)} failed")
    return loss, times


def peak_of(cli, common, options):
    """The same in a process of its own, so that its children's largest resident set is this run's."""
    script = (
        "import sys, resource, json; sys.path.insert(0, sys.argv[1]); import recipes;"
        "loss, times = recipes.train(sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4]));"
        "print(json.dumps([loss, times, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))"
    )
    folder = __file__.rsplit("/", 1)[0] if "/" in __file__ else "."
    done = subprocess.run(
        [sys.executable, "-c", script, folder, cli, json.dumps(common), json.dumps(options)],
        stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("--preset", default="small")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--data", required=True)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="", help="comma-separated beginnings of names")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--unfused", action="store_true")
    arguments = parser.parse_args()
    common = ["--preset", arguments.preset, "--steps", str(arguments.steps), "--data", arguments.data,
              "--validate-every", "0", "--seed", "1", "--threads", str(arguments.threads)]
    wanted = [word for word in arguments.only.split(",") if word]
    rows = [row for row in RECIPES if not wanted or any(row[0].startswith(word) for word in wanted)]
    runs = []
    for name, options in rows:
        runs.append((name, options))
        if arguments.unfused:
            runs.append((name + " unfused", options + ["--unfused"]))
        if arguments.memory and "fp8" in options:
            runs.append((name + ", fp8 weights", options + ["--weights", "fp8"]))
    print(f"{'run':<28}{'val loss':>10}{'to fp32':>10}{'ms/step':>10}{'peak MiB':>10}")
    reference = None
    for name, options in runs:
        loss, times, peak = peak_of(arguments.cli, common, options)
        reference = loss if reference is None else reference
        gap = 100 * (loss - reference) / reference
        median = statistics.median(times) if times else float("nan")
        print(f"{name:<28}{loss:>10.4f}{gap:>+9.2f}%{median:>10.1f}{peak / 1024:>10.0f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What recording costs: trains the tutorial preset in FP8 with and without recording, taking turns, and compares each
repeat with its neighbour, so that drift of the machine cancels out. Prints the median of the ratios. Asserts nothing.

    python3 tests/bench/recording_overhead.py [path of amaxscope-cli] [REPEATS] [DATA]
"""
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile


def rates(program, database, run):
    """tokens/s of a run's repeats, in order."""
    text = subprocess.run([program, "export", str(run), "--table", "samples", "--db", database],
                          check=True, capture_output=True, text=True).stdout
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["metric"] == "tokens_per_second"]
    return [float(row["value"]) for row in sorted(rows, key=lambda row: int(row["i"]))]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/dev/bin/amaxscope-cli"
    repeats = max(10, int(sys.argv[2])) if len(sys.argv) > 2 else 100
    data = sys.argv[3] if len(sys.argv) > 3 else "stride"
    with tempfile.TemporaryDirectory(prefix="amaxscope-bench-") as folder:
        database = os.path.join(folder, "overhead.amax")
        subprocess.run([program, "bench", "--preset", "tutorial", "--data", data, "--precisions", "fp8,fp8/norecord",
                        "--warmup", "2", "--repeats", str(repeats), "--steps-per-repeat", "4", "--db", database],
                       check=True, stdout=subprocess.DEVNULL)
        recorded, bare = rates(program, database, 1), rates(program, database, 2)
    losses = [100 * (1 - with_it / without) for with_it, without in zip(recorded, bare)]
    quarters = statistics.quantiles(losses, n=4)
    print(f"{len(losses)} pairs: recording costs {statistics.median(losses):+.2f} % of tokens/s (median of the pairs; "
          f"half of them between {quarters[0]:+.2f} % and {quarters[2]:+.2f} %)")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Recomputes every stored scale of a run database from its recorded amax values alone.

Independent of the program: standard library only, the rules written down anew. Delayed scaling as Transformer Engine's
fused update does it, per tensor and step:
  last = amax of this step; last == 0: nothing changes
  amax = max(oldest-but-one ... newest, last) or last, by the algorithm; the history is then rolled by one
  amax finite and > 0: scale = (format max * 2^-margin) / amax in FP32, infinity becomes the largest FP32; else unchanged
The first step uses scale 1. Exit code 1 when a stored scale differs by a bit, or when there is nothing to compare.

Usage: recompute_scales.py FILE.amax [RUN_ID ...]
"""
import json
import math
import pathlib
import sqlite3
import struct
import sys

FORMAT_MAX = {"E4M3": 448.0, "E5M2": 57344.0}
FLT_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def f32(value):
    """Rounds to FP32; what is too large becomes infinity, as in the hardware."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bits(value):
    return struct.pack("<f", value).hex()


class Slot:
    """Scale and history of one tensor. history[-1] is the newest; index 0 stands for the live row, so it is empty."""

    def __init__(self, recipe, format_max):
        self.length = recipe["amax_history_len"]
        self.most_recent = recipe["amax_algo"] == "most_recent"
        self.target = f32(format_max * 2.0 ** -recipe["margin"])
        self.scale = 1.0
        self.history = [0.0] * (self.length - 1)

    def update(self, last):
        if last == 0.0:
            return
        amax = last if self.most_recent else max(self.history + [last])
        self.history = (self.history + [last])[1:]
        if 0.0 < amax < math.inf:
            # Dividing in double and rounding once more is exact for FP32 operands (53 >= 2 * 24 + 2).
            scale = f32(self.target / amax)
            self.scale = FLT_MAX if math.isinf(scale) else scale


def check_run(connection, run_id, recipe, first_step):
    compared = differences = 0
    tensors = connection.execute(
        "SELECT id, layer || '.' || role, format FROM tensor WHERE run_id = ? ORDER BY id", (run_id,)).fetchall()
    for tensor_id, name, fmt in tensors:
        if fmt not in FORMAT_MAX:  # a result, or an operand that is kept in BF16 or FP32
            continue
        slot = Slot(recipe, FORMAT_MAX[fmt])
        rows = connection.execute(
            "SELECT step, amax, scale FROM scale_snapshot WHERE run_id = ? AND tensor_id = ? AND scale IS NOT NULL"
            " ORDER BY step",
            (run_id, tensor_id)).fetchall()
        for position, (step, amax, scale) in enumerate(rows):
            # A resumed run brings a history that is not in its rows: comparing starts once it has left the window.
            if first_step > 0 and position < slot.length:
                slot.scale = scale
            else:
                compared += 1
                if bits(slot.scale) != bits(scale):
                    differences += 1
                    if differences <= 5:
                        print(f"run {run_id} {name} step {step}: stored {scale!r} {bits(scale)}, "
                              f"recomputed {slot.scale!r} {bits(slot.scale)}")
            slot.update(math.nan if amax is None else amax)
    return len(tensors), compared, differences


def main(arguments):
    if not arguments:
        print(__doc__)
        return 2
    # Not mode=ro: reading a database whose writer was killed has to recover its WAL first. mode=rw creates no file.
    connection = sqlite3.connect(pathlib.Path(arguments[0]).resolve().as_uri() + "?mode=rw", uri=True)
    wanted = {int(argument) for argument in arguments[1:]}
    total = bad = 0
    query = "SELECT id, name, precision, recipe, train, first_step FROM run WHERE recipe <> '' ORDER BY id"
    for run_id, name, precision, recipe_text, train_text, first_step in connection.execute(query).fetchall():
        if wanted and run_id not in wanted:
            continue
        train = json.loads(train_text)
        recipe = json.loads(recipe_text)
        if recipe["recipe"] != "delayed":
            print(f"run {run_id} ({name}): not compared, its scales do not follow from earlier steps")
            continue
        if train["snapshot_every"] != 1 or train.get("snapshot_from", 0) != 0 or train.get("snapshot_to", -1) != -1:
            print(f"run {run_id} ({name}): not compared, only some of its steps are recorded")
            continue
        tensors, compared, differences = check_run(connection, run_id, recipe, first_step)
        print(f"run {run_id} ({name}, {precision}): {tensors} tensors, {compared} scales compared, "
              f"{differences} differ")
        total += compared
        bad += differences
    print(f"{total} scales compared bit for bit, {bad} differ")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

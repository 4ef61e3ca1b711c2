"""Runs training_dump (tests/engine/training_dump.cpp) and reads what it wrote.

A file of records until its end, little-endian: length and text of the name; one character for the type of the elements
(b uint8, h uint16, i int32, f float32, d float64); number of dimensions and each of them; the elements. Lengths,
numbers and dimensions are uint32.
"""
import json
import struct
import subprocess

import numpy as np

TYPES = {"b": "u1", "h": "<u2", "i": "<i4", "f": "<f4", "d": "<f8"}


class NoDump:
    """In place of a Dump: the reference is on its own."""

    def operand(self, _step, _micro_batch, _layer, _role):
        return None

    def updated(self, _step, _name):
        return None


class Dump:
    """Names: config/{model,recipe,train}; parameter/NAME; step.S/{loss,grad_norm,lr}, step.S/gradient/NAME and
    step.S/updated/NAME; step.S/batch.B/{inputs,targets} and step.S/batch.B/operand/LAYER/ROLE/PART."""

    def __init__(self, path):
        self.records = {}
        with open(path, "rb") as file:
            data = file.read()
        at = 0
        while at < len(data):
            (length,) = struct.unpack_from("<I", data, at)
            name = data[at + 4 : at + 4 + length].decode()
            at += 4 + length
            kind, dimensions = struct.unpack_from("<cI", data, at)
            shape = struct.unpack_from(f"<{dimensions}I", data, at + 5)
            at += 5 + 4 * dimensions
            dtype = np.dtype(TYPES[kind.decode()])
            count = int(np.prod(shape, dtype=np.int64))
            self.records[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
            at += count * dtype.itemsize

    def config(self):
        return {part: json.loads(self.records["config/" + part].tobytes()) for part in ("model", "recipe", "train")}

    def under(self, prefix):
        return {name[len(prefix) :]: value for name, value in self.records.items() if name.startswith(prefix)}

    def number(self, step, name):
        return float(self.records[f"step.{step}/{name}"][0])

    def micro_batches(self, step):
        found = []
        while f"step.{step}/batch.{len(found)}/inputs" in self.records:
            prefix = f"step.{step}/batch.{len(found)}/"
            found.append((self.records[prefix + "inputs"], self.records[prefix + "targets"]))
        return found

    def updated(self, step, name):
        """A parameter after the step, in FP32: of one that is stored quantised, the value that was then rounded."""
        return self.records[f"step.{step}/updated/{name}"].astype(np.float64)

    def operand(self, step, micro_batch, layer, role):
        """Parts by name: data and scale, or data, scales, column_data, column_scales and both tensors' scales. A weight
        is there with the first micro-batch only. Empty: in FP32. None: the run was over before that step."""
        if f"step.{step}/loss" not in self.records:
            return None
        prefix = f"step.{step}/batch.{micro_batch}/operand/{layer}/{role}/"
        parts = {}
        for part in ("data", "scales", "column_data", "column_scales", "scale", "column_scale"):
            record = self.records.get(prefix + part)
            if record is not None:
                parts[part] = float(record[0]) if part in ("scale", "column_scale") else record
        return parts


def run(tool, config, path):
    """Trains by the engine and returns the dump. Raises CalledProcessError with the tool's message."""
    arguments = [json.dumps(config[part]) for part in ("model", "recipe", "train")]
    subprocess.run([tool, path, *arguments], check=True, stdout=subprocess.DEVNULL)
    return Dump(path)

#!/usr/bin/env python3
"""Recomputes what `amaxscope-cli inspect FILE.safetensors --json` tells about every tensor and recipe.

Usage: check_inspection.py AMAXSCOPE_CLI [FILE.safetensors…]

Without files it writes one of its own: outliers, zeros, subnormals and blocks cut short. The file is read with json and
numpy alone, quantised in float64 with the formats' definitions, and compared: counts exactly, amax and scales to the bit,
SQNR to 1e-3 dB (the program squares in FP32). Exit code: 0 equal, 1 not, 77 without numpy.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no numpy (Debian: python3-numpy)")
    sys.exit(77)

from number_formats import E2M1, E4M3, FLT_MAX, nearest

F32 = np.float32


def read(path):
    """FP32 tensors of a file, all but the last dimension flattened."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32" or len(entry["shape"]) < 2:
            continue
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[8 + length + begin:8 + length + end], dtype="<f4")
        tensors[name] = flat.reshape(-1, entry["shape"][-1])
    return tensors


def blocks(amax_of, x, rows, cols):
    """Each element's block amax, blocks being cut short at the edges."""
    out = np.empty_like(x)
    for i in range(0, x.shape[0], rows):
        for j in range(0, x.shape[1], cols):
            out[i:i + rows, j:j + cols] = amax_of(x[i:i + rows, j:j + cols])
    return out


def per_tensor(x, fmt):
    amax = np.abs(x).max()
    scale = F32(fmt.largest) / amax if amax > 0 else F32(1)
    return np.full_like(x, min(scale, FLT_MAX)), np.full_like(x, F32(1) / min(scale, FLT_MAX))


def mxfp8(x):
    amax = blocks(lambda block: np.abs(block).max(), x, 1, 32)
    mantissa, exponent = np.frexp((amax * F32(1 / 448.0)).astype(F32))
    exponent = np.where(mantissa > 0.5, exponent, exponent - 1)  # up to the next power of two
    exponent = np.where(amax > 0, np.maximum(exponent, -127), -127)
    return np.ldexp(1.0, -exponent), np.ldexp(1.0, exponent)


def nvfp4(x):
    amax = np.abs(x).max()
    encode = min(F32(448 * 6) / amax, FLT_MAX) if amax > 0 else F32(1)
    block = blocks(lambda part: np.abs(part).max(), x, 16, 16)
    stored = nearest((block * (encode * F32(1 / 6))).astype(F32).astype(np.float64), E4M3)
    decode = F32(1) / encode
    with np.errstate(divide="ignore"):
        scale = np.minimum(F32(1) / (stored.astype(F32) * decode), FLT_MAX)
    return scale, stored * float(decode)


RECIPES = {"delayed": (lambda x: per_tensor(x, E4M3), E4M3), "current": (lambda x: per_tensor(x, E4M3), E4M3),
           "mxfp8": (mxfp8, E4M3), "nvfp4": (nvfp4, E2M1)}


def expected(x, recipe):
    scales, fmt = RECIPES[recipe]
    scale, inverse = scales(x)
    scaled = (x * scale.astype(F32)).astype(F32).astype(np.float64) if scale.dtype == F32 else x * scale
    codes = nearest(scaled, fmt)
    values = codes * inverse
    x = x.astype(np.float64)
    error, signal = ((x - values) ** 2).sum(), (x**2).sum()
    return {"amax": np.abs(x).max(), "count": x.size, "zeros": int((x == 0).sum()),
            "underflowed": int(((x != 0) & (values == 0)).sum()),
            "saturated": int(((np.abs(scaled) > fmt.largest) & (inverse != 0)).sum()),
            "sqnr_db": 10 * np.log10(signal / error) if error > 0 and signal > 0 else None}


def compare(cli, path):
    output = subprocess.run([cli, "inspect", path, "--recipes", ",".join(RECIPES), "--json"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    told = [line for line in map(json.loads, output.splitlines()) if line["type"] == "tensor"]
    tensors = read(path)
    wrong = 0
    missing = {(name, recipe) for name in tensors for recipe in RECIPES}
    for line in told:
        key = (line["tensor"], line["recipe"])
        if key not in missing:
            continue
        missing.discard(key)
        for figure, value in expected(tensors[key[0]], key[1]).items():
            same = line[figure] == value
            if figure == "sqnr_db" and value is not None and line[figure] is not None:
                same = abs(line[figure] - value) < 1e-3
            if not same:
                wrong += 1
                print(f"{path}: {key[0]} {key[1]} {figure}: told {line[figure]}, is {value}")
    for name, recipe in sorted(missing):
        wrong += 1
        print(f"{path}: {name} {recipe}: not told")
    elements = sum(x.size for x in tensors.values())
    print(f"{pathlib.Path(path).name}: {len(tensors)} matrices, {elements} elements, {len(RECIPES)} recipes, "
          f"{len(tensors) * len(RECIPES) * 6} figures, {wrong} wrong")
    return wrong + (0 if tensors else 1)


def write_sample(path):
    rng = np.random.default_rng(1)
    tensors = {"plain": rng.normal(size=(64, 128)), "outlier": rng.normal(size=(48, 80)), "short": rng.normal(size=(17, 50)),
               "zeros": np.zeros((32, 32)), "wide range": np.exp(rng.normal(size=(40, 64)) * 8)}
    tensors["outlier"][7, 9] = 3000
    tensors["plain"][3, 32:64] = 0
    header, data = {}, b""
    for name, values in tensors.items():
        part = values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    cli, files = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            files = [f"{folder}/sample.safetensors"]
            write_sample(files[0])
        return 1 if sum(compare(cli, path) for path in files) else 0


if __name__ == "__main__":
    sys.exit(main())

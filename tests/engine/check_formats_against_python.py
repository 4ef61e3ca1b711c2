#!/usr/bin/env python3
"""Compares the engine's number formats with ml_dtypes, numpy and torch. Optional: neither build nor tests need it.

Reads what the test tool formats_dump prints: decoding tables of all codes, and the codes of 589,824 floats per format.
Compared are all decoded values and every encoding on which the libraries have the same rule as the engine:
  E4M3, E5M2  up to the largest finite value; above it the engine saturates, the libraries overflow or not, by version
  E2M1        up to 6; NaN is left out, the format has none and ml_dtypes makes it -0
  E8M0        exact powers of two and NaN; in between the libraries round to nearest, Transformer Engine rounds up
  BF16, F16   all floats
NaN equals NaN whatever its sign and payload.
Exit code 1 on any mismatch, 2 when neither ml_dtypes nor torch is there.

Usage: pip install numpy ml_dtypes torch; check_formats_against_python.py BUILD/bin/formats_dump
"""
import subprocess
import sys

import numpy as np

LARGEST = {"E4M3": 448.0, "E5M2": 57344.0, "E2M1": 6.0, "E8M0": np.inf, "BF16": np.inf, "F16": np.inf}


def ml_dtypes_library():
    import ml_dtypes

    types = {
        "E4M3": ml_dtypes.float8_e4m3fn,
        "E5M2": ml_dtypes.float8_e5m2,
        "E2M1": ml_dtypes.float4_e2m1fn,
        "E8M0": ml_dtypes.float8_e8m0fnu,
        "BF16": ml_dtypes.bfloat16,
    }

    def decode(name, codes):
        return codes.astype(np.uint16 if name == "BF16" else np.uint8).view(types[name]).astype(np.float32)

    def encode(name, values):
        return values.astype(types[name]).view(np.uint16 if name == "BF16" else np.uint8)

    return "ml_dtypes " + ml_dtypes.__version__, list(types), decode, encode


def numpy_library():
    def decode(_, codes):
        return codes.astype(np.uint16).view(np.float16).astype(np.float32)

    def encode(_, values):
        return values.astype(np.float16).view(np.uint16)

    return "numpy " + np.__version__, ["F16"], decode, encode


def torch_library():
    import torch

    types = {
        "E4M3": torch.float8_e4m3fn,
        "E5M2": torch.float8_e5m2,
        "E8M0": getattr(torch, "float8_e8m0fnu", None),
        "BF16": torch.bfloat16,
        "F16": torch.float16,
    }

    def decode(name, codes):
        raw = torch.from_numpy(codes.astype(np.int16 if name in ("BF16", "F16") else np.uint8))
        return raw.view(types[name]).to(torch.float32).numpy()

    def encode(name, values):
        wide = name in ("BF16", "F16")
        raw = torch.from_numpy(values).to(types[name]).view(torch.int16 if wide else torch.uint8).numpy()
        return raw.view(np.uint16) if wide else raw

    return "torch " + torch.__version__, [name for name, kind in types.items() if kind is not None], decode, encode


def libraries():
    found = []
    for open_library in (ml_dtypes_library, numpy_library, torch_library):
        try:
            found.append(open_library())
        except ImportError as error:
            print(f"left out: {error}")
    return found


def read_dump(program):
    """{name: (bits of all codes, {lower half: codes})}"""
    tables = {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        name, kind, *numbers = line.split()
        numbers = np.array([int(number, 16) for number in numbers], dtype=np.uint32)
        bits, codes = tables.setdefault(name, ([], {}))
        if kind == "decode":
            bits.append(numbers)
        else:
            codes[int(numbers[0])] = numbers[1:]
    return {name: (bits[0], codes) for name, (bits, codes) in tables.items()}


def comparable(name, values):
    """Where the library has the engine's rule."""
    if name == "E8M0":
        # No mantissa bit in a normal float; of the subnormal powers of two the format has 2^-127 alone.
        bits = values.view(np.uint32)
        return np.isnan(values) | ((bits & 0x7FFFFF == 0) & (bits > 0) & (bits < 0x7F800000)) | (bits == 0x400000)
    in_range = np.abs(values) <= LARGEST[name]
    return in_range if name == "E2M1" else in_range | np.isnan(values)


def check(name, tables, library):
    """(decoded values compared, mismatches, encodings compared, mismatches)"""
    _, _, decode, encode = library
    bits, encodings = tables
    ours = bits.view(np.float32)
    theirs = decode(name, np.arange(len(bits), dtype=np.uint32))
    alike = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
    compared = mismatches = 0
    for lower, codes in encodings.items():
        values = (np.arange(0x10000, dtype=np.uint32) << np.uint32(16) | np.uint32(lower)).view(np.float32)
        where = comparable(name, values)
        values, codes = values[where], codes[where]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            found = encode(name, values)
        both_nan = np.isnan(values) & np.isnan(ours[codes]) & np.isnan(theirs[found])
        compared += len(values)
        mismatches += int(np.sum(~(both_nan | (found == codes))))
    return len(bits), int(np.sum(~alike)), compared, mismatches


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    dump = read_dump(sys.argv[1])
    found = libraries()
    failed = False
    for library in found:
        for name in library[1]:
            codes, wrong_codes, floats, wrong_floats = check(name, dump[name], library)
            failed |= wrong_codes + wrong_floats > 0
            print(f"{library[0]:18} {name:5} decode {wrong_codes} mismatches of {codes}, "
                  f"encode {wrong_floats} of {floats}")
    if not any(library[0].startswith(("ml_dtypes", "torch")) for library in found):
        print("neither ml_dtypes nor torch is installed")
        sys.exit(1 if failed else 2)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

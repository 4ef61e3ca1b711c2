#!/usr/bin/env python3
"""Totals of each floating-point tensor of a safetensors file, computed without the program.

Standard library only; the format and the number types are written down anew from their definitions:
  8 bytes little-endian length, that many bytes of JSON, then the numbers, row-major and little-endian
  F64, F32, F16: IEEE binary64, binary32, binary16 (struct's d, f, e)     BF16: the upper half of a binary32
  F8_E4M3: bias 7, no infinity, S.1111.111 is NaN                         F8_E5M2: bias 15, otherwise like IEEE
Prints a line per tensor, in the order of the names: elements, largest magnitude, sum of squares (added up exactly, then
rounded once), name. Other types are left out.

Usage: weight_totals.py FILE.safetensors
"""
import json
import math
import struct
import sys


def byte_values(mantissa_bits, bias, has_infinity):
    values = []
    top = (1 << (7 - mantissa_bits)) - 1
    for code in range(256):
        sign = -1.0 if code & 0x80 else 1.0
        exponent = (code & 0x7F) >> mantissa_bits
        mantissa = code & ((1 << mantissa_bits) - 1)
        if has_infinity and exponent == top:
            values.append(math.nan if mantissa else sign * math.inf)
        elif not has_infinity and code & 0x7F == 0x7F:
            values.append(math.nan)
        elif exponent == 0:
            values.append(sign * math.ldexp(mantissa, 1 - bias - mantissa_bits))
        else:
            values.append(sign * math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits))
    return values


BYTES = {"F8_E4M3": byte_values(3, 7, False), "F8_E5M2": byte_values(2, 15, True)}
STRUCT = {"F64": ("d", 8), "F32": ("f", 4), "F16": ("e", 2)}


def numbers(dtype, data):
    if dtype in BYTES:
        return [BYTES[dtype][code] for code in data]
    if dtype == "BF16":
        halves = struct.unpack("<%dH" % (len(data) // 2), data)
        return list(struct.unpack("<%df" % len(halves), struct.pack("<%dI" % len(halves), *(h << 16 for h in halves))))
    if dtype in STRUCT:
        letter, width = STRUCT[dtype]
        return list(struct.unpack("<%d%s" % (len(data) // width, letter), data))
    return None


def main():
    with open(sys.argv[1], "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        for name in sorted(key for key in header if key != "__metadata__"):
            begin, end = header[name]["data_offsets"]
            file.seek(8 + length + begin)
            values = numbers(header[name]["dtype"], file.read(end - begin))
            if values is not None:
                amax = max((abs(value) for value in values), default=0.0)
                print("%d %.17g %.17g %s" % (len(values), amax, math.fsum(value * value for value in values), name))


main()

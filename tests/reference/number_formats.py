"""Low-precision number formats in float64: rounding to a format's grid and reading its codes.

Written from the definitions of the formats alone (OCP 8-bit floating point 1.0, OCP Microscaling 1.0, BF16), not from
the program's conversions. Numbers are float64 arrays that hold values of the format.
"""
from typing import NamedTuple

import numpy as np

FLT_MAX = np.float32(3.4028234663852886e38)


class Format(NamedTuple):
    name: str
    bits: int
    mantissa_bits: int
    min_exponent: int  # of the smallest normal number
    largest: float


E4M3 = Format("E4M3", 8, 3, -6, 448.0)
E5M2 = Format("E5M2", 8, 2, -14, 57344.0)
E2M1 = Format("E2M1", 4, 1, 0, 6.0)
BF16 = Format("BF16", 16, 7, -126, float.fromhex("0x1.fep+127"))


def spacing(magnitude, fmt):
    """Distance of the grid points around each magnitude."""
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, fmt.min_exponent)
    return np.ldexp(1.0, exponent - fmt.mantissa_bits)


def nearest(y, fmt):
    """Nearest value of the format, ties to even, saturating."""
    step = spacing(np.abs(y), fmt)
    return np.clip(np.rint(y / step) * step, -fmt.largest, fmt.largest)


def toward_zero(y, fmt):
    step = spacing(np.abs(y), fmt)
    return np.clip(np.trunc(y / step) * step, -fmt.largest, fmt.largest)


def stochastic(y, fmt, uniform):
    """The neighbour towards zero, or the one away from it where `uniform` is below the share of the way to it."""
    magnitude = np.minimum(np.abs(y), fmt.largest)
    step = spacing(magnitude, fmt)
    below = np.floor(magnitude / step) * step
    return np.copysign(np.where(uniform * step < magnitude - below, below + step, below), y)


def values_of_codes(fmt):
    """Value of every code of up to eight bits; NaN where there is no finite one."""
    codes = np.arange(2**fmt.bits)
    mantissa = codes % 2**fmt.mantissa_bits
    exponent = codes // 2**fmt.mantissa_bits % 2 ** (fmt.bits - 1 - fmt.mantissa_bits)
    fraction = np.where(exponent > 0, 1.0, 0.0) + mantissa / 2**fmt.mantissa_bits
    magnitude = np.ldexp(fraction, np.maximum(exponent, 1) - 1 + fmt.min_exponent)
    magnitude[magnitude > fmt.largest] = np.nan
    return np.where(codes >= 2 ** (fmt.bits - 1), -magnitude, magnitude)


def decode(codes, fmt):
    """Values of stored elements: bytes, pairs of half bytes with the first in the low half, or the bits of BF16."""
    if fmt is BF16:
        return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if fmt is E2M1:
        codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(codes.shape[0], -1)
    return values_of_codes(fmt)[codes]

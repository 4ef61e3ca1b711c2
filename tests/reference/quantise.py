"""The recipes: how an operand of a matrix product turns into low precision, from the formulas of Transformer Engine.

A cast returns the values that the operand has in a product, exactly, as float64: once for products that sum along its
columns (fprop; grad_output in dgrad) and once for those that sum along its rows (wgrad; weight in dgrad). Inputs are
rounded to FP32 first and multiplied by the scale in FP32, as the hardware does; everything else is float64. `engine` is
what the engine holds for the same cast, see engine_dump.py; the arbiter compares and, where FP32 cannot decide, follows.
"""
from typing import NamedTuple

import numpy as np

import counter_noise
from number_formats import BF16, E2M1, E4M3, E5M2, FLT_MAX, decode, nearest, stochastic

F32 = np.float32


class Cast(NamedTuple):
    columns: np.ndarray
    rows: np.ndarray


class Operand(NamedTuple):
    layer: str
    role: str  # "input", "weight", "grad_output"
    slot: int  # number among the run's quantised operands, layer by layer in the order of the roles above


def name_of(operand, along_rows=False):
    return f"{operand.layer} {operand.role}" + (" along rows" if along_rows else "")


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


def f32(x):
    """FP32 rounding of a float64 value."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(x, dtype=np.float64).astype(F32).astype(np.float64)


def quotient(a, b):
    """FP32 division; at most the largest FP32 number."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.minimum((F32(a) / np.asarray(b, dtype=F32)).astype(np.float64), np.float64(FLT_MAX))


def product(x, scale):
    """FP32 product of elements and scales."""
    with np.errstate(over="ignore", under="ignore"):
        return (np.asarray(x, dtype=F32) * np.asarray(scale, dtype=F32)).astype(np.float64)


def power_of_two_below(scale):
    return np.ldexp(1.0, np.frexp(scale)[1] - 1)


class Blocks:
    """A matrix in blocks of rows × cols elements with one number each."""

    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols

    def amax(self, x):
        height, width = x.shape[0] // self.rows, x.shape[1] // self.cols
        return np.abs(x).reshape(height, self.rows, width, self.cols).max(axis=(1, 3))

    def spread(self, per_block):
        return np.repeat(np.repeat(per_block, self.rows, axis=0), self.cols, axis=1)


class Bf16:
    """No recipe: operands rounded to BF16."""

    round = staticmethod(nearest)

    def __init__(self, arbiter):
        self.arbiter = arbiter

    def cast(self, operand, x, _noise, engine):
        held = decode(engine["data"], BF16) if engine else None
        y = self.arbiter.round(name_of(operand), lambda v, _at: self.round(v, BF16), f32(x), rms(x), held)
        return Cast(y, y)


class Recipe:
    def __init__(self, settings, arbiter):
        self.settings = settings
        self.arbiter = arbiter
        default = "hybrid" if settings["recipe"] in ("delayed", "current") else "e4m3"
        self.format_name = default if settings["format"] == "auto" else settings["format"]
        switch = settings["power_of_two_scales"]
        self.power_of_two = settings["recipe"] == "block" if switch == "auto" else switch == "on"
        self.epsilon = F32(settings["amax_epsilon"])

    def format_of(self, role):
        return E5M2 if self.format_name == "hybrid" and role == "grad_output" else E4M3

    def end_step(self):
        pass

    def scale_of_amax(self, largest, amax):
        """largest / amax; 1 for amax 0. The mantissa of power-of-two scales is cut off."""
        amax = np.maximum(amax, self.epsilon)
        scale = np.where(amax > 0, quotient(largest, np.where(amax > 0, amax, 1.0)), 1.0)
        return power_of_two_below(scale) if self.power_of_two else scale


    def check_scale(self, operand, own, x, engine, along_rows=False):
        """Of full precision, from the amax of x or of earlier tensors like it; the reference keeps its own."""
        relative = rms(x) / max(np.abs(x).max(), 1e-300)
        self.arbiter.compare(name_of(operand, along_rows) + " scale", np.array([own]), own * relative,
                             np.array([engine]))


class PerTensor(Recipe):
    """One FP32 scale per tensor; both ways share the elements."""

    def cast_with(self, operand, x, scale, engine):
        fmt = self.format_of(operand.role)
        held = decode(engine["data"], fmt) if engine else None
        codes = self.arbiter.round(name_of(operand), lambda y, _at: nearest(y, fmt), product(x, scale),
                                   rms(x) * scale, held)
        values = codes * f32(1 / scale)
        return Cast(values, values)


class Delayed(PerTensor):
    """scale = (format max / 2^margin) / amax, where amax comes from a window of steps that ends with the last one.

    At the end of a step: nothing changes for a tensor that was not cast; the newest amax joins the window and the
    oldest leaves, after it has counted once more."""

    def __init__(self, settings, arbiter):
        super().__init__(settings, arbiter)
        self.scales = {}
        self.windows = {}
        self.live = {}
        self.formats = {}

    def cast(self, operand, x, _noise, engine):
        scale = self.scales.setdefault(operand.slot, 1.0)
        if engine:
            self.check_scale(operand, scale, x, engine["scale"])
        self.formats[operand.slot] = self.format_of(operand.role)
        self.live[operand.slot] = max(self.live.get(operand.slot, 0.0), f32(np.abs(x).max()))
        return self.cast_with(operand, x, scale, engine)

    def forget_amax(self, operand):
        """The last cast was no part of training."""
        self.live.pop(operand.slot)

    def end_step(self):
        for slot, newest in self.live.items():
            if newest == 0:
                continue
            length = self.settings["amax_history_len"]
            window = (self.windows.get(slot, []) + [newest])[-length:]
            self.windows[slot] = window
            amax = max(window) if self.settings["amax_algo"] == "max" else newest
            self.scales[slot] = quotient(self.formats[slot].largest * 2.0 ** -self.settings["margin"], amax)
        self.live = {}


class Current(PerTensor):
    """scale = format max / amax of the tensor itself."""

    def cast(self, operand, x, _noise, engine):
        x = f32(x)
        largest = self.format_of(operand.role).largest
        amax = np.abs(x).max(keepdims=True)[0]
        scale = self.scale_of_amax(largest, amax)
        if engine and self.power_of_two:
            scale = self.arbiter.scale(name_of(operand) + " scale", lambda a: self.scale_of_amax(largest, a), amax,
                                       rms(x), np.array([engine["scale"]]))
        elif engine:
            self.check_scale(operand, scale[0], x, engine["scale"])
        return self.cast_with(operand, x, scale[0], engine)


class BlockScaled(Recipe):
    """One scale per block; the copy for products along the rows is cast from the original once more."""

    def cast(self, operand, x, noise, engine):
        x = f32(x)
        columns = self.copy(operand, x, False, noise, engine)
        if self.is_square(operand):
            return Cast(columns, columns)
        return Cast(columns, self.copy(operand, x, True, noise, engine))

    def is_square(self, operand):
        return operand.role == "weight" and self.settings["weight_tiles"]

    def copy(self, operand, x, along_rows, noise, engine):
        raise NotImplementedError

    def held(self, name, engine, along_rows, shape, blocks):
        """The engine's raw codes and scales of one copy."""
        if not engine:
            return None, None
        codes = engine.get("column_data" if along_rows else "data")
        scales = engine.get("column_scales" if along_rows else "scales")
        height, width = shape[0] // blocks.rows, shape[1] // blocks.cols
        if scales is None or scales.size != height * width:
            self.arbiter.refuse(name + ": the engine has it in other blocks")
            return None, None
        return codes, scales.reshape(height, width)


class Block(BlockScaled):
    """1×128 elements share a scale, 128×128 of a weight; FP32 scales of which the inverse is kept."""

    def copy(self, operand, x, along_rows, _noise, engine):
        blocks = Blocks(128, 128) if self.is_square(operand) else Blocks(128, 1) if along_rows else Blocks(1, 128)
        fmt = self.format_of(operand.role)
        name = name_of(operand, along_rows)
        codes, inverse = self.held(name, engine, along_rows, x.shape, blocks)
        formula = lambda amax: self.scale_of_amax(fmt.largest, amax)
        inverse = None if inverse is None else inverse.astype(np.float64)
        held = None if inverse is None else 1 / inverse
        if self.power_of_two:
            scale = self.arbiter.scale(name + " scales", formula, blocks.amax(x), rms(x), held)
        else:
            scale = formula(blocks.amax(x))
            self.arbiter.compare(name + " scales", 1 / scale, rms(x) / fmt.largest, inverse)
        factor = blocks.spread(scale)
        y = self.arbiter.round(name, lambda v, _at: nearest(v, fmt), product(x, factor), rms(x) * factor,
                               None if codes is None else decode(codes, fmt))
        return y * blocks.spread(f32(1 / scale))


class MxFp8(BlockScaled):
    """32 elements share a power of two: amax · fl32(1 / format max), rounded up; codes 0 … 254 for 2^−127 … 2^127."""

    def is_square(self, _operand):
        return False

    @staticmethod
    def scale_code(amax, fmt):
        mantissa, exponent = np.frexp(product(amax, 1 / fmt.largest))
        up = exponent - (mantissa == 0.5)  # 2^up ≥ value
        return np.where(amax > 0, np.clip(up + 127, 0, 254), 0)

    def copy(self, operand, x, along_rows, _noise, engine):
        blocks = Blocks(32, 1) if along_rows else Blocks(1, 32)
        fmt = self.format_of(operand.role)
        name = name_of(operand, along_rows)
        codes, scales = self.held(name, engine, along_rows, x.shape, blocks)
        code = self.arbiter.scale(name + " scales", lambda amax: self.scale_code(amax, fmt), blocks.amax(x), rms(x),
                                  scales)
        factor = blocks.spread(np.ldexp(1.0, 127 - code))
        y = self.arbiter.round(name, lambda v, _at: nearest(v, fmt), product(x, factor), rms(x) * factor,
                               None if codes is None else decode(codes, fmt))
        return y / factor


class NvFp4(BlockScaled):
    """16 elements (16×16 of a weight) share an E4M3 scale, the tensor an FP32 one. The copy of inputs and gradients
    along the rows is cast from a Hadamard transform; gradients are rounded stochastically."""

    SIGNS = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1], dtype=np.float64)

    @classmethod
    def transform(cls, x):
        """H·diag(signs)·x for each 16 rows, H[i][j] = (−1)^(bits that i and j share) / 4."""
        index = np.arange(16)
        shared = index[:, None] & index[None, :]
        parity = sum((shared >> bit) & 1 for bit in range(4)) % 2
        matrix = np.where(parity == 1, -0.25, 0.25) * cls.SIGNS
        return np.einsum("ij,bjc->bic", matrix, x.reshape(-1, 16, x.shape[1])).reshape(x.shape)

    def copy(self, operand, x, along_rows, noise, engine):
        blocks = Blocks(16, 16) if self.is_square(operand) else Blocks(16, 1) if along_rows else Blocks(1, 16)
        name = name_of(operand, along_rows)
        if along_rows and operand.role != "weight" and self.settings["hadamard"]:
            x = f32(self.transform(x))
        codes, scales = self.held(name, engine, along_rows, x.shape, blocks)
        amax = np.abs(x).max()
        encode = quotient(448.0 * 6.0, amax) if amax > 0 else 1.0
        if engine:
            self.check_scale(operand, encode, x, engine["column_scale" if along_rows else "scale"], along_rows)
        to_scale = product(encode, f32(1 / 6))
        scale = self.arbiter.round(name + " scales", lambda v, _at: nearest(v, E4M3), product(blocks.amax(x), to_scale),
                                   rms(x) * to_scale, None if scales is None else decode(scales, E4M3))
        factor = blocks.spread(quotient(1.0, product(scale, f32(1 / encode))))
        rounding = lambda v, _at: nearest(v, E2M1)
        if operand.role == "grad_output" and self.settings["stochastic_rounding"]:
            uniform = counter_noise.uniforms(counter_noise.copy_key(noise, operand.slot, int(along_rows)), *x.shape)
            rounding = lambda v, at: stochastic(v, E2M1, uniform[at])
        y = self.arbiter.round(name, rounding, product(x, factor), rms(x) * factor,
                               None if codes is None else decode(codes, E2M1))
        return y * blocks.spread(scale) * f32(1 / encode)


RECIPES = {"delayed": Delayed, "current": Current, "block": Block, "mxfp8": MxFp8, "nvfp4": NvFp4}

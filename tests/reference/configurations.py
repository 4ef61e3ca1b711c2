"""The runs that are checked, and the mistakes that each check must notice.

A mistake changes the reference, never the engine: settings that the reference believes in, or one of its functions.
"""
from typing import Callable, NamedTuple

import numpy as np

import number_formats
import quantise

# 128 tokens and widths in multiples of 128, which every recipe can take.
MODEL = {"layers": 2, "d_model": 128, "heads": 4, "seq_len": 32, "vocab": 128}
TRAIN = {"precision": "fp8", "batch": 4, "steps": 10, "lr": 2e-3, "warmup_steps": 4, "seed": 5, "threads": 2,
         "data": "stride", "validate_every": 0}
LLAMA = {"norm": "rmsnorm", "activation": "swiglu", "positions": "rotary", "kv_heads": 2, "ffn": 256, "bias": False,
         "tied_head": True}


def _run(recipe=None, train=None, model=None):
    return {"model": MODEL | (model or {}), "recipe": recipe or {}, "train": TRAIN | (train or {})}


CONFIGURATIONS = {
    "fp32": _run(train={"precision": "fp32"}),
    "fp32-llama": _run(train={"precision": "fp32", "accumulate": 2}, model=LLAMA),
    "fp32-geglu": _run(train={"precision": "fp32", "fused": False, "grad_clip": 0.5},
                       model={"activation": "geglu", "kv_heads": 1, "rope_theta": 500.0, "positions": "rotary"}),
    "bf16": _run(train={"precision": "bf16"}, model={"activation": "relu"}),
    "delayed-hybrid": _run({"recipe": "delayed", "amax_history_len": 4}),
    "delayed-e4m3": _run({"recipe": "delayed", "format": "e4m3", "amax_algo": "most_recent", "margin": 1}),
    "delayed-mixed": _run({"recipe": "delayed"}, {"accumulate": 2, "keep_bf16": "lm_head,layer.0.mlp.*",
                                                  "keep_fp32": "layer.1.attn.proj"}, LLAMA),
    "delayed-stored": _run({"recipe": "delayed", "amax_history_len": 4}, {"weights": "fp8"}),
    "current-hybrid": _run({"recipe": "current"}),
    "current-power-of-two": _run({"recipe": "current", "format": "e4m3", "power_of_two_scales": "on"},
                                 {"weights": "fp8_keep_init"}),
    "block": _run({"recipe": "block"}),
    "block-fp32-scales": _run({"recipe": "block", "format": "hybrid", "power_of_two_scales": "off",
                               "weight_tiles": False}),
    "mxfp8": _run({"recipe": "mxfp8"}),
    "mxfp8-llama": _run({"recipe": "mxfp8", "format": "hybrid"}, {"accumulate": 2}, LLAMA),
    "nvfp4": _run({"recipe": "nvfp4"}),
    "nvfp4-llama": _run({"recipe": "nvfp4", "weight_tiles": False}, {"accumulate": 2}, LLAMA),
    "nvfp4-plain": _run({"recipe": "nvfp4", "stochastic_rounding": False, "hadamard": False}),
}


# ---------------------------------------------------------------- mistakes
class Mistake(NamedTuple):
    config: Callable = lambda config: None  # before the training is set up
    training: Callable = lambda training: None  # and after that


def _believes(part, **settings):
    return Mistake(config=lambda config: config[part].update(settings))


def _shifts(part, key, by):
    return Mistake(config=lambda config: config[part].update({key: config[part][key] + by}))


def _swaps_formats(training):
    training.casts.recipe.format_of = lambda role: (
        number_formats.E4M3 if role == "grad_output" else number_formats.E5M2)


def _uses_one_copy(training):
    """wgrad multiplies the copies that were made for the other products."""
    recipe = training.casts.recipe
    original = recipe.cast

    def cast(operand, x, noise, engine):
        columns, _rows = original(operand, x, noise, engine)
        return quantise.Cast(columns, columns)

    recipe.cast = cast


def _truncates(training):
    training.casts.bf16.round = number_formats.toward_zero


def _scales_by_this_step(training):
    """Delayed scaling that does not wait."""
    recipe = training.casts.recipe
    original = recipe.cast

    def cast(operand, x, noise, engine):
        recipe.scales[operand.slot] = quantise.quotient(recipe.format_of(operand.role).largest, np.abs(x).max())
        return original(operand, x, noise, engine)

    recipe.cast = cast


def _rounds_exponents_down(training):
    recipe = training.casts.recipe
    original = recipe.scale_code
    recipe.scale_code = lambda amax, fmt: np.maximum(original(amax, fmt) - 1, 0)


def _interleaves_rotary(training):
    def turn(self, x, back=False):
        sine = -self.sine if back else self.sine
        low, high = x[..., 0::2], x[..., 1::2]
        turned = np.stack([low * self.cosine - high * sine, high * self.cosine + low * sine], axis=-1)
        return turned.reshape(x.shape)

    for layer in training.model.layers:
        rotary = layer.attention.rotary
        rotary.turn = turn.__get__(rotary)


def _shares_groups_in_turn(training):
    """Head i reads group i mod groups."""

    def for_heads(self, x):
        return np.tile(x, (1, self.heads // self.groups, 1, 1))

    def for_groups(self, dx):
        return dx.reshape(dx.shape[0], -1, self.groups, *dx.shape[2:]).sum(axis=1)

    for layer in training.model.layers:
        attention = layer.attention
        attention.for_heads = for_heads.__get__(attention)
        attention.for_groups = for_groups.__get__(attention)


def _decays_vectors(training):
    training.decays = lambda value: True


def _repeats_noise(training):
    original = training.casts.noise_of
    training.casts.noise_of = lambda step, micro_batch: original(0, 0)


MISTAKES = {
    "fp32": {
        "no clipping": _believes("train", grad_clip=0.0),
        "beta2 0.999": _believes("train", beta2=0.999),
        "one step more of warm-up": _shifts("train", "warmup_steps", 1),
        "decay of vectors": Mistake(training=_decays_vectors),
    },
    "fp32-llama": {
        "interleaved rotary": Mistake(training=_interleaves_rotary),
        "heads share groups in turn": Mistake(training=_shares_groups_in_turn),
        "GeGLU for SwiGLU": _believes("model", activation="geglu"),
        "LayerNorm for RMSNorm": _believes("model", norm="layernorm"),
    },
    "bf16": {"truncated": Mistake(training=_truncates)},
    "delayed-hybrid": {
        "margin one too large": _shifts("recipe", "margin", 1),
        "history one too short": _shifts("recipe", "amax_history_len", -1),
        "history one too long": _shifts("recipe", "amax_history_len", 1),
        "scale of the same step": Mistake(training=_scales_by_this_step),
        "E4M3 and E5M2 swapped": Mistake(training=_swaps_formats),
    },
    "delayed-e4m3": {
        "largest of the window": _believes("recipe", amax_algo="max"),
        "no margin": _believes("recipe", margin=0),
        "E5M2 gradients": _believes("recipe", format="hybrid"),
    },
    "delayed-mixed": {
        "head in FP8": _believes("train", keep_bf16="layer.0.mlp.*"),
        "projection in BF16": _believes("train", keep_bf16="lm_head,layer.0.mlp.*,layer.1.attn.proj", keep_fp32=""),
    },
    "delayed-stored": {"weights in FP32": _believes("train", weights="fp32")},
    "current-hybrid": {
        "power-of-two scales": _believes("recipe", power_of_two_scales="on"),
        "amax epsilon": _believes("recipe", amax_epsilon=1e-2),
        "E4M3 and E5M2 swapped": Mistake(training=_swaps_formats),
    },
    "current-power-of-two": {"no FP32 masters": _believes("train", weights="fp8")},
    "block": {
        "FP32 scales": _believes("recipe", power_of_two_scales="off"),
        "1×128 blocks of weights": _believes("recipe", weight_tiles=False),
        "E5M2 gradients": _believes("recipe", format="hybrid"),
    },
    # Between powers of two a floating-point code stands for the same value, so that only other scales tell the two
    # copies of an operand apart.
    "block-fp32-scales": {"copies along the columns in wgrad": Mistake(training=_uses_one_copy)},
    "mxfp8": {
        "exponent rounded down": Mistake(training=_rounds_exponents_down),
        "E5M2 gradients": _believes("recipe", format="hybrid"),
    },
    "nvfp4": {
        "no Hadamard transform": _believes("recipe", hadamard=False),
        "rounded to nearest": _believes("recipe", stochastic_rounding=False),
        "the same noise in every step": Mistake(training=_repeats_noise),
        "copies along the columns in wgrad": Mistake(training=_uses_one_copy),
        "1×16 blocks of weights": _believes("recipe", weight_tiles=False),
    },
}

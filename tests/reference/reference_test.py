#!/usr/bin/env python3
"""The reference itself: gradients against central differences, casts and scales against numbers worked out by hand.

Exit code 77 without numpy. The hand numbers are those of Transformer Engine's rules and of the formats' definitions.
"""
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no numpy (Debian: python3-numpy)")
    sys.exit(77)

import counter_noise
import quantise
from arbiter import Arbiter
from engine_dump import NoDump
from number_formats import BF16, E2M1, E4M3, E5M2, decode, nearest, stochastic, values_of_codes
from quantise import Operand
from reference_model import Model
from reference_training import Training

RECIPE = {"recipe": "delayed", "format": "auto", "margin": 0, "amax_history_len": 4, "amax_algo": "max",
          "power_of_two_scales": "auto", "amax_epsilon": 0.0, "weight_tiles": True, "stochastic_rounding": False,
          "hadamard": True}
MODEL = {"layers": 2, "d_model": 8, "heads": 4, "seq_len": 5, "vocab": 11, "kv_heads": 0, "ffn": 12,
         "norm": "layernorm", "activation": "gelu", "positions": "learned", "rope_theta": 100.0, "norm_epsilon": 1e-5,
         "bias": True, "tied_head": False}
WEIGHT = Operand("layer", "weight", 0)
INPUT = Operand("layer", "input", 1)
GRADIENT = Operand("layer", "grad_output", 2)


class NoCasts:
    """Operands as they are."""

    def cast(self, _layer, _role, x):
        return quantise.Cast(x, x)


def shapes(model):
    d, f, vocab = model["d_model"], model["ffn"], model["vocab"]
    groups = model["kv_heads"] or model["heads"]
    q = (model["heads"] + 2 * groups) * (d // model["heads"])
    hidden = 2 * f if model["activation"] in ("geglu", "swiglu") else f
    found = {"token_embedding": (vocab, d)}
    if model["positions"] == "learned":
        found["position_embedding"] = (model["seq_len"], d)
    for i in range(model["layers"]):
        found |= {f"layer.{i}.ln1": (d,), f"layer.{i}.attn.qkv": (q, d), f"layer.{i}.attn.proj": (d, d),
                  f"layer.{i}.ln2": (d,), f"layer.{i}.mlp.fc1": (hidden, d), f"layer.{i}.mlp.fc2": (d, f)}
    found["final_norm"] = (d,)
    if not model["tied_head"]:
        found["lm_head"] = (vocab, d)
    return found


def random_parameters(model, generator):
    parameters = {}
    for name, shape in shapes(model).items():
        parameters[name + ".weight"] = generator.normal(0, 0.4, shape) + (len(shape) == 1)
        has_bias = model["bias"] and "embedding" not in name and name != "lm_head"
        if has_bias and (len(shape) == 2 or model["norm"] == "layernorm"):
            parameters[name + ".bias"] = generator.normal(0, 0.3, shape[0])
    return parameters


class Gradients(unittest.TestCase):
    def check(self, **settings):
        model = MODEL | settings
        generator = np.random.default_rng(3)
        parameters = random_parameters(model, generator)
        inputs, targets = generator.integers(0, model["vocab"], (2, 3 * model["seq_len"]))
        reference = Model(model, NoCasts(), parameters)
        loss, gradients = reference.loss_and_gradients(inputs, targets, 1.0)
        self.assertEqual(gradients.keys(), parameters.keys())
        self.assertGreater(loss, 0)
        for name, value in parameters.items():
            for _ in range(4):
                at = tuple(generator.integers(0, size) for size in value.shape)
                saved, step, losses = value[at], 1e-4, {}
                for shift in (-2, -1, 1, 2):
                    value[at] = saved + shift * step
                    losses[shift] = reference.loss_and_gradients(inputs, targets, 1.0)[0]
                value[at] = saved
                # Central difference of fourth order.
                slope = (8 * (losses[1] - losses[-1]) - (losses[2] - losses[-2])) / (12 * step)
                self.assertAlmostEqual(gradients[name][at], slope, delta=1e-9 * max(1, abs(slope)), msg=name)

    def test_gpt2(self):
        self.check()

    def test_relu(self):
        self.check(activation="relu")

    def test_llama(self):
        self.check(norm="rmsnorm", activation="swiglu", positions="rotary", kv_heads=2, bias=False, tied_head=True)

    def test_geglu_with_one_group_and_rotary_biases(self):
        self.check(activation="geglu", positions="rotary", kv_heads=1)

    def test_attention_is_causal(self):
        parameters = random_parameters(MODEL, np.random.default_rng(4))
        model = Model(MODEL, NoCasts(), parameters)
        one = model.forward(np.array([1, 2, 3, 4, 5]))
        other = model.forward(np.array([1, 2, 3, 9, 10]))
        np.testing.assert_array_equal(one[:3], other[:3])
        self.assertGreater(np.abs(one[3:] - other[3:]).min(), 0)


class Formats(unittest.TestCase):
    def test_casts_by_hand(self):
        # Value, E4M3, E5M2. Ties: 17, 19 and 1.0625 lie between two E4M3 values, 18 between two E5M2 values.
        for x, e4m3, e5m2 in ((1, 1, 1), (0.1, 0.1015625, 0.09375), (0.3952, 0.40625, 0.375), (17, 16, 16),
                              (18, 18, 16), (19, 20, 20), (1.0625, 1, 1), (1.1875, 1.25, 1.25), (464, 448, 448),
                              (480, 448, 512), (61440, 448, 57344), (2.0**-10, 0, 2.0**-10), (2.0**-17, 0, 0),
                              (3 * 2.0**-10, 2 * 2.0**-9, 3 * 2.0**-10), (-0.0, 0, 0), (-17, -16, -16)):
            self.assertEqual(nearest(np.float64(x), E4M3), e4m3)
            self.assertEqual(nearest(np.float64(x), E5M2), e5m2)
        halves = nearest(np.array([0.25, 0.26, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 5.1, 9.0]), E2M1)
        np.testing.assert_array_equal(halves, [0, 0.5, 1, 1, 2, 2, 4, 4, 6, 6])
        self.assertEqual(nearest(np.float64(1 + 2.0**-8), BF16), 1)
        self.assertEqual(nearest(np.float64(1 + 3 * 2.0**-8), BF16), 1 + 2.0**-6)

    def test_codes_by_hand(self):
        for fmt, code, value in ((E4M3, 0x38, 1), (E4M3, 0x7E, 448), (E4M3, 0x01, 2.0**-9), (E4M3, 0x2D, 0.40625),
                                 (E4M3, 0xD8, -16), (E5M2, 0x3C, 1), (E5M2, 0x7B, 57344), (E5M2, 0x01, 2.0**-16),
                                 (E5M2, 0x2E, 0.09375), (E2M1, 0x7, 6), (E2M1, 0x1, 0.5), (E2M1, 0xB, -1.5)):
            self.assertEqual(values_of_codes(fmt)[code], value)
        self.assertEqual([np.isfinite(values_of_codes(fmt)).sum() for fmt in (E4M3, E5M2, E2M1)], [254, 248, 16])
        np.testing.assert_array_equal(decode(np.array([[0x21, 0xF0]], np.uint8), E2M1), [[0.5, 1, 0, -6]])
        np.testing.assert_array_equal(decode(np.array([[0x3FC0]], np.uint16), BF16), [[1.5]])

    def test_rounding_keeps_every_value(self):
        for fmt in (E4M3, E5M2, E2M1):
            values = values_of_codes(fmt)
            values = values[np.isfinite(values)]
            np.testing.assert_array_equal(nearest(values, fmt), values)
            np.testing.assert_array_equal(stochastic(values, fmt, np.zeros_like(values)), values)

    def test_stochastic_rounding_by_hand(self):
        # 2.25 is a quarter of the way from 2 to 3, −0.4 four fifths of the way from 0 to −0.5.
        y = np.array([2.25, 2.25, -0.4, -0.4, 7.0])
        np.testing.assert_array_equal(stochastic(y, E2M1, np.array([0.24, 0.25, 0.79, 0.81, 0.0])), [3, 2, -0.5, 0, 6])


class Recipes(unittest.TestCase):
    def recipe(self, kind, **settings):
        return quantise.RECIPES[kind](RECIPE | {"recipe": kind} | settings, Arbiter(None))

    def test_delayed_history_by_hand(self):
        # L = 4, E4M3: scales used by casts with these amax values; 8 leaves the window after it has counted four times.
        for algo, scales in (("max", [1, 224, 56, 56, 56, 56, 448, 448]),
                             ("most_recent", [1, 224, 56, 448, 448, 448, 448, 448])):
            recipe = self.recipe("delayed", amax_algo=algo)
            used = []
            for amax in (2, 8, 1, 1, 1, 1, 1, 0):
                recipe.cast(WEIGHT, np.array([[amax, -amax / 2]]), 0, {})
                used.append(recipe.scales[0])
                recipe.end_step()
            self.assertEqual(used, scales)

    def test_delayed_clips_with_the_old_scale_and_takes_the_largest_amax_of_a_step(self):
        recipe = self.recipe("delayed", margin=1)
        recipe.cast(GRADIENT, np.array([[4.0]]), 0, {})
        recipe.cast(GRADIENT, np.array([[1.0]]), 0, {})
        recipe.end_step()
        self.assertEqual(recipe.scales[2], 57344 / 2 / 4)
        cast = recipe.cast(GRADIENT, np.array([[16.0]]), 0, {})
        self.assertAlmostEqual(cast.columns[0, 0], 8, delta=1e-6)  # 16 · 7168 saturates at 57344

    def test_current_scales_by_hand(self):
        for amax, scale, power in ((1, 448, 256), (3, 149.3333282470703125, 128), (4, 112, 64), (0.5, 896, 512),
                                   (500, np.float64(np.float32(0.896)), 0.5), (0, 1, 1)):
            self.assertEqual(self.recipe("current").scale_of_amax(448.0, np.float64(amax)), scale)
            recipe = self.recipe("current", power_of_two_scales="on")
            self.assertEqual(recipe.scale_of_amax(448.0, np.float64(amax)), power)
        self.assertEqual(self.recipe("current", amax_epsilon=4.0).scale_of_amax(448.0, np.float64(1)), 112)

    def test_block_scales_only_its_block(self):
        x = np.full((128, 256), 0.3)
        x[5, 7] = 448.0
        cast = self.recipe("block").cast(INPUT, x, 0, {})
        # Scale 1 for row 5 (0.3 → 0.3125); 1024 elsewhere (307.2 → 320 at a spacing of 32).
        self.assertEqual(cast.columns[5, 8], 0.3125)
        self.assertEqual(cast.columns[6, 7], 320 / 1024)
        self.assertEqual(cast.columns[5, 200], 320 / 1024)
        tile = self.recipe("block").cast(WEIGHT, x, 0, {})
        self.assertEqual(tile.rows[100, 100], 0.3125)
        x[5, 7] = 300.0
        cast = self.recipe("block", power_of_two_scales="off").cast(INPUT, x, 0, {})
        scale = np.float64(np.float32(448) / np.float32(300))
        self.assertEqual(cast.columns[5, 8], 0.4375 * np.float64(np.float32(1 / scale)))  # 0.448 → 0.4375
        self.assertEqual(cast.rows[6, 7], 0.4375 * np.float64(np.float32(1 / scale)))
        self.assertAlmostEqual(cast.rows[6, 6], 0.3, delta=1e-7)  # its own amax, cast to 448

    def test_mxfp8_exponents_by_hand(self):
        code = quantise.MxFp8.scale_code
        for amax, e4m3 in ((0, 0), (1, 119), (3, 120), (447, 127), (448, 127), (449, 128), (896, 128)):
            self.assertEqual(code(np.float64(amax), E4M3), e4m3)
        self.assertEqual(code(np.float64(57344), E5M2), 127)
        x = np.ones((32, 64))
        x[3, 40] = 449.0  # 2 for its blocks: 1 stays, 449/2 = 224.5 → 224
        cast = self.recipe("mxfp8").cast(INPUT, x, 0, {})
        self.assertEqual((cast.columns[3, 40], cast.rows[3, 40], cast.columns[3, 0]), (448, 448, 1))

    def test_nvfp4_scales_by_hand(self):
        x = np.full((16, 32), 0.25)
        x[0, 0] = 1.0
        cast = self.recipe("nvfp4", hadamard=False).cast(INPUT, x, 0, {})
        # Encode 2688. Blocks with 1: scale 448, 0.25 → 1.5. Others: 112, 0.25 → 6. All exact but for fl32(1/2688).
        inverse = np.float64(np.float32(1 / 2688))
        self.assertEqual(cast.columns[0, 0], 6 * 448 * inverse)
        self.assertEqual(cast.columns[0, 5], 1.5 * 448 * inverse)
        self.assertEqual(cast.columns[3, 5], 6 * 112 * inverse)
        self.assertEqual(cast.rows[9, 0], 1.5 * 448 * inverse)
        self.assertEqual(cast.rows[9, 1], 6 * 112 * inverse)

    def test_hadamard_transform_cancels_in_a_product(self):
        generator = np.random.default_rng(1)
        a, b = generator.normal(size=(2, 48, 5))
        transform = quantise.NvFp4.transform
        np.testing.assert_allclose(transform(a).T @ transform(b), a.T @ b, rtol=0, atol=1e-13)
        # Column 3 of the matrix has sign −1 and the pattern + − − + of its order.
        unit = np.zeros((16, 1))
        unit[3] = 1.0
        np.testing.assert_array_equal(transform(unit)[:8, 0] * 4, [-1, 1, 1, -1, -1, 1, 1, -1])

    def test_random_bits_are_splitmix64(self):
        # First output of the published generator from state 0, and from state 1.
        self.assertEqual(int(counter_noise.mix(0)), 0xE220A8397B1DCDAF)
        self.assertEqual(int(counter_noise.mix(1)), 0x910A2DEC89025CC1)
        uniform = counter_noise.uniforms(7, 64, 64)
        self.assertTrue(0 <= uniform.min() < 0.01 and 0.99 < uniform.max() < 1)
        self.assertAlmostEqual(uniform.mean(), 0.5, delta=0.02)


class Arbitration(unittest.TestCase):
    def test_only_what_is_undecided_follows_the_engine(self):
        arbiter = Arbiter(1e-4)
        y = np.array([1.0625 + 1e-5, 1.05, 1.0625 + 1e-5, -1.1875])
        engine = np.array([1.0, 1.0, 1.25, -1.125])
        result = arbiter.round("x", lambda v, _at: nearest(v, E4M3), y, 1.0, engine)
        np.testing.assert_array_equal(result, [1.0, 1.0, 1.125, -1.125])
        self.assertEqual((arbiter.compared, arbiter.undecided, arbiter.refuted), (4, 2, 1))

    def test_scales_and_numbers_that_are_no_codes_are_refuted(self):
        arbiter = Arbiter(1e-6)
        arbiter.scale("s", quantise.power_of_two_below, np.array([4.0, 5.0]), 0.0, np.array([2.0, 2.0]))
        arbiter.round("x", lambda v, _at: nearest(v, E4M3), np.array([448.0]), 0.0, np.array([np.nan]))
        arbiter.compare("c", np.array([1.0]), 0.0, np.array([1.0 + 1e-5]))
        self.assertEqual((arbiter.compared, arbiter.undecided, arbiter.refuted), (4, 1, 3))
        result = arbiter.compare("c", np.array([1.0, 2.0]), 0.0, np.array([1.0 + 1e-5, 2.0]), slack=1e-4)
        np.testing.assert_array_equal(result, [1.0 + 1e-5, 2.0])
        self.assertEqual((arbiter.followed, arbiter.refuted), (1, 3))
        arbiter.refuse("another format")
        self.assertEqual((arbiter.refuted, arbiter.first_refuted), (4, "s"))

    def test_on_its_own_it_takes_nothing_over(self):
        result = Arbiter(None).round("x", lambda v, _at: nearest(v, E4M3), np.array([1.0625]), 1.0, np.array([1.125]))
        self.assertEqual(result[0], 1.0)


class Optimizer(unittest.TestCase):
    def test_first_step_by_hand(self):
        train = {"precision": "fp32", "keep_fp32": "", "keep_bf16": "", "seed": 1, "accumulate": 1, "steps": 10,
                 "warmup_steps": 4, "lr": 0.1, "grad_clip": 1.0, "weight_decay": 0.5, "beta1": 0.9, "beta2": 0.95,
                 "weights": "fp32"}
        model = MODEL | {"layers": 0}
        parameters = random_parameters(model, np.random.default_rng(2))
        before = dict(parameters)
        training = Training({"model": model, "recipe": RECIPE, "train": train}, parameters, Arbiter(None), NoDump())
        rates = [training.learning_rate(step) for step in range(10)]
        np.testing.assert_allclose(rates[:5], [0.025, 0.05, 0.075, 0.1, 0.1])
        self.assertAlmostEqual(rates[7], 0.055)  # halfway between the peak and a tenth of it
        tokens = np.arange(5)
        _loss, gradients, norm, rate = training.run_step(0, [(tokens, tokens + 1)])
        self.assertGreater(norm, 1.0)
        # The first step of Adam is the gradient's sign, up to ε beside the clipped gradient.
        g = gradients["final_norm.bias"] / norm
        np.testing.assert_allclose(parameters["final_norm.bias"],
                                   before["final_norm.bias"] - rate * g / (np.abs(g) + 1e-8), rtol=1e-12)
        g = gradients["lm_head.weight"] / norm
        w = before["lm_head.weight"]
        np.testing.assert_allclose(parameters["lm_head.weight"], w - rate * (g / (np.abs(g) + 1e-8) + 0.5 * w),
                                   rtol=1e-12)


if __name__ == "__main__":
    unittest.main()

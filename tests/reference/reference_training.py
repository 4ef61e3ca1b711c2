"""Training steps of the reference: casts of the run's operands, gradient accumulation, clipping, AdamW, schedule."""
import fnmatch

import numpy as np

import counter_noise
from quantise import RECIPES, Bf16, Cast, Operand, rms
from reference_model import Model

ROLES = ("input", "weight", "grad_output")
ADAM_EPSILON = 1e-8
# What FP32 may put a gradient off by, as a share of the element and its tensor's root mean square together.
GRADIENT_ERROR = 1e-5


class OperandCasts:
    """Chooses how each Linear's operands are cast, and keeps a step's weights."""

    def __init__(self, config, arbiter, dump):
        self.train = config["train"]
        self.dump = dump  # what the engine holds, or nothing at all
        self.arbiter = arbiter
        self.bf16 = Bf16(arbiter)
        self.recipe = RECIPES[config["recipe"]["recipe"]](config["recipe"], arbiter)
        self.operands = {}
        self.weights = {}
        self.stored = {}

    def add_layer(self, layer):
        for role in ROLES:
            slot = sum(self.precision(operand.layer) == "fp8" for operand in self.operands.values())
            self.operands[layer, role] = Operand(layer, role, slot)

    def precision(self, layer):
        def listed(patterns):
            return any(fnmatch.fnmatchcase(layer, pattern) for pattern in patterns.split(","))

        if self.train["precision"] == "fp32" or listed(self.train["keep_fp32"]):
            return "fp32"
        return "bf16" if listed(self.train["keep_bf16"]) else self.train["precision"]

    def begin_micro_batch(self, step, micro_batch):
        self.step, self.micro_batch = step, micro_batch
        self.noise = self.noise_of(step, micro_batch)
        if micro_batch == 0:
            self.weights = dict(self.stored)

    def noise_of(self, step, micro_batch):
        return counter_noise.micro_batch_key(self.train["seed"], step * self.train["accumulate"] + micro_batch)

    def cast(self, layer, role, x):
        """Weights are cast once a step."""
        if role == "weight" and layer in self.weights:
            return self.weights[layer]
        cast = self.cast_like(layer, role, x, self.step, self.micro_batch)
        if role == "weight":
            self.weights[layer] = cast
        return cast

    def cast_like(self, layer, role, x, step, micro_batch):
        precision = self.precision(layer)
        if precision == "fp32":
            return Cast(x, x)
        held = self.dump.operand(step, micro_batch, layer, role)
        if held is not None and ("data" not in held or (precision == "fp8") != ("scale" in held)):
            self.arbiter.refuse(f"{layer} {role}: the engine has it in another precision")
            held = None
        return (self.bf16 if precision == "bf16" else self.recipe).cast(
            self.operands[layer, role], x, self.noise, held)

    def store(self, layer, weight, step):
        """A weight that lives quantised; `step` is the one that will use it."""
        self.stored[layer] = self.cast_like(layer, "weight", weight, step, 0)

    def store_initial(self, layer, weight):
        self.noise = 0
        self.store(layer, weight, 0)
        if hasattr(self.recipe, "forget_amax"):
            self.recipe.forget_amax(self.operands[layer, "weight"])


class Training:
    def __init__(self, config, parameters, arbiter, dump):
        self.config = config
        self.train = config["train"]
        self.parameters = parameters
        self.arbiter = arbiter
        self.dump = dump
        self.casts = OperandCasts(config, arbiter, dump)
        self.model = Model(config["model"], self.casts, parameters)
        for linear in self.model.linears():
            self.casts.add_layer(linear.name)
        self.first = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.second = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.updates = 0
        for linear in self.stored_linears():
            self.casts.store_initial(linear.name, parameters[linear.weight_name])

    def stored_linears(self):
        if self.train["weights"] == "fp32":
            return []
        return [linear for linear in self.model.linears()
                if self.casts.precision(linear.name) == "fp8" and linear.weight_name.startswith(linear.name)]

    def learning_rate(self, step):
        """Linear warm-up, then half a cosine from the peak to a tenth of it."""
        warmup = min(self.train["warmup_steps"], self.train["steps"] // 2)
        if step < warmup:
            return self.train["lr"] * (step + 1) / warmup
        progress = (step - warmup) / (self.train["steps"] - warmup)
        return self.train["lr"] * (0.1 + 0.9 * (1 + np.cos(np.pi * progress)) / 2)

    def run_step(self, step, micro_batches):
        """micro_batches: (inputs, targets) in turn. Returns loss, gradients before clipping, norm, learning rate."""
        loss, gradients = 0.0, {}
        for index, (inputs, targets) in enumerate(micro_batches):
            self.casts.begin_micro_batch(step, index)
            share = 1 / len(micro_batches)
            part, summands = self.model.loss_and_gradients(inputs, targets, share)
            loss += part * share
            for name, summand in summands.items():
                gradients[name] = gradients.get(name, 0) + summand
        norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        rate = self.learning_rate(step)
        self.update(step, gradients, norm, rate)
        self.casts.recipe.end_step()
        return loss, gradients, norm, rate

    def decays(self, value):
        """Matrices only."""
        return value.ndim == 2

    def update(self, step, gradients, norm, rate):
        """AdamW with decoupled weight decay, on gradients clipped to a global norm."""
        clip = self.train["grad_clip"]
        factor = clip / norm if 0 < clip < norm else 1.0
        self.updates += 1
        beta1, beta2 = self.train["beta1"], self.train["beta2"]
        stored = {linear.weight_name: linear.name for linear in self.stored_linears()}
        for name, value in self.parameters.items():
            g = gradients[name] * factor
            self.first[name] = beta1 * self.first[name] + (1 - beta1) * g
            self.second[name] = beta2 * self.second[name] + (1 - beta2) * g**2
            mean = self.first[name] / (1 - beta1**self.updates)
            deviation = np.sqrt(self.second[name] / (1 - beta2**self.updates))
            decay = self.train["weight_decay"] if self.decays(value) else 0.0
            if name in stored and self.train["weights"] == "fp8":
                value = self.casts.stored[stored[name]].columns  # all there is of it
            value = value - rate * (mean / (deviation + ADAM_EPSILON) + decay * value)
            slack = GRADIENT_ERROR * (np.abs(g) + rms(g)) / (deviation + ADAM_EPSILON)
            value = self.arbiter.compare(name, value, rms(value), self.dump.updated(step, name),
                                         rate * np.minimum(slack, 2.0))
            self.parameters[name] = value
            if name in stored:
                self.casts.store(stored[name], value, step + 1)

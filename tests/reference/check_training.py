#!/usr/bin/env python3
"""Trains the reference beside the engine and compares loss and every gradient tensor, step by step.

Usage: check_training.py --tool TRAINING_DUMP [--alone | --mistakes] [--verbose] CONFIGURATION

Plain: both start from the engine's initial parameters and see the same tokens; after that the reference goes its own
way for ten steps. It follows the engine only in roundings that FP32 cannot decide (arbiter.py).
--alone: not even in those. --mistakes: the reference makes each of the mistakes that configurations.py lists, and each
has to be noticed. Limits are read from the table in README.md.

Exit code: 0 within the limits, 1 beyond, 77 without numpy.
"""
import argparse
import copy
import os
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no numpy (Debian: python3-numpy)")
    sys.exit(77)

import engine_dump
from arbiter import Arbiter
from configurations import CONFIGURATIONS, MISTAKES
from reference_training import Training

# What FP32 may be off by when the engine casts, as a share of an element and its tensor's root mean square together.
WINDOW = 1e-5


class Limits:
    """One row of README.md's table: | configuration | loss | gradient | undecided | alone: loss | alone: gradient |"""

    def __init__(self, configuration):
        text = (pathlib.Path(__file__).parent / "README.md").read_text(encoding="utf-8")
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if cells[0] == f"`{configuration}`":
                numbers = [float(cell) for cell in cells[1:6]]
                self.loss, self.gradient, self.undecided, self.alone_loss, self.alone_gradient = numbers
                return
        raise SystemExit(f"README.md has no row of limits for `{configuration}`: add one")


class Errors:
    """Largest error of each kind up to now, and where it was."""

    def __init__(self):
        self.largest = {}

    def add(self, kind, error, where):
        error = float(error)
        if not error <= self.largest.get(kind, (-1.0, ""))[0]:  # NaN counts as largest
            self.largest[kind] = (error, where)

    def __getitem__(self, kind):
        return self.largest.get(kind, (0.0, ""))[0]

    def __str__(self):
        return ", ".join(f"{kind} {error:.2e} ({where})" for kind, (error, where) in self.largest.items())


def distance(engine, reference):
    """Euclidean norm of the difference relative to the reference's."""
    norm = np.linalg.norm(reference)
    return np.linalg.norm(engine - reference) / norm if norm > 0 else np.linalg.norm(engine)


def start(dump, arbiter, mistake=None, alone=False):
    config = dump.config()
    if mistake:
        mistake.config(config)
    parameters = {name: value.astype(np.float64) for name, value in dump.under("parameter/").items()}
    training = Training(config, parameters, arbiter, engine_dump.NoDump() if alone else dump)
    if mistake:
        mistake.training(training)
    return training


def compare_step(dump, training, step, errors, verbose=False):
    loss, gradients, norm, rate = training.run_step(step, dump.micro_batches(step))
    errors.add("loss", abs(dump.number(step, "loss") - loss) / loss, f"step {step}")
    errors.add("norm", abs(dump.number(step, "grad_norm") - norm) / norm, f"step {step}")
    errors.add("rate", abs(dump.number(step, "lr") - rate) / rate, f"step {step}")
    engine = dump.under(f"step.{step}/gradient/")
    if engine.keys() != gradients.keys():
        raise SystemExit(f"the gradients differ in name: {sorted(engine.keys() ^ gradients.keys())}")
    for name in engine:
        error = distance(engine[name], gradients[name])
        errors.add("gradient", error, f"step {step} {name}")
        if verbose:
            print(f"  step {step} {name}: {error:.2e}")
    if verbose:
        print(f"step {step}: loss {loss:.6f}, norm {norm:.4f}; so far {errors}")


def train(dump, training, errors, verbose):
    initial = dict(training.parameters)
    steps = training.train["steps"]
    for step in range(steps):
        compare_step(dump, training, step, errors, verbose)
    # How far the parameters went says whether the last update, which no gradient shows, was right too.
    for name, engine in dump.under(f"step.{steps - 1}/updated/").items():
        errors.add("update", distance(engine - initial[name], training.parameters[name] - initial[name]), name)


def beyond(errors, arbiter, limits):
    """What exceeds the limits, in words; empty: nothing does."""
    found = []
    for kind, limit in (("loss", limits.loss), ("norm", limits.gradient), ("rate", 1e-12),
                        ("gradient", limits.gradient)):
        if not errors[kind] <= limit:
            found.append(f"{kind} error {errors[kind]:.2e} > {limit:.0e}")
    if arbiter.refuted:
        found.append(f"{arbiter.refuted} roundings differ, first in {arbiter.first_refuted}")
    open_questions = arbiter.undecided + arbiter.followed
    if open_questions > limits.undecided * arbiter.compared:
        found.append(f"{open_questions} of {arbiter.compared} roundings are undecided")
    return found


def check(dump, limits, verbose):
    arbiter, errors = Arbiter(WINDOW), Errors()
    train(dump, start(dump, arbiter), errors, verbose)
    print(f"{errors}; of {arbiter.compared} roundings {arbiter.undecided} casts and {arbiter.followed} updates are "
          f"undecided, {arbiter.refuted} are refuted")
    return beyond(errors, arbiter, limits)


def check_alone(dump, limits, verbose):
    errors = Errors()
    train(dump, start(dump, Arbiter(None), alone=True), errors, verbose)
    print(errors)
    return [f"{kind} error {errors[kind]:.2e} > {limit:.0e}"
            for kind, limit in (("loss", limits.alone_loss), ("gradient", limits.alone_gradient))
            if not errors[kind] <= limit]


def check_mistakes(dump, limits, mistakes):
    missed = []
    for name, mistake in mistakes.items():
        arbiter, errors = Arbiter(WINDOW), Errors()
        training = start(dump, arbiter, mistake)
        for step in range(dump.config()["train"]["steps"]):
            compare_step(dump, training, step, errors)
            found = beyond(errors, arbiter, limits)
            if found:
                print(f"{name}: noticed in step {step}: {'; '.join(found)}")
                break
        else:
            missed.append(f"not noticed: {name}: {errors}")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("configuration", choices=CONFIGURATIONS)
    parser.add_argument("--tool", required=True, help="the training_dump program")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--mistakes", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="every gradient tensor of every step")
    arguments = parser.parse_args()
    limits = Limits(arguments.configuration)
    with tempfile.TemporaryDirectory() as folder:
        dump = engine_dump.run(arguments.tool, CONFIGURATIONS[arguments.configuration], os.path.join(folder, "dump"))
    if arguments.mistakes:
        failures = check_mistakes(dump, limits, MISTAKES[arguments.configuration])
    elif arguments.alone:
        failures = check_alone(dump, limits, arguments.verbose)
    else:
        failures = check(dump, limits, arguments.verbose)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

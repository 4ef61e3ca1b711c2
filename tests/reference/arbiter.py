"""Who decides where FP32 arithmetic cannot.

The engine computes in FP32, the reference in float64. A number that lies closer to the border between two codes than
FP32's error may fall on either side; one such element changes its product by far more than the error that caused it, and
the change spreads until the two runs have nothing but their statistics in common. So where, and only where, a rounding
is undecided, the reference follows the engine. For every rounding f, all of which are monotone, the engine's result is
accepted if it lies between f(y − w) and f(y + w). Any other is refuted: it is counted, and the reference goes on with
its own. AdamW divides a gradient by its own size, which is as undecided where the gradient is near zero.
"""
import numpy as np


class Arbiter:
    """`window`: the error w that FP32 is granted, as a share of |y| + size, where size is the root mean square of the
    tensor that y is an element of, in the units of y. None: the reference decides alone."""

    def __init__(self, window):
        self.window = window
        self.compared = 0
        self.undecided = 0  # roundings
        self.followed = 0  # numbers of full precision
        self.refuted = 0
        self.first_refuted = None

    def round(self, what, rounding, y, size, engine):
        """rounding(y, ...), where rounding(part, at) rounds the part of y that y[at] is. `size` is as large as y or a
        number. `engine`: what the engine has there, or None."""
        own = rounding(y, ...)
        if engine is None or self.window is None:
            return own
        at = np.nonzero(engine != own)
        width = self._width(y, size, at)
        low, high = rounding(y[at] - width, at), rounding(y[at] + width, at)
        return self._settle(what, own, engine, at, low, high)

    def scale(self, what, formula, amax, size, engine):
        """formula(amax), elementwise, for scales with few significant bits."""
        own = formula(amax)
        if engine is None or self.window is None:
            return own
        at = np.nonzero(engine != own)
        width = self._width(amax, size, at)
        low, high = np.sort([formula(np.maximum(amax[at] - width, 0)), formula(amax[at] + width)], axis=0)
        return self._settle(what, own, engine, at, low, high)

    def compare(self, what, own, size, engine, slack=0.0):
        """Numbers of full precision, accepted if they differ by no more than FP32's error and `slack`. The reference
        goes on with the engine's where the difference is one that later roundings might see."""
        if engine is None or self.window is None:
            return own
        difference = np.abs(engine - own)
        at = np.nonzero(~(difference <= self._width(own, size, ...) / 8))
        allowed = np.broadcast_to(slack, own.shape)[at] + self._width(own, size, at)
        before = self.undecided
        settled = self._settle(what, own, engine, at, own[at] - allowed, own[at] + allowed)
        self.followed += self.undecided - before
        self.undecided = before
        return settled

    def refuse(self, what):
        """The engine holds something else altogether: another format, other blocks, or nothing."""
        self._refute(what, 1)

    def _width(self, y, size, at):
        return self.window * (np.abs(y[at]) + np.broadcast_to(size, y.shape)[at])

    def _settle(self, what, own, engine, at, low, high):
        accepted = (low <= engine[at]) & (engine[at] <= high)
        self.compared += own.size
        self.undecided += np.count_nonzero(accepted)
        self._refute(what, np.count_nonzero(~accepted))
        settled = own.copy()
        settled[at] = np.where(accepted, engine[at], own[at])
        return settled

    def _refute(self, what, count):
        self.refuted += count
        if count and self.first_refuted is None:
            self.first_refuted = what

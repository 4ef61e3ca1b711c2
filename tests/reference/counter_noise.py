"""The engine's random bits, a pure function of key and index (documented in engine/src/random.h): SplitMix64's
finaliser over a key and a counter, in 64-bit arithmetic that wraps around."""
import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
NOISE = 0x6E6F697365  # "noise", mixed into the seed


def mix(x):
    with np.errstate(over="ignore"):
        x = np.asarray(x, dtype=np.uint64) + GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def micro_batch_key(seed, index):
    """Key of micro-batch number `index` of a run."""
    return int(mix(mix(seed ^ NOISE) ^ np.uint64(index)))


def copy_key(micro_batch, slot, copy):
    """Key of one cast: the run's quantised operands are numbered by `slot`, and each has up to two copies."""
    return int(mix((micro_batch + 2 * slot + copy) % 2**64))


def uniforms(key, rows, cols):
    """One number in [0, 1) with 24 bits for each element of a matrix; two elements share 64 bits."""
    index = np.arange(rows * cols, dtype=np.uint64)
    bits = mix(mix(key) ^ (index // np.uint64(2))) >> (index % np.uint64(2) * np.uint64(32))
    return ((bits & np.uint64(0xFFFFFFFF)) >> np.uint64(8)).astype(np.float64).reshape(rows, cols) * 2.0**-24

"""The workloads in Numba: loops, compiled parallel or not, with fast-math flags or without."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numba
import numpy as np
from numba import prange

from benchmarks.peers.peer import Program, Tool
from benchmarks.peers.workloads import ITERATIONS, Array


def dot(x: Array, y: Array) -> Any:  # Any: a number of the element type
    """A reduction."""
    total = x.dtype.type(0)
    for i in prange(len(x)):
        total += x[i] * y[i]
    return total


def saxpy(x: Array, y: Array) -> Array:
    """One loop."""
    found, a = np.empty_like(x), x.dtype.type(2.5)
    for i in prange(len(x)):
        found[i] = a * x[i] + y[i]
    return found


def mapchain(x: Array) -> Array:
    """One loop."""
    found, a, b = np.empty_like(x), x.dtype.type(1.5), x.dtype.type(0.25)
    for i in prange(len(x)):
        found[i] = ((x[i] * a + b) * a + b) * a + b
    return found


def blackscholes(prices: Array, strikes: Array, years: Array) -> tuple[Array, Array]:
    """One loop."""
    call, put, real = np.empty_like(prices), np.empty_like(prices), prices.dtype.type
    for i in prange(len(prices)):
        deviation = math.sqrt(years[i]) * real(0.3)
        d1 = (math.log(prices[i] / strikes[i]) + years[i] * real(0.065)) / deviation
        d2 = d1 - deviation
        discounted = strikes[i] * math.exp(years[i] * real(-0.02))
        n1 = math.erfc(d1 * real(-0.7071067811865476)) * real(0.5)
        n2 = math.erfc(d2 * real(-0.7071067811865476)) * real(0.5)
        call[i] = prices[i] * n1 - discounted * n2
        put[i] = discounted * (real(1) - n2) - prices[i] * (real(1) - n1)
    return call, put


def normalise2(x: Array) -> tuple[Array, Array]:
    """Two loops; the first is sequential, for it carries the running sum."""
    total, running = x.dtype.type(0), x.dtype.type(0)
    for i in range(len(x)):
        total += x[i]
        running += total
    first, second = np.empty_like(x), np.empty_like(x)
    for i in prange(len(x)):
        first[i] = x[i] / total
        second[i] = x[i] / running
    return first, second


def normfilter(x: Array) -> tuple[Array, Array]:
    """Two loops."""
    total, part = x.dtype.type(0), x.dtype.type(0)
    for i in prange(len(x)):
        total += x[i]
        part += x[i] if x[i] > 0 else x.dtype.type(0)
    first, second = np.empty_like(x), np.empty_like(x)
    for i in prange(len(x)):
        first[i] = x[i] / total
        second[i] = x[i] / part
    return first, second


def singleloop(x: Array) -> Array:
    """One loop."""
    found, real, last = np.empty_like(x), x.dtype.type, len(x) - 1
    for i in prange(len(x)):
        tripled = x[i] * real(3) + real(1)
        found[i] = x[last - i] + tripled + (tripled - real(7))
    return found


def gather(places: Array, x: Array) -> Array:
    """One loop, which checks no bounds."""
    found = np.empty_like(x)
    for i in prange(len(places)):
        found[i] = x[places[i]]
    return found


def hist256(keys: Array) -> Array:
    """Counts for each of 16 parts, and their sums."""
    counts = np.zeros((16, 256), np.int32)
    for part in prange(16):
        for i in range(len(keys) * part // 16, len(keys) * (part + 1) // 16):
            counts[part, keys[i]] += 1
    found: Array = counts.sum(axis=0)
    return found


def hist1e6(keys: Array) -> Array:
    """A sequential loop: counts of their own for each thread cost more than they gain."""
    counts = np.zeros(1000000, np.int32)
    for i in range(len(keys)):
        counts[keys[i]] += 1
    return counts


def prefixsum(x: Array) -> Array:
    """Sums of 16 parts, and then each part from its start."""
    parts, count = 16, len(x)
    sums, found = np.zeros(parts + 1, x.dtype), np.empty_like(x)
    for part in prange(parts):
        total = x.dtype.type(0)
        for i in range(count * part // parts, count * (part + 1) // parts):
            total += x[i]
        sums[part + 1] = total
    for part in range(parts):
        sums[part + 1] += sums[part]
    for part in prange(parts):
        total = sums[part]
        for i in range(count * part // parts, count * (part + 1) // parts):
            total += x[i]
            found[i] = total
    return found


def prefixsum_serial(x: Array) -> Array:
    """One loop."""
    found, total = np.empty_like(x), x.dtype.type(0)
    for i in range(len(x)):
        total += x[i]
        found[i] = total
    return found


def compact(x: Array) -> Array:
    """Counts of 16 parts, and then each part to its place; without branches, one place is written too often."""
    parts, count = 16, len(x)
    sizes = np.zeros(parts + 1, np.int64)
    for part in prange(parts):
        kept = 0
        for i in range(count * part // parts, count * (part + 1) // parts):
            kept += x[i] > 0
        sizes[part + 1] = kept
    for part in range(parts):
        sizes[part + 1] += sizes[part]
    found = np.empty(sizes[parts], x.dtype)
    for part in prange(parts):
        place = sizes[part]
        for i in range(count * part // parts, count * (part + 1) // parts):
            if x[i] > 0:
                found[place] = x[i]
                place += 1
    return found


def softmax(x: Array) -> Array:
    """Row by row."""
    found = np.empty_like(x)
    for i in prange(x.shape[0]):
        greatest = x[i, 0]
        for j in range(x.shape[1]):
            greatest = max(greatest, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            found[i, j] = math.exp(x[i, j] - greatest)
            total += found[i, j]
        for j in range(x.shape[1]):
            found[i, j] /= total
    return found


def jacobi1(x: Array) -> Array:
    """One loop nest."""
    found, quarter = x.copy(), x.dtype.type(0.25)
    for i in prange(x.shape[0] - 2):
        for j in range(1, x.shape[1] - 1):
            found[i + 1, j] = (x[i, j] + x[i + 2, j] + x[i + 1, j - 1] + x[i + 1, j + 1]) * quarter
    return found


def jacobi20(x: Array) -> Array:
    """Two arrays in turn."""
    here, there, quarter = x.copy(), x.copy(), x.dtype.type(0.25)
    for _ in range(10):
        for i in prange(x.shape[0] - 2):
            for j in range(1, x.shape[1] - 1):
                there[i + 1, j] = (here[i, j] + here[i + 2, j] + here[i + 1, j - 1] + here[i + 1, j + 1]) * quarter
        for i in prange(x.shape[0] - 2):
            for j in range(1, x.shape[1] - 1):
                here[i + 1, j] = (there[i, j] + there[i + 2, j] + there[i + 1, j - 1] + there[i + 1, j + 1]) * quarter
    return here


def mandelbrot(real: Array, imaginary: Array) -> Array:
    """Point by point."""
    found, number = np.empty(real.shape, np.int32), real.dtype.type
    for i in prange(real.shape[0]):
        for j in range(real.shape[1]):
            a, b = real[i, j], imaginary[i, j]
            x, y, count = number(0), number(0), 0
            while x * x + y * y <= number(4) and count < ITERATIONS:
                x, y = x * x - y * y + a, number(2) * x * y + b
                count += 1
            found[i, j] = count
    return found


def nbody(x: Array, y: Array, z: Array, masses: Array) -> tuple[Array, Array, Array]:
    """Body by body."""
    fx, fy, fz, real = np.empty_like(x), np.empty_like(x), np.empty_like(x), x.dtype.type
    for i in prange(len(x)):
        ax, ay, az = real(0), real(0), real(0)
        for j in range(len(x)):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + real(0.01)
            weight = masses[j] / (square * math.sqrt(square))
            ax += weight * dx
            ay += weight * dy
            az += weight * dz
        fx[i], fy[i], fz[i] = ax, ay, az
    return fx, fy, fz


def matmul(left: Array, right: Array) -> Array:
    """Three loops, the innermost along rows."""
    found = np.zeros((left.shape[0], right.shape[1]), left.dtype)
    for i in prange(left.shape[0]):
        for k in range(left.shape[1]):
            a = left[i, k]
            for j in range(right.shape[1]):
                found[i, j] += a * right[k, j]
    return found


def rowcol(x: Array) -> tuple[Array, Array]:
    """Both from one pass, in 16 parts."""
    parts, height = 16, x.shape[0]
    rows, columns = np.empty(height, x.dtype), np.zeros((parts, x.shape[1]), x.dtype)
    for part in prange(parts):
        for i in range(height * part // parts, height * (part + 1) // parts):
            total = x.dtype.type(0)
            for j in range(x.shape[1]):
                total += x[i, j]
                columns[part, j] += x[i, j]
            rows[i] = total
    return rows, columns.sum(axis=0)


def meanvar(x: Array) -> tuple[Any, Any]:  # Any: as above
    """One loop."""
    total, squares = x.dtype.type(0), x.dtype.type(0)
    for i in prange(len(x)):
        total += x[i]
        squares += x[i] * x[i]
    mean = total / x.dtype.type(len(x))
    return mean, squares / x.dtype.type(len(x)) - mean * mean


def hull(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    """The farthest point and the number above the line of 16 parts, and then each part to its place."""
    parts, count, two = 16, len(x), x.dtype.type(2)
    best, sizes = np.zeros(parts, np.int64), np.zeros(parts + 1, np.int64)
    for part in prange(parts):
        place, above = count * part // parts, 0
        for i in range(count * part // parts, count * (part + 1) // parts):
            distance = y[i] * two - x[i]
            above += distance > 0
            if distance > y[place] * two - x[place]:
                place = i
        best[part], sizes[part + 1] = place, above
    farthest = best[0]
    for part in range(parts):
        sizes[part + 1] += sizes[part]
        if y[best[part]] * two - x[best[part]] > y[farthest] * two - x[farthest]:
            farthest = best[part]
    left, right = np.empty(sizes[parts], x.dtype), np.empty(sizes[parts], x.dtype)
    for part in prange(parts):
        place = sizes[part]
        for i in range(count * part // parts, count * (part + 1) // parts):
            if y[i] * two - x[i] > 0:
                left[place] = x[i]
                right[place] = y[i]
                place += 1
    return x[farthest : farthest + 1].reshape(()), y[farthest : farthest + 1].reshape(()), left, right


def tool(variant: str) -> Tool:
    """Numba with `parallel` and `fast` in the variant, or not."""
    parallel = "parallel" in variant
    programs = (
        dot, saxpy, mapchain, blackscholes, normalise2, normfilter, singleloop, gather, hist256, hist1e6, prefixsum,
        compact, softmax, jacobi1, jacobi20, mandelbrot, nbody, matmul, rowcol, meanvar, hull,
    )  # fmt: skip
    named: dict[str, Program] = {program.__name__: program for program in programs}
    if not parallel:
        named["prefixsum"] = prefixsum_serial
    compiled = numba.njit(parallel=parallel, fastmath="fast" in variant)
    return Tool(MappingProxyType({name: compiled(program) for name, program in named.items()}))

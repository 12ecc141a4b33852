"""Compares two files of numbers. Usage: compare.py NAME float32|uint8 EXPECTED FOUND BOUND

Of `float32`, the bound is on the mean squared difference in proportion to the mean square; of `uint8`, on the largest difference.
"""

import sys

import numpy

name, kind, expected, found, bound = sys.argv[1:]
expected, found = (numpy.fromfile(path, kind).astype(float) for path in (expected, found))
if not expected.size or expected.shape != found.shape:
    sys.exit(f"{found.size} numbers instead of {expected.size}")
difference = found - expected
if kind == "float32":
    error = (difference**2).mean() / (expected**2).mean()
else:
    error = abs(difference).max()
print(f"{name} {'near' if error <= float(bound) else 'far'} {expected.size} numbers: error {error:.2g}")

"""Compares the pictures of families.c on a GPU with those of a software renderer.

usage: families.py EXPECTED FOUND

Bytes may differ by 2 and few by more than 1, integers not at all, and floats by a 128th of their size. Formats of few bits, which
steps name, may differ by one of their steps, and a draw over a draw by two; differences of dark colours grow by the slope of sRGB, and
llvmpipe filters signed bytes in 8 bits. Edges that pass near a sample may have a few values of
another pixel.
"""

import struct
import sys
from pathlib import Path


def steps(path):
    """Returns the steps of a file: their values by name, and the kind of these."""
    data = Path(path).read_bytes()
    found, at = {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, kind, width, height = data[at:end].decode().split()
        count = int(width) * int(height) * 4
        values = struct.unpack_from(f"<{count}{'B' if kind == 'b' else kind}", data, end + 1)
        at = end + 1 + count * (1 if kind == "b" else 4)
        found[name] = kind, int(width), values
    return found


# The largest differences of bytes, and of floats for their size, of formats of few bits.
FEW_BITS = {"rgb565": 17, "rgba4": 18, "rgb5a1": 9, "r11g11b10f": 1 / 24, "blended-srgb": 13, "8snorm-sampled": 4}


def is_near(name, kind, a, b):
    """Returns true if a value is one that may be found for another."""
    coarse = next((size for format, size in FEW_BITS.items() if format in name), None)
    if kind == "b":
        return abs(a - b) <= (coarse or 2)
    if kind == "i":
        return a == b
    return a == b or abs(a - b) <= max(abs(a), abs(b)) * (coarse or 1 / 128) + (1 / 64 if coarse else 1 / 256)


expected, found = (steps(path) for path in sys.argv[1:3])
wrong = 0
for name, (kind, width, values) in expected.items():
    if name not in found:
        print(f"{name}: missing")
        wrong += 1
        continue
    others = found[name][2]
    if found[name][0] != kind or len(others) != len(values):
        sys.exit(f"{name}: of another kind")
    far = [at for at, (a, b) in enumerate(zip(values, others)) if not is_near(name, kind, a, b)]
    two = sum(abs(a - b) == 2 for a, b in zip(values, others)) if kind == "b" else 0
    if len(far) > 4 or two * 20 > len(values) and not any(format in name for format in FEW_BITS):
        at = far[0] if far else 0
        pixel = at // 4
        print(
            f"{name}: {len(far)} values of {len(values)} differ; at {pixel % width},{pixel // width}"
            f" {others[pixel * 4 : pixel * 4 + 4]} instead of {values[pixel * 4 : pixel * 4 + 4]}; by 2: {two}"
        )
        wrong += 1
for name in found.keys() - expected.keys():
    print(f"{name}: not expected")
print(f"{len(expected)} steps, {wrong} differ")
sys.exit(wrong != 0 or not expected)

"""Compares pictures of a GPU with those of a software renderer: no byte may differ by more than 2, and few by more than 1.

usage: pictures.py EXPECTED FOUND [WIDTHxHEIGHT [EDGES]]

Each file has bytes of colours, 8 bits each, or is a PNG of that size. What a driver exports in 16 bits is rounded twice. EDGES bytes
may differ by more, for triangles whose corners are rounded to other fractions of a pixel.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "desktop"))
import png

if len(sys.argv) > 3:
    expected, found = (b"".join(png.rows(name, sys.argv[3])) for name in sys.argv[1:3])
else:
    expected, found = (Path(name).read_bytes() for name in sys.argv[1:3])
edges = int(sys.argv[4]) if len(sys.argv) > 4 else 0
if len(expected) != len(found) or not expected:
    sys.exit(f"{len(found)} bytes instead of {len(expected)}")
steps = Counter(abs(a - b) for a, b in zip(expected, found))
more = sum(count for step, count in steps.items() if step > 2)
if more > edges or steps[2] * 100 > len(expected):
    worst = max(steps)
    first = next(at for at, (a, b) in enumerate(zip(expected, found)) if abs(a - b) == worst)
    sys.exit(
        f"byte {first}: {found[first]} instead of {expected[first]}; of {len(expected)} bytes {steps[2]} differ by 2, {more} by more"
    )

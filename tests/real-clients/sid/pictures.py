"""Compares pictures of a GPU with those of a software renderer: no byte may differ by more than 2, and few by more than 1.

usage: pictures.py EXPECTED FOUND

Each file has bytes of colours, 8 bits each. What a driver exports in 16 bits is rounded twice.
"""

import sys
from collections import Counter
from pathlib import Path

expected, found = (Path(name).read_bytes() for name in sys.argv[1:3])
if len(expected) != len(found) or not expected:
    sys.exit(f"{len(found)} bytes instead of {len(expected)}")
steps = Counter(abs(a - b) for a, b in zip(expected, found))
worst = max(steps)
if worst > 2 or steps[2] * 100 > len(expected):
    first = next(at for at, (a, b) in enumerate(zip(expected, found)) if abs(a - b) == worst)
    more = sum(count for step, count in steps.items() if step > 2)
    sys.exit(
        f"byte {first}: {found[first]} instead of {expected[first]}; of {len(expected)} bytes {steps[2]} differ by 2, {more} by more"
    )

#!/usr/bin/env python3
"""Looks at a picture of a display: that it has a size, and is of one colour or shows Weston's desktop.

Usage: look.py FILE WIDTHxHEIGHT RRGGBB|desktop
"""

import struct
import sys
import zlib

path, size, wanted = sys.argv[1:]
data = open(path, "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG file"
width, height, bits, kind = struct.unpack(">IIBB", data[16:26])
assert f"{width}x{height}" == size, f"{path}: {width}x{height} instead of {size}"
assert (bits, kind) == (8, 6), f"{path}: {bits} bits of colour type {kind}"
packed, at = b"", 8
while at < len(data):
    length, name = struct.unpack(">I4s", data[at : at + 8])
    packed += data[at + 8 : at + 8 + length] if name == b"IDAT" else b""
    at += length + 12
raw, rows, before = zlib.decompress(packed), [], bytes(width * 4)
for start in range(0, len(raw), width * 4 + 1):
    method, row = raw[start], bytearray(raw[start + 1 : start + 1 + width * 4])
    for i in range(len(row)):
        left, up, corner = (row[i - 4] if i >= 4 else 0), before[i], (before[i - 4] if i >= 4 else 0)
        guess = left + up - corner
        nearest = min((left, up, corner), key=lambda value: abs(guess - value))
        row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[method]) & 255
    rows.append(bytes(row))
    before = row
colour = lambda x, y: rows[y][x * 4 : x * 4 + 3]
if wanted != "desktop":
    others = {colour(x, y) for y in range(height) for x in range(width)} - {bytes.fromhex(wanted)}
    assert not others, f"{path}: not all of it is {wanted}, but some is {others.pop().hex()}"
    print(f"{path}: all of it is {wanted}")
    sys.exit()
# The panel is a dark bar with light letters of the clock at its right; below it lies the background's pattern.
panel = [sum(colour(x, 3)) for x in range(0, width, 7)]
clock = [sum(colour(x, 16)) for x in range(width - 200, width)]
ground = {colour(x, height - 20) for x in range(width)}
is_grey = all(max(pixel) - min(pixel) < 40 and 60 < min(pixel) for pixel in ground)
assert max(panel) < 200, f"{path}: no dark panel"
assert max(clock) > 500, f"{path}: no clock"
assert is_grey and len(ground) > 2, f"{path}: no background"
# The client draws bands of bright colours in a window of 250 by 250 pixels.
bright = [(x, y) for y in range(40, height) for x in range(width) if max(colour(x, y)) - min(colour(x, y)) > 100]
assert len(bright) > 10_000, f"{path}: no window, {len(bright)} pixels of a bright colour"
print(f"{path}: panel, clock, background, and a window with {len(bright)} bright pixels")

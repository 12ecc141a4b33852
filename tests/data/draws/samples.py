#!/usr/bin/env python3
"""usage: samples.py FOLDER: writes the expected files of the cases state.samples and beyond.samples, which lavapipe lacks: 2 and 8 samples.

Coverage is decided in whole sixteenths of a pixel, where vertices and the standard places of samples lie, and the mean of the samples
is exact."""
import os, sys
from fractions import Fraction

PLACES = {2: [(4, 4), (-4, -4)], 8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)]}
SIDE, CLEAR = 32, (Fraction(1, 5), 0, 0, 1)

def triangles(count, seed):
    """The triangles of rtris in cases.h, with corners in sixteenths of a pixel."""
    state = seed * 7919 + 17
    def below(n):
        nonlocal state
        state = (state * 1664525 + 1013904223) & 0xffffffff
        return (state >> 8) % n
    for _ in range(count):
        below(63)
        colour = tuple(Fraction(below(16), 15) for _ in range(3)) + (1,)
        corners = []
        for _ in range(3):
            y = below(640) - 64
            corners.append((below(640) - 64, y))
        yield corners, colour

def covers(corners, at):
    (ax, ay), (bx, by), (cx, cy) = corners
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if not area:
        return False
    sign = 1 if area > 0 else -1
    for (fx, fy), (tx, ty) in zip(corners, corners[1:] + corners[:1]):
        dx, dy = sign * (tx - fx), sign * (ty - fy)
        edge = dx * (at[1] - fy) - dy * (at[0] - fx)
        is_top_or_left = dy < 0 or dy == 0 and dx > 0
        if edge < 0 or edge == 0 and not is_top_or_left:
            return False
    return True

def eighth(value):
    """The value that a target of eight bits keeps."""
    return Fraction(int(value * 255 + Fraction(1, 2)), 255)

def mean(samples, colour):
    """The mean of the samples of each pixel, of which a function tells the colours."""
    pixels = bytearray()
    for y in range(SIDE):
        for x in range(SIDE):
            total = [Fraction(0)] * 4
            for number, (dx, dy) in enumerate(PLACES[samples]):
                total = [sum(pair) for pair in zip(total, colour(x, y, number, dx, dy))]
            pixels += bytes(int(one / samples * 255 + Fraction(1, 2)) for one in total)
    return pixels

def write(name, pixels):
    with open(os.path.join(sys.argv[1], name), "wb") as out:
        out.write(b"tol 1\nimage 37 32 32 4096\nend\n" + pixels)

def main():
    drawn = list(triangles(12, 3))
    one = [(64, 48), (480, 176), (192, 496)]
    for number, samples in enumerate((2, 8)):
        def numbered(x, y, sample, dx, dy):
            """A shading for each sample: its number, its place, and the mask of itself."""
            if not covers(one, (16 * x + 8 + dx, 16 * y + 8 + dy)):
                return CLEAR
            return [eighth(Fraction(part)) for part in (Fraction(sample, 8), Fraction(8 + dx, 16), Fraction(8 + dy, 16), Fraction(1, 8))]
        def masked(x, y, sample, dx, dy):
            """A shader's mask of the samples that it writes, from the coordinates of the pixel."""
            is_drawn = covers(one, (16 * x + 8 + dx, 16 * y + 8 + dy)) and (16 * x + y) >> sample & 1
            return (1, 0, 0, 1) if is_drawn else CLEAR
        write(f"beyond.samples-{number}", mean(samples, numbered))
        write(f"beyond.samples-{number + 2}", mean(samples, masked))
        pixels = bytearray()
        for y in range(SIDE):
            for x in range(SIDE):
                total = [Fraction(0)] * 4
                for dx, dy in PLACES[samples]:
                    at = (16 * x + 8 + dx, 16 * y + 8 + dy)
                    colour = next((colour for corners, colour in reversed(drawn) if covers(corners, at)), CLEAR)
                    total = [sum(pair) for pair in zip(total, colour)]
                pixels += bytes(round(one / samples * 255) for one in total)
        write(f"state.samples-{number}", pixels)

main()

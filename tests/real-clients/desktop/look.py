#!/usr/bin/env python3
"""Looks at a picture of a display: that it has a size, and is of one colour or shows Weston's desktop.

Usage: look.py FILE WIDTHxHEIGHT RRGGBB|desktop|triangle|cube|lone-cube

With 'triangle' a window of weston-simple-egl is on the desktop, with 'cube' one of vkcube; with 'lone-cube' vkcube has the whole display.
"""

import sys

import png

path, size, wanted = sys.argv[1:]
rows = png.rows(path, size)
width, height = map(int, size.split("x"))
colour = lambda x, y: rows[y][x * 4 : x * 4 + 3]
if wanted not in ("desktop", "triangle", "cube", "lone-cube"):
    others = {colour(x, y) for y in range(height) for x in range(width)} - {bytes.fromhex(wanted)}
    assert not others, f"{path}: not all of it is {wanted}, but some is {others.pop().hex()}"
    print(f"{path}: all of it is {wanted}")
    sys.exit()
seen = ""
if wanted != "lone-cube":
    # The panel is a dark bar with light letters of the clock at its right; below it lies the background's pattern.
    panel = [sum(colour(x, 3)) for x in range(0, width, 7)]
    clock = [sum(colour(x, 16)) for x in range(width - 200, width)]
    # A window covers one side of a small display at most.
    sides = [{colour(x, y) for y in range(40, height)} for x in (2, width - 3)]
    grounds = [{colour(x, height - 20) for x in range(width)}] if wanted == "desktop" else sides
    grey = lambda pixels: len(pixels) > 2 and all(max(pixel) - min(pixel) < 40 and 60 < min(pixel) for pixel in pixels)
    assert max(panel) < 200, f"{path}: no dark panel"
    assert max(clock) > 500, f"{path}: no clock"
    assert any(grey(pixels) for pixels in grounds), f"{path}: no background"
    seen = "panel, clock, background, and "
if wanted == "triangle":
    # A triangle with a red, a green and a blue corner that turns around its middle: all pixels are mixtures of the three.
    inside = {}
    for y in range(40, height):
        for x in range(width):
            red, green, blue = colour(x, y)
            if max(red, green, blue) - min(red, green, blue) > 60:
                inside[x, y] = (red, green, blue)
    assert len(inside) > 2000, f"{path}: no triangle, {len(inside)} pixels of a bright colour"
    wrong = [place for place, mixture in inside.items() if abs(sum(mixture) - 255) > 12]
    assert len(wrong) * 20 < len(inside), f"{path}: {len(wrong)} of {len(inside)} pixels are no mixtures of the corners"
    for channel, name in enumerate(("red", "green", "blue")):
        assert max(mixture[channel] for mixture in inside.values()) > 200, f"{path}: no {name} corner"
    print(f"{path}: {seen}a triangle of {len(inside)} pixels")
    sys.exit()
if wanted in ("cube", "lone-cube"):
    # A dark window with a cube of light and dark sides, each with a logo in the colour of petrol.
    pixels = [colour(x, y) for y in range(40, height) for x in range(width)]
    dark = [pixel for pixel in pixels if max(pixel) < 60 and max(pixel) - min(pixel) < 4]
    petrol = [(red, green, blue) for red, green, blue in pixels if red < 40 < green < 160 and blue > 60 and green - red > 40]
    sides = {pixel for pixel in pixels if max(pixel) - min(pixel) < 3 and 60 < max(pixel) < 200}
    assert len(dark) > 5000, f"{path}: no window, {len(dark)} dark pixels"
    assert len(petrol) > 200, f"{path}: no logo, {len(petrol)} pixels of its colour"
    assert len(sides) > 10, f"{path}: no sides of a cube, {len(sides)} greys"
    print(f"{path}: {seen}a cube with {len(petrol)} pixels of its logo")
    sys.exit()
# The client draws bands of bright colours in a window of 250 by 250 pixels.
bright = [(x, y) for y in range(40, height) for x in range(width) if max(colour(x, y)) - min(colour(x, y)) > 100]
assert len(bright) > 10_000, f"{path}: no window, {len(bright)} pixels of a bright colour"
print(f"{path}: {seen}a window with {len(bright)} bright pixels")

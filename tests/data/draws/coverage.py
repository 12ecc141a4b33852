"""The pixels of the cases random:K that lavapipe covers otherwise than the rule has it.

Corners lie on sixteenths of a pixel, so that edge functions are whole numbers and coverage is exact. lavapipe cuts triangles off at the
view volume first and snaps the corners that this makes to 1/256 of a pixel: the edge between them is another one, and has pixels that
the triangle has not, or lacks some. The specification has a guard band and no such corners."""
import itertools
from fractions import Fraction

SIDE = 32 * 16
PLACES = {1: [(0, 0)], 4: [(-2, -6), (6, -2), (-6, 2), (2, 6)]}

def scene(seed):
    """The number of samples and the triangles of c_random in cases.h, with corners in sixteenths of a pixel."""
    state = ((5000 + seed) * 7919 + 17) & 0xffffffff
    def below(n):
        nonlocal state
        state = (state * 1664525 + 1013904223) & 0xffffffff
        return (state >> 8) % n
    corners = []
    for _ in range(20):
        for n in (63, 16, 16, 16, 16): below(n)
        for _ in range(3):
            y = below(640) - 64
            corners.append((below(640) - 64, y))
    topology = 3 + below(3)
    for n in (7, 3, 2): below(n)
    if below(2): below(2); below(7)
    if below(3) == 0: below(10); below(10); below(3)
    if below(3) == 0:
        for n in (16, 16, 8, 8): below(n)
    if below(4) == 0: below(15)
    samples = 4 if below(4) == 0 else 1
    if topology == 3: numbers = [(at, at + 1, at + 2) for at in range(0, 60, 3)]
    elif topology == 4: numbers = [(at, at + 1, at + 2) for at in range(58)]
    else: numbers = [(0, at, at + 1) for at in range(1, 59)]
    return samples, [[corners[at] for at in three] for three in numbers]

def cut(polygon, axis, sign, limit):
    """The part of a polygon where a coordinate is within a limit."""
    kept = []
    for a, b in zip(polygon, polygon[1:] + polygon[:1]):
        da, db = sign * (limit - a[axis]), sign * (limit - b[axis])
        if da >= 0: kept.append(a)
        if da * db < 0:
            part = Fraction(da, 1) / (da - db)
            kept.append(tuple(p + part * (q - p) for p, q in zip(a, b)))
    return kept

def clipped(triangle):
    """The corners that are left at the view volume, snapped, in sixteenths of a pixel."""
    polygon = triangle
    for axis, sign, limit in ((0, 1, SIDE), (0, -1, 0), (1, 1, SIDE), (1, -1, 0)): polygon = cut(polygon, axis, sign, limit)
    return [tuple(Fraction(round(at * 16), 16) for at in corner) for corner in polygon]

def covers(polygon, at):
    """Whether a place is inside, or on a top or left edge; y grows downward."""
    pairs = list(zip(polygon, polygon[1:] + polygon[:1]))
    area = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)
    if area == 0: return False
    sign = 1 if area > 0 else -1
    for a, b in pairs:
        dx, dy = sign * (b[0] - a[0]), sign * (b[1] - a[1])
        if (dx, dy) == (0, 0): continue
        value = dx * (at[1] - a[1]) - dy * (at[0] - a[0])
        if value < 0 or value == 0 and not (dy < 0 or dy == 0 and dx > 0): return False
    return True

def differs(seed, x, y):
    """Whether a pixel of random:SEED has a sample that a triangle covers and its clipped corners do not, or the other way round."""
    samples, triangles = scene(seed)
    places = [(16 * x + 8 + dx, 16 * y + 8 + dy) for dx, dy in PLACES[samples]]
    return any(covers(triangle, at) != covers(clipped(triangle), at) for triangle, at in itertools.product(triangles, places))

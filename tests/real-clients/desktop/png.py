"""Reads the PNG pictures that the simulator makes of its displays."""

import struct
import zlib


def rows(path, size):
    """Returns the rows of a picture of WIDTHxHEIGHT pixels, 4 bytes a pixel."""
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
    raw, found, before = zlib.decompress(packed), [], bytes(width * 4)
    for start in range(0, len(raw), width * 4 + 1):
        method, row = raw[start], bytearray(raw[start + 1 : start + 1 + width * 4])
        for i in range(len(row)):
            left, up, corner = (row[i - 4] if i >= 4 else 0), before[i], (before[i - 4] if i >= 4 else 0)
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[method]) & 255
        found.append(bytes(row))
        before = row
    return found

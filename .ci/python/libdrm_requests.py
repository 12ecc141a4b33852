"""Compares the requests that a program makes through libdrm_amdgpu with those through our library.

usage: libdrm_requests.py THEIRS OURS NAME

They must be equal but for what releases of libdrm do differently, which crates/libdrm-amdgpu/tests/support/mod.rs lists.
"""
import sys

# A query of a table of entries, and the one before it that asks for their number.
COUNT, INFO = "45 32 0 ADDRESS 300000004 0 0", "45 32 0 ADDRESS 200000020 0 0"


def requests(lines):
    """Returns the requests of a log as the newest libdrm makes them."""
    found = []
    for line in lines:
        line = line.rstrip()
        if line.startswith("#"):
            continue
        if line == INFO and found and found[-1] == COUNT:
            found.pop()
            continue
        if line.startswith("48 40 "):
            line = f"48 64 {line[6:]} 0 0 0"
        if line.startswith(("c1 24 ", "c2 24 ")) and line.endswith(" 0"):
            line = line[:-2].replace(" 24 ", " 16 ", 1)
        if line.startswith("51 24 "):
            line = line[:line.rindex(" ")]
        found.append(line.replace("ADDRESS 16000001b8", "ADDRESS 16000001c0"))
    return found


def difference(theirs, ours):
    """Returns the first difference; None if there is none."""
    for index, (one, other) in enumerate(zip(theirs, ours)):
        if one != other:
            return f"request {index} is {other}, and libdrm's {one}"
    if len(theirs) != len(ours):
        return f"{len(ours)} requests, and libdrm makes {len(theirs)}"
    return None


def main(theirs, ours, name):
    with open(theirs) as one, open(ours) as other:
        theirs, ours = requests(one), requests(other)
    assert len(theirs) > 20, f"{name}: {len(theirs)} requests"
    found = difference(theirs, ours)
    assert found is None, f"{name}: {found}"


if __name__ == "__main__":
    main(*sys.argv[1:])

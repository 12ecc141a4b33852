"""Compares the IBs of two runs of a program, dword by dword: their number, rings, lengths and contents.

usage: ib_pairs.py THEIRS OURS CHIP DECODER FOLDER

Lower halves of addresses, with the upper half behind them, may differ; the decoder judges what else does, such as addresses that lack
their lowest eight bits. The pairs that it judges are left in FOLDER.
"""
import glob
import os
import struct
import subprocess
import sys

# Fillers in place of the jump to another IB, for which four dwords are kept: RADV writes four, we one.
FILLERS = ([0xffff1000] * 4, [0x80000000] * 4)
FILLER = [0xc0021000, 0, 0, 0]


def load(folder):
    """Returns the IBs of a folder by number: ring, address, dwords and name."""
    ibs = {}
    for path in sorted(glob.glob(folder + "/*.ib")):
        name = path.rsplit("/", 1)[1]
        number, ring, *_, address = name.removesuffix(".ib").split("-")
        with open(path, "rb") as file:
            data = file.read()
        ibs[number] = (ring, int(address, 16), struct.unpack(f"<{len(data) // 4}I", data), name)
    return ibs


def without_filler(before, after):
    """Returns two IBs without the fillers at their end, and whether they have some."""
    if before[-4:] in FILLERS and after[-4:] == FILLER:
        return before[:-4], after[:-4], True
    return before, after, False


def settle(before, after, upper):
    """Returns the second IB with the first one's lower halves of addresses, and their number.

    An address is a dword with the same place in its page, and the same dword behind it, whose low 16 bits are one of `upper`.
    """
    settled, count = list(after), 0
    for place, (a, b) in enumerate(zip(before, after)):
        behind = before[place + 1:place + 2]
        if a != b and (a ^ b) & 0xfff == 0 and behind and behind == settled[place + 1:place + 2] and behind[0] & 0xffff in upper:
            settled[place] = a
            count += 1
    return settled, count


def judged(decoder, folder, name, *contents):
    """Returns what the decoder says to a pair that differs by more than addresses; None if it does not."""
    paths = [f"{folder}/{side}/{name}" for side in ("own", "ours")]
    for path, dwords in zip(paths, contents):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(struct.pack(f"<{len(dwords)}I", *dwords))
    answer = subprocess.run([decoder, "diff", "--ignore-addresses", *paths], capture_output=True, text=True, check=False)
    return None if answer.returncode == 0 else answer.stdout + answer.stderr


def main(own, ours, chip, decoder, folder):
    theirs, here = load(own), load(ours)
    assert theirs, f"{chip}: no IBs"
    assert [ib[0] for ib in theirs.values()] == [ib[0] for ib in here.values()], f"{chip}: other IBs"
    # Upper halves of GPU addresses, 16 bits of each: what stands behind the lower half of one, perhaps with a packet's own bits above.
    upper = {ib[1] >> 32 & 0xffff for ibs in (theirs, here) for ib in ibs.values()}
    equal = addresses = ends = decoded = 0
    for number, (ring, _, before, name) in theirs.items():
        before, after = list(before), list(here[number][2])
        assert len(before) == len(after), f"{chip}: IB {number}, {ring}: {len(before)} dwords, ours has {len(after)}"
        before, after, has_filler = without_filler(before, after)
        ends += has_filler
        equal += before == after
        after, count = settle(before, after, upper)
        addresses += count
        if before != after:
            said = judged(decoder, folder, name, before, after)
            assert said is None, f"{chip}: {name}: {said}"
            decoded += 1
    print(f"{chip} IBs: {len(theirs)}, of them {equal} equal; the others differ in {addresses} addresses, {decoded} of them in such as "
          f"the decoder finds ({ends} end with a filler of ours)")


if __name__ == "__main__":
    main(*sys.argv[1:])

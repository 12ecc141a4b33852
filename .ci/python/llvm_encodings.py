"""Compares a sample of instructions with the answers of llvm-mc.

usage: llvm_encodings.py FOLDER LLVM_MC KNOWN VERBOSE

FOLDER has a file GENERATION.txt for each generation, with bytes, lanes and text of an instruction on each line, and GENERATION.missing
with the operations that have none. VERBOSE is empty, or anything for a list of what is known to differ.
"""
import collections
import pathlib
import re
import subprocess
import sys

# A processor of each generation.
PROCESSORS = {
    "gfx6": "gfx600", "gfx7": "gfx700", "gfx8": "gfx802", "gfx9": "gfx900", "gfx10": "gfx1010", "gfx10_3": "gfx1030",
    "gfx11": "gfx1100", "gfx11_5": "gfx1150", "gfx12": "gfx1200",
}
# Generations that LLVM does not disassemble at all.
ONLY_ASSEMBLED = {"gfx6", "gfx7"}
# Generations without a choice of the number of lanes.
ONLY_64_LANES = {"gfx6", "gfx7", "gfx8", "gfx9"}


class Known:
    """A known difference: the generations, what differs, a pattern of our text, and how often it was met."""

    def __init__(self, line):
        self.generations, self.side, pattern = line.split(None, 2)
        self.pattern, self.count = re.compile(pattern), 0

    def is_about(self, generation, side, text):
        """Returns True if it explains a difference of an instruction."""
        generations = self.generations == "*" or generation in self.generations.split(",")
        return generations and self.side in ("*", side) and bool(self.pattern.search(text))


def read_known(text):
    """Returns the known differences of a list, whose comments start with #."""
    return [Known(line) for line in text.splitlines() if line and not line.startswith("#")]


def refused_lines(errors):
    """Returns the numbers of the lines that llvm-mc complained about, from 1."""
    return {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: (?:error|warning): ", errors, re.M)}


def answers(text):
    """Returns text and bytes of each instruction that llvm-mc printed."""
    found = re.findall(r"^\t(.*?)\s*[;/]+ encoding: \[(.*?)\]", text, re.M)
    return [(re.sub(r"\s+", " ", text).strip(), code.replace("0x", "").replace(",", "")) for text, code in found]


def run(llvm_mc, options, lines):
    """Returns LLVM's answer to each line, text and bytes; None for a line that it refuses."""
    # Again without refused lines until there are none, as LLVM reads on behind the dword that it refuses.
    numbers = list(range(len(lines)))
    while True:
        done = subprocess.run([llvm_mc, "--arch=amdgcn", "--show-encoding", *options],
                              input="\n".join(lines[number] for number in numbers) + "\n", capture_output=True, text=True, check=False)
        refused = refused_lines(done.stderr)
        if not refused:
            break
        numbers = [number for place, number in enumerate(numbers, 1) if place not in refused]
    found = answers(done.stdout)
    assert len(found) == len(numbers), f"{len(found)} answers to {len(numbers)} lines"
    out = [None] * len(lines)
    for number, answer in zip(numbers, found):
        out[number] = answer
    return out


class Comparison:
    """What the comparison of a generation's instructions has found."""

    def __init__(self, generation, known):
        self.generation, self.known = generation, known
        self.counts, self.operations, self.confirmed = collections.Counter(), set(), set()
        self.new, self.explained = [], []

    def add(self, code, text, reading, made):
        """Compares an instruction with LLVM's reading of its bytes, and with the bytes that LLVM makes of its text."""
        name = text.split()[0]
        self.operations.add(name)
        for side, theirs, ours in (("name", reading and reading[0].split()[0], name), ("bytes", made and made[1], code)):
            if theirs is None:
                self.counts[side, "refused"] += 1
            elif theirs == ours:
                self.counts[side, "equal"] += 1
                self.confirmed.add(name)
            else:
                self.differs(side, f"{code} {text} | {theirs}", text)

    def differs(self, side, line, text):
        """Takes note of a difference, which may be known."""
        for entry in self.known:
            if entry.is_about(self.generation, side, text):
                entry.count += 1
                self.counts[side, "known"] += 1
                self.explained.append(f"{self.generation} {side}, known: {line}")
                return
        self.new.append(f"{self.generation} {side}: {line}")

    def summary(self):
        """Returns the counts in a line."""
        sides = [f"{title}: {self.counts[side, 'equal']} equal, {self.counts[side, 'known']} known to differ, "
                 f"{self.counts[side, 'refused']} refused" for title, side in (("bytes", "bytes"), ("names", "name"))]
        return f"{self.generation}: {len(self.confirmed)} of {len(self.operations)} operations confirmed; {'; '.join(sides)}"

    def has_too_few(self):
        """Returns True if LLVM confirms less than nine tenths of the operations."""
        return 10 * len(self.confirmed) < 9 * len(self.operations)


def compare(folder, llvm_mc, generation, known):
    """Returns the comparison of a generation."""
    comparison = Comparison(generation, known)
    for missing in (folder / f"{generation}.missing").read_text().splitlines():
        comparison.new.append(f"{generation}: no instruction of {missing} is decoded and assembled again")
    rows = [line.split("\t") for line in (folder / f"{generation}.txt").read_text().splitlines()]
    for lanes in ("32", "64"):
        part = [row for row in rows if row[1] == lanes]
        if not part:
            continue
        options = [f"--mcpu={PROCESSORS[generation]}"]
        if generation not in ONLY_64_LANES:
            options.append(f"--mattr=+wavefrontsize{lanes},-wavefrontsize{96 - int(lanes)}")
        made = run(llvm_mc, options, [row[2] for row in part])
        read = [None] * len(part)
        if generation not in ONLY_ASSEMBLED:
            lines = [" ".join(f"0x{byte:02x}" for byte in bytes.fromhex(row[0])) for row in part]
            read = run(llvm_mc, [*options, "--disassemble"], lines)
        for (code, _, text), reading, bytes_made in zip(part, read, made):
            comparison.add(code, text, reading, bytes_made)
    return comparison


def main(folder, llvm_mc, known_path, verbose):
    known, new = read_known(pathlib.Path(known_path).read_text()), []
    for generation in PROCESSORS:
        comparison = compare(pathlib.Path(folder), llvm_mc, generation, known)
        if verbose:
            for line in comparison.explained:
                print(line)
            print(f"{generation}: refused everywhere: {' '.join(sorted(comparison.operations - comparison.confirmed))}")
        print(comparison.summary())
        new += comparison.new
        if comparison.has_too_few():
            new.append(f"{generation}: LLVM confirms too few operations")
    unused = [f"{known_path}: nothing differs any more by {entry.pattern.pattern}" for entry in known if not entry.count]
    for line in new + unused:
        print(line)
    return 1 if new or unused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

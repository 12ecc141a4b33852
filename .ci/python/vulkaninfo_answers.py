"""Compares the heaps, memory types and queue families that vulkaninfo prints with recorded answers of RADV.

usage: vulkaninfo_answers.py CHIP TEXT ANSWERS DEVICE

TEXT is the output of vulkaninfo, ANSWERS a file of tests/data/radv, DEVICE the capture of the chip.

The answers are RADV 26.2's; 25.0 makes sparse bindings on a family of their own only, which it says has timestamps. So the sparse bit is
not compared where a family has others, nor the timestamps of the family that has nothing else. On Mesa's no-op shim 25.0 says the same.
"""
import json
import re
import sys

SPARSE = 0x8
DEVICE_COHERENT, PROTECTED_MEMORY = 64, 32
QUEUES = {"GRAPHICS": 1, "COMPUTE": 2, "TRANSFER": 4, "SPARSE_BINDING": 8, "PROTECTED": 16}
# RADV 25.1 renamed chips, and a marketing name is that of the installed libdrm, which may not know a newer card.
RENAMED = {"STRIX1": "GFX1150", "STRIX_HALO": "GFX1151", "KRACKAN1": "GFX1152"}
# Families that 25.0 has, on Mesa's no-op shim too, and 26.2 has not: no compute on GFX6, no sparse bindings on either.
MORE = {"pitcairn": [(2, 6, 64), (1, SPARSE, None)], "bonaire": [(1, SPARSE, None)], "stoney": [(1, SPARSE, None)]}


class Different(Exception):
    """A difference, or a text that is not vulkaninfo's."""


def one(text, pattern):
    """Returns the group of a pattern."""
    match = re.search(pattern, text, re.M)
    if not match:
        raise Different(f"vulkaninfo printed nothing like {pattern!r}")
    return match.group(1)


def chip_of(name):
    """Returns RADV's name of the chip in a device's name, as it is today."""
    word = re.search(r"\(RADV (\w+)\)", name).group(1)
    return RENAMED.get(word, word)


def heaps(text):
    """Returns size, budget and usage of each heap, and whether it is local to the device."""
    found = re.findall(r"^\tmemoryHeaps\[\d+\]:\n\t\tsize +=.*?\((0x\w+)\).*\n\t\tbudget.*?\((0x\w+)\).*\n\t\tusage.*?\((0x\w+)\)"
                       r".*\n\t\tflags:.*\n\t\t\t(.*)$", text, re.M)
    return [(int(size, 16), int(budget, 16), int(usage, 16), "DEVICE_LOCAL" in flags) for size, budget, usage, flags in found]


def memory_types(text):
    """Returns heap and properties of each memory type."""
    found = re.findall(r"^\tmemoryTypes\[\d+\]:\n\t\theapIndex +=\s*(\d+)\n\t\tpropertyFlags = (0x\w+)", text, re.M)
    return [(int(heap), int(flags, 16)) for heap, flags in found]


def flags_of(words):
    """Returns the bits of the words for what a queue does."""
    names = [word.removeprefix("QUEUE_").removesuffix("_BIT") for word in words.split(" | ")]
    unknown = [name for name in names if name not in QUEUES]
    if unknown:
        raise Different(f"queue flags that are not known: {unknown}")
    return sum(QUEUES[name] for name in names)


def comparable(count, flags, bits):
    """Returns what both releases say of a family."""
    return (count, SPARSE, None) if flags == SPARSE else (count, flags & ~SPARSE, bits)


def families(text):
    """Returns count, flags and timestamp bits of each queue family."""
    found = re.findall(r"queueCount +=\s*(\d+)\n\t\tqueueFlags +=\s*(.*)\n\t\ttimestampValidBits +=\s*(\d+)", text)
    return [comparable(int(count), flags_of(words), int(bits)) for count, words, bits in found]


def same(what, found, expected):
    """Raises if two values differ."""
    if found != expected:
        raise Different(f"{what} is {found}, and RADV makes {expected} of this capture")


def compare(chip, text, wanted, gfx_level):
    """Compares a text with answers, and returns the number of heaps, types and families."""
    same("the device name", chip_of(one(text, r"^\tdeviceName\s*= (.*)$")), chip_of(wanted["properties"]["deviceName"]))
    same("the device id", int(one(text, r"^\tdeviceID\s*= (\w+)$"), 16), int(wanted["properties"]["deviceID"], 16))
    found_heaps = heaps(text)
    same("the list of heaps (size, budget, usage, device-local)", found_heaps,
         [(int(heap["size"], 16), int(heap["heapBudget"], 16), int(heap["heapUsage"], 16), heap["flags"] == "0x1")
          for heap in wanted["memoryHeaps"]])
    found_types = memory_types(text)
    compared = found_types
    if gfx_level == "GFX12":
        # RADV 26.2 has these types on GFX12 only where an option asks for them.
        compared = [kind for kind in found_types if kind[1] & DEVICE_COHERENT == 0]
    same("the list of memory types (heap, properties)", compared,
         [(kind["heapIndex"], int(kind["propertyFlags"], 16)) for kind in wanted["memoryTypes"]
          # RADV 25.0 has no protected memory.
          if int(kind["propertyFlags"], 16) & PROTECTED_MEMORY == 0])
    found_families = families(text)
    wanted_families = [comparable(family["queueCount"], int(family["queueFlags"], 16) & ~QUEUES["PROTECTED"],
                                  family["timestampValidBits"])
                       for family in wanted["queueFamilies"]]
    same("the list of queue families (count, flags, timestamp bits)", found_families, wanted_families + MORE.get(chip, []))
    return len(found_heaps), len(found_types), len(found_families)


def main(chip, text, answers, device):
    with open(text) as printed, open(answers) as recorded, open(device) as capture:
        try:
            counts = compare(chip, printed.read(), json.load(recorded)["default"], json.load(capture)["gfx_level"])
        except Different as different:
            sys.exit(f"{chip}: {different}")
    print("%s: %d heaps, %d memory types, %d queue families as in the data" % (chip, *counts))


if __name__ == "__main__":
    main(*sys.argv[1:])

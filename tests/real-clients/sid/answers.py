"""Compares what vulkaninfo prints of RADV 26.2.6 with what the same RADV answers elsewhere: answers.py CHIP TEXT [OTHER].

OTHER is vulkaninfo's text on Mesa's no-op shim with the facts of the chip; without it, they are the recorded answers. Both are those of a
kernel without copy engine and of DRM 3.54, so what a newer kernel adds is not compared.
"""

import json
import re
import sys

# The copy engine's family is new: the recording has none.
TRANSFER, SPARSE, PROTECTED = 4, 8, 16
NAMES = {"GRAPHICS": 1, "COMPUTE": 2, "TRANSFER": TRANSFER, "SPARSE_BINDING": SPARSE, "PROTECTED": PROTECTED, "OPTICAL_FLOW_NV": 256,
         "VIDEO_DECODE_KHR": 32, "VIDEO_ENCODE_KHR": 64}
HEAPS = "the list of heaps (size, budget, usage, device-local)"
TYPES = "the list of memory types (heap, properties)"
FAMILIES = "the list of queue families (count, flags, timestamp bits)"


def recorded(chip):
    """Returns the recorded answers."""
    with open(f"tests/data/radv/{chip}.json") as file:
        wanted = json.load(file)["default"]
    properties = wanted["properties"]
    return {
        "deviceName": properties["deviceName"],
        "driverInfo": properties["driverInfo"],
        "deviceID": int(properties["deviceID"], 16),
        HEAPS: [(int(heap["size"], 16), int(heap["heapBudget"], 16), int(heap["heapUsage"], 16), heap["flags"] == "0x1")
                for heap in wanted["memoryHeaps"]],
        TYPES: [(kind["heapIndex"], int(kind["propertyFlags"], 16)) for kind in wanted["memoryTypes"]],
        FAMILIES: [(family["queueCount"], int(family["queueFlags"], 16), family["timestampValidBits"])
                   for family in wanted["queueFamilies"]],
        **wanted["deviceExtensions"],
    }


def told(path, extensions):
    """Returns what a text of vulkaninfo says."""
    with open(path) as file:
        text = file.read()

    def one(pattern):
        match = re.search(pattern, text, re.M)
        if not match:
            sys.exit(f"{path}: vulkaninfo printed nothing like {pattern!r}")
        return match.group(1)

    families = []
    for count, words, bits in re.findall(r"queueCount +=\s*(\d+)\n\t\tqueueFlags +=\s*(.*)\n\t\ttimestampValidBits +=\s*(\d+)", text):
        flags = sum(NAMES[word.removeprefix("QUEUE_").removesuffix("_BIT")] for word in words.split(" | "))
        if flags & ~(SPARSE | PROTECTED) != TRANSFER:
            families.append((int(count), flags, int(bits)))
    heaps = re.findall(r"^\tmemoryHeaps\[\d+\]:\n\t\tsize +=.*?\((0x\w+)\).*\n\t\tbudget.*?\((0x\w+)\).*\n\t\tusage.*?\((0x\w+)\)"
                       r".*\n\t\tflags:.*\n\t\t\t(.*)$", text, re.M)
    types = re.findall(r"^\tmemoryTypes\[\d+\]:\n\t\theapIndex +=\s*(\d+)\n\t\tpropertyFlags = (0x\w+)", text, re.M)
    return {
        "deviceName": one(r"^\tdeviceName\s*= (.*)$"),
        "driverInfo": one(r"^\tdriverInfo\s*= (.*)$"),
        "deviceID": int(one(r"^\tdeviceID\s*= (\w+)$"), 16),
        HEAPS: [(int(size, 16), int(budget, 16), int(usage, 16), "DEVICE_LOCAL" in flags) for size, budget, usage, flags in heaps],
        TYPES: [(int(heap), int(flags, 16)) for heap, flags in types],
        FAMILIES: families,
        **{name: re.search(rf"^\t{name}\s", text, re.M) is not None for name in extensions},
    }


def general(name):
    """Returns the name of a device without this machine's processor, by which libdrm names an APU that its table lacks."""
    with open("/proc/cpuinfo") as file:
        processor = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    before, _, after = name.partition(" (RADV ")
    is_processor = processor and processor.group(1).removeprefix("AMD ").startswith(before.removeprefix("AMD "))
    return f"AMD Radeon Graphics (RADV {after}" if is_processor else name


def main(chip, path, other=None):
    names = recorded("navi21" if other else chip).keys()
    extensions = [name for name in names if name.startswith("VK_")]
    found = told(path, extensions)
    wanted = told(other, extensions) if other else recorded(chip)
    if wanted["deviceName"].startswith("AMD Radeon Graphics (") or other:
        found["deviceName"], wanted["deviceName"] = general(found["deviceName"]), general(wanted["deviceName"])
    assert found[HEAPS] and found[TYPES] and found[FAMILIES], f"{path}: no heaps, types or queues"
    for what, value in wanted.items():
        if found[what] != value:
            sys.exit(f"{chip}: {what} is {found[what]}, and RADV makes {value} of this capture")
    print(f"{chip}: {len(found[HEAPS])} heaps, {len(found[TYPES])} memory types, {len(found[FAMILIES])} queue families,"
          f" {len(extensions)} extensions")


if __name__ == "__main__":
    main(*sys.argv[1:])

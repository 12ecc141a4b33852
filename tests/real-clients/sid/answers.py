"""Compares what vulkaninfo prints of RADV 26.2.6 with the recorded answers of the same chip: answers.py CHIP TEXT.

The answers were recorded on a kernel without copy engine and of DRM 3.54, so what a newer kernel adds is not compared.
"""

import json
import re
import sys

chip, path = sys.argv[1:]
text = open(path).read()
wanted = json.load(open(f"tests/data/radv/{chip}.json"))["default"]


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{chip}: {what} is {found}, and RADV makes {expected} of this capture")


def one(pattern):
    match = re.search(pattern, text, re.M)
    if not match:
        sys.exit(f"{chip}: vulkaninfo printed nothing like {pattern!r}")
    return match.group(1)


# libdrm names an APU that its table lacks after the processor of this machine.
wanted_name = wanted["properties"]["deviceName"]
name = one(r"^\tdeviceName\s*= (.*)$")
processor = re.search(r"^model name\s*: (.*)$", open("/proc/cpuinfo").read(), re.M)
if wanted_name.startswith("AMD Radeon Graphics (") and processor and processor.group(1).startswith(name.split(" (RADV")[0]):
    name = f"AMD Radeon Graphics ({name.split('(')[-1]}"
same("deviceName", name, wanted_name)
same("driverInfo", one(r"^\tdriverInfo\s*= (.*)$"), wanted["properties"]["driverInfo"])
same("deviceID", int(one(r"^\tdeviceID\s*= (\w+)$"), 16), int(wanted["properties"]["deviceID"], 16))

heaps = re.findall(r"^\tmemoryHeaps\[\d+\]:\n\t\tsize +=.*?\((0x\w+)\).*\n\t\tbudget.*?\((0x\w+)\).*\n\t\tusage.*?\((0x\w+)\)"
                   r".*\n\t\tflags:.*\n\t\t\t(.*)$", text, re.M)
same("the list of heaps (size, budget, usage, device-local)",
     [(int(size, 16), int(budget, 16), int(usage, 16), "DEVICE_LOCAL" in flags) for size, budget, usage, flags in heaps],
     [(int(heap["size"], 16), int(heap["heapBudget"], 16), int(heap["heapUsage"], 16), heap["flags"] == "0x1")
      for heap in wanted["memoryHeaps"]])
types = re.findall(r"^\tmemoryTypes\[\d+\]:\n\t\theapIndex +=\s*(\d+)\n\t\tpropertyFlags = (0x\w+)", text, re.M)
same("the list of memory types (heap, properties)", [(int(heap), int(flags, 16)) for heap, flags in types],
     [(kind["heapIndex"], int(kind["propertyFlags"], 16)) for kind in wanted["memoryTypes"]])

# The copy engine's family is new: the recording has none.
TRANSFER, SPARSE, PROTECTED = 4, 8, 16
NAMES = {"GRAPHICS": 1, "COMPUTE": 2, "TRANSFER": TRANSFER, "SPARSE_BINDING": SPARSE, "PROTECTED": PROTECTED, "OPTICAL_FLOW_NV": 256,
         "VIDEO_DECODE_KHR": 32, "VIDEO_ENCODE_KHR": 64}
families = []
for count, words, bits in re.findall(r"queueCount +=\s*(\d+)\n\t\tqueueFlags +=\s*(.*)\n\t\ttimestampValidBits +=\s*(\d+)", text):
    flags = sum(NAMES[word.removeprefix("QUEUE_").removesuffix("_BIT")] for word in words.split(" | "))
    if flags & ~(SPARSE | PROTECTED) != TRANSFER:
        families.append((int(count), flags, int(bits)))
same("the list of queue families (count, flags, timestamp bits)", families,
     [(family["queueCount"], int(family["queueFlags"], 16), family["timestampValidBits"]) for family in wanted["queueFamilies"]])
for name, is_there in wanted["deviceExtensions"].items():
    same(name, re.search(rf"^\t{name}\s", text, re.M) is not None, is_there)
print(f"{chip}: {len(heaps)} heaps, {len(types)} memory types, {len(families)} queue families, {len(wanted['deviceExtensions'])} extensions")

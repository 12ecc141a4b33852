"""Lays what a driver prints of a GPU beside `amdgpu-smoke inventory`: facts.py DRIVER OURS [radeonsi]. The driver is RADV with
RADV_DEBUG=info, or radeonsi with AMD_DEBUG=info.

Every field of the inventory must be one of the driver's, with the same value.
"""

import sys


def fields(path):
    found, section = {}, ""
    for line in open(path, errors="replace"):
        if line.startswith("GB_ADDR_CONFIG: "):
            found["Render backend info", "GB_ADDR_CONFIG"] = line.split(": ")[1].strip()
            section = "GB_ADDR_CONFIG"
        elif not line.startswith(" "):
            section = line.strip().removesuffix(":")
        elif " = " in line:
            name, value = line.strip().split(" = ", 1)
            found.setdefault((section, name), value)
    return found


is_radeonsi = "radeonsi" in sys.argv[3:]
excused = {"marketing_name"} | ({"has_vm_always_valid"} if is_radeonsi else set())
driver, ours = map(fields, sys.argv[1:3])
if is_radeonsi and driver["Device info", "name"] == "REMBRANDT":
    # RADV 26.2.6 tells that it is not there, and radeonsi of the same release that it is; a driver that sends the message is right on both.
    excused.add("has_ngg_passthru_no_msg")
assert len(ours) > 80, f"{len(ours)} fields in the inventory"
wrong = [f"{name} = {value}, and the driver prints {driver.get((section, name))}" for (section, name), value in ours.items()
         # The name of a card is that of the table at hand, and radeonsi does without BOs that are always valid (RADV prints the flag).
         if name not in excused and driver.get((section, name)) != value]
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(ours)} facts")

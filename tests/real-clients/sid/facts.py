"""Lays what RADV_DEBUG=info prints beside `amdgpu-smoke inventory` of the same GPU: facts.py RADV OURS.

Every field of the inventory must be one of RADV's, with the same value.
"""

import sys


def fields(path):
    found, section = {}, ""
    for line in open(path, errors="replace"):
        if line.startswith("GB_ADDR_CONFIG: "):
            found["Render backend info", "GB_ADDR_CONFIG"] = line.split(": ")[1].strip()
        elif not line.startswith(" "):
            section = line.strip().removesuffix(":")
        elif " = " in line:
            name, value = line.strip().split(" = ", 1)
            found.setdefault((section, name), value)
    return found


radv, ours = map(fields, sys.argv[1:])
assert len(ours) > 80, f"{len(ours)} fields in the inventory"
wrong = [f"{name} = {value}, and RADV prints {radv.get((section, name))}" for (section, name), value in ours.items()
         # The name of a card is that of the table at hand.
         if name != "marketing_name" and radv.get((section, name)) != value]
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(ours)} facts")

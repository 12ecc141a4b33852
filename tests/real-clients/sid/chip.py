"""Writes the facts of a simulated chip as a C header for noop.c: chip.py CHIP."""

import json
import sys

with open(f"crates/sim/data/devices/{sys.argv[1]}.json") as file:
    chip = json.load(file)
# Names of the kernel's interface that the headers of this machine may lack; nothing was recorded of them.
LATER = ("userq_ip_mask",)
HEAPS = ("total_heap_size", "usable_heap_size", "heap_usage", "max_allocation")


def value(it):
    if isinstance(it, list):
        return "{ " + ", ".join(map(value, it)) + " }"
    if isinstance(it, dict):
        return "{ " + ", ".join(f".{name} = {value(inner)}" for name, inner in it.items()) + " }"
    return str(it)


def show(kind, name, it):
    print(f"static const {kind} {name} = {value(it)};")


show("struct drm_amdgpu_info_device", "chip_device",
     {name: it for name, it in chip["dev_info"].items() if name not in LATER and name != "pad"})
# The shim has nothing allocated.
show("struct drm_amdgpu_memory_info", "chip_memory",
     {heap: {name: chip["memory"][heap][name] for name in HEAPS} for heap in ("vram", "cpu_accessible_vram", "gtt")})
show("struct drm_amdgpu_info_hw_ip", "chip_gfx", chip["hw_ip"]["gfx"] or {})
show("struct drm_amdgpu_info_hw_ip", "chip_compute", chip["hw_ip"]["compute"] or {})
show("uint32_t", "chip_firmware[][3]",
     [[f"AMDGPU_INFO_FW_{name.upper()}", it["ver"], it["feature"]] for name, it in chip["fw_version"].items() if it])
show("uint32_t", "chip_registers[][3]",
     [[register["dword_offset"], register["instance"], register["value"]] for register in chip["mmr_regs"]])

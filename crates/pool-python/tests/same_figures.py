"""Compares the figures of the wheel, of the C library and of amdgpu-budget on one machine.

usage: same_figures.py AMDGPU_BUDGET FIGURES...   FIGURES are programs of crates/pool-c/tests/c/figures.c
"""

import json
import subprocess
import sys

import amdgpu_pool

STATES = ["unknown", "counts", "slack", "apart"]
KINDS = [None, "card", "apu"]
UNSTEADY = ("mem_available", "gtt")


def same(what, one, other, is_moving=False):
    """What depends on the memory that the machine has available moves between two looks."""
    if is_moving and one is not None and other is not None:
        assert abs(one - other) <= max(one, other) // 5, (what, one, other)
    else:
        assert one == other, (what, one, other)


def compare_program(gpu, shown):
    moving = "mem_available" in (gpu.limited_by, shown["effective"]["limited_by"])
    same("kind", gpu.kind, {True: "apu", False: "card", None: None}[shown["apu"]])
    for name in ("vram", "visible_vram", "gtt"):
        for figure in ("total", "usable", "used"):
            same(f"{name}.{figure}", getattr(getattr(gpu, name), figure), shown["domains"][name][figure])
    same("total", gpu.total, shown["effective"]["total"])
    same("available", gpu.available, shown["effective"]["available"], moving)
    largest = shown["largest"]
    same("largest_now", gpu.largest_now, largest["now"], moving)
    same("largest_accepted", gpu.largest_accepted, largest["accepted"])
    same("largest_recommended", gpu.largest_recommended, largest["recommended"])
    same("names of limits", [limit.name for limit in gpu.limits], [limit["name"] for limit in shown["limits"]])
    for limit, there in zip(gpu.limits, shown["limits"]):
        same(f"limit {limit.name}", limit.bytes, there["bytes"], limit.name == "mem_available")
        # These two change places when the machine's available memory passes what is free of GTT.
        if limit.name not in UNSTEADY:
            same(f"state of limit {limit.name}", limit.state, there["state"])
    heaps = [(heap.kind, heap.size, heap.budget, heap.usage) for heap in gpu.heaps]
    same("heaps", heaps, [tuple(heap[key] for key in ("kind", "size", "budget", "usage")) for heap in shown["heaps"]])
    assert len(heaps) >= 2, heaps


def compare_c(gpu, lines):
    figures = dict(line.split(" ", 1) for line in lines if not line.startswith(("heap ", "limit ", "missing ")))
    moving = "mem_available" in (gpu.limited_by, figures["limited_by"])
    same("C kind", gpu.kind, KINDS[int(figures["kind"])])
    for name in ("vram", "visible_vram", "gtt"):
        for figure in ("total", "used"):
            same(f"C {name}.{figure}", str(getattr(getattr(gpu, name), figure)), figures[f"{name}.{figure}"])
    same("C total", str(gpu.total), figures["total"])
    for name in ("available", "largest_now", "largest_accepted"):
        same(f"C {name}", getattr(gpu, name), int(figures[name]), moving)
    heaps = [line.split(" ")[1:] for line in lines if line.startswith("heap ")]
    same("C heaps", [[heap.kind, str(heap.size), str(heap.budget), str(heap.usage)] for heap in gpu.heaps], heaps)
    limits = [line.split(" ")[1:] for line in lines if line.startswith("limit ")]
    wanted = [[limit.name, str(STATES.index(limit.state))] for limit in gpu.limits]
    same("C limits", [one for one in wanted if one[0] not in UNSTEADY], [one for one in limits if one[0] not in UNSTEADY])


def main():
    budget, *programs = sys.argv[1:]
    shown = json.loads(subprocess.run([budget, "--json"], check=True, capture_output=True, text=True).stdout)
    report = amdgpu_pool.look()
    assert len(report.gpus) == len(shown["gpus"]) >= 1
    for gpu, there in zip(report.gpus, shown["gpus"]):
        assert gpu.pci == there["pci"]
        compare_program(gpu, there)
        assert gpu.own == amdgpu_pool.Pair(0, 0), gpu.own
        fit = gpu.fits(1 << 20)
        assert fit and fit.verdict == "fits" and sum(part.bytes for part in fit.parts) == 1 << 20, fit
        assert not gpu.fits((1 << 64) - 1)
        for wrong in (-1, 1 << 64):
            try:
                gpu.fits(wrong)
            except ValueError:
                continue
            raise AssertionError(f"{wrong} bytes were accepted")
    for program in programs:
        text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        gpus = [part.splitlines() for part in ("\n" + text).split("\npci ")[1:]]
        assert [lines[0] for lines in gpus] == [gpu.pci for gpu in report.gpus]
        for gpu, lines in zip(report.gpus, gpus):
            compare_c(gpu, lines[1:])


main()

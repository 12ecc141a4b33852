"""How much memory fits on an AMD GPU, where, and why no more.

    import amdgpu_pool
    for gpu in amdgpu_pool.look().gpus:
        fit = gpu.fits(20 << 30)
        print(gpu.pci, fit.verdict, fit.reason)

Sizes are in bytes; an unknown one is None, never 0. No GPU that sleeps is woken, unless ``wake`` is true. ``look`` raises LookupError
if there is no GPU of the driver amdgpu, and PermissionError if sysfs may not be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Literal, Optional, Union

from . import _native

__all__ = ["Domain", "Fit", "Gpu", "Heap", "Limit", "Missing", "Other", "Pair", "Part", "Report", "look"]

Kind = Literal["apu", "card"]
Verdict = Literal["fits", "spills", "too much", "unknown"]
State = Literal["counts", "slack", "apart", "unknown"]


@dataclass(frozen=True)
class Domain:
    """A memory domain, as the kernel reports it."""

    total: Optional[int]
    usable: Optional[int]
    used: Optional[int]
    evicted: Optional[int]


@dataclass(frozen=True)
class Pair:
    """Bytes in the GPU's own memory and in system memory."""

    vram: Optional[int]
    gtt: Optional[int]


@dataclass(frozen=True)
class Heap:
    """A Vulkan heap, with budget and usage of this process."""

    kind: str
    is_device_local: bool
    size: int
    budget: int
    usage: int
    shares_with: list[int]


@dataclass(frozen=True)
class Limit:
    """A limit, whether it counts, where it was read, and why it is what it is."""

    name: str
    bytes: Optional[int]
    state: State
    source: str
    why: str


@dataclass(frozen=True)
class Missing:
    """What could not be read or contradicts itself."""

    source: str
    reason: str


@dataclass(frozen=True)
class Part:
    """The part of the bytes that goes to one place: VRAM, carve-out or GTT."""

    place: str
    bytes: int


@dataclass(frozen=True)
class Fit:
    """Whether bytes fit, and where."""

    verdict: Verdict
    parts: list[Part]
    in_one_piece: bool
    lacking: int
    reason: str

    def __bool__(self) -> bool:
        return self.verdict == "fits"


@dataclass(frozen=True)
class Gpu:
    """A GPU at one moment."""

    index: int
    pci: str
    render: str
    device_id: Optional[int]
    kind: Optional[Kind]
    power: Optional[str]
    is_asleep: bool
    vram: Domain
    visible_vram: Domain
    gtt: Domain
    total: Optional[int]
    available: Optional[int]
    limited_by: Optional[str]
    largest_now: Optional[int]
    largest_accepted: Optional[int]
    largest_recommended: Optional[int]
    own: Optional[Pair]
    others: Pair
    shared: Pair
    heaps: Optional[list[Heap]]
    limits: list[Limit]
    missing: list[Missing]
    _report: _native.Report = field(repr=False, compare=False)

    def fits(self, bytes: int) -> Fit:
        """Whether so many bytes fit beside everything that was allocated when the report was made, and where."""
        if bytes < 0:
            raise ValueError(f"{bytes} bytes are less than none")
        if bytes >= 1 << 64:
            raise ValueError(f"{bytes} bytes are more than any memory has")
        found = self._report.fits(self.index, bytes)
        assert found is not None, "a report has its own GPUs"
        verdict, parts, in_one_piece, lacking, reason = found
        return Fit(verdict, [Part(*part) for part in parts], in_one_piece, lacking, reason)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Other:
    """A GPU of another driver."""

    node: str
    driver: Optional[str]
    pci: Optional[str]


@dataclass(frozen=True)
class Report:
    """The GPUs of a computer, by PCI address, and those of other drivers."""

    gpus: list[Gpu]
    others: list[Other]


def look(
    root: Optional[Union[str, PathLike[str]]] = None, *, wake: bool = False, processes: bool = True
) -> Report:
    """Looks at this computer, or at the one whose /sys, /proc and /dev are below ``root``."""
    report = _native.look_at(root, wake, processes)
    gpus = []
    for found in report.gpus():
        for name in ("vram", "visible_vram", "gtt"):
            found[name] = Domain(**found[name])
        for name in ("own", "others", "shared"):
            found[name] = None if found[name] is None else Pair(*found[name])
        found["heaps"] = None if found["heaps"] is None else [Heap(*heap) for heap in found["heaps"]]
        found["limits"] = [Limit(*limit) for limit in found["limits"]]
        found["missing"] = [Missing(*missing) for missing in found["missing"]]
        gpus.append(Gpu(**found, _report=report))
    return Report(gpus, [Other(*other) for other in report.others()])

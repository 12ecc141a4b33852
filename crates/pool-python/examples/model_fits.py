"""Checks whether a model of so many bytes fits on a GPU, as a model loader would before it loads.

usage: model_fits.py BYTES [ROOT]   ends with 0 if it fits on one, 1 if not, 69 if there is no GPU
"""

import sys

import amdgpu_pool

NAMES = {"fits": "Fits", "spills": "Spills", "too much": "TooMuch", "unknown": "Unknown"}


def main() -> int:
    if len(sys.argv) < 2 or not sys.argv[1].isdecimal():
        print("usage: model_fits.py BYTES [ROOT]", file=sys.stderr)
        return 64
    try:
        report = amdgpu_pool.look(sys.argv[2] if len(sys.argv) > 2 else None)
    except (LookupError, PermissionError) as error:
        print(error, file=sys.stderr)
        return 69
    fits = False
    for gpu in report.gpus:
        fit = gpu.fits(int(sys.argv[1]))
        fits |= bool(fit)
        available = "unknown" if gpu.available is None else gpu.available
        print(f"{gpu.pci} available {available} verdict {NAMES[fit.verdict]}: {fit.reason}")
        for part in fit.parts:
            print(f"  {part.place} {part.bytes}")
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())

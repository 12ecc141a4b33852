"""Lists the requests to the kernel by the function that makes them, and fails if a winsys other than ours makes one of a winsys.

usage: request_origins.py ORIGINS DRIVER

Each line of ORIGINS has the number of a request, the file whose code made it, and the offset in that file.
"""
import collections
import subprocess
import sys

# GEM_CLOSE, PRIME, all of amdgpu, and sync objects. Others may ask for VERSION and GET_CAP.
OF_A_WINSYS = {0x09, 0x2d, 0x2e, *range(0x40, 0x60), *range(0xbf, 0xd0)}
INFO = 0x45


def is_ours(name):
    """Returns True for a function of our library; those of libdrm_amdgpu have no path.

    The request is inlined into the function that makes it.
    """
    return name.startswith(("amdgpu_", "<amdgpu_")) and "::" in name or name.startswith("agw_")


def may_ask(number, name, is_in_driver):
    """Returns True if a function may make a request."""
    # The client asks INFO by itself, for the layouts that it expects of images.
    by_client = number == INFO and name == "amdgpu-vulkan-client"
    return number not in OF_A_WINSYS or is_in_driver and is_ours(name) or by_client


def origins(lines, driver, name_of):
    """Returns the requests by function, and those that no stranger may make."""
    table, strangers = collections.defaultdict(set), []
    for number, where, offset in lines:
        name = name_of[offset] if where == driver else where.rsplit("/", 1)[-1]
        table[name].add(int(number, 16))
        if not may_ask(int(number, 16), name, where == driver):
            strangers.append((number, name))
    return table, strangers


def main(path, driver):
    with open(path) as file:
        lines = sorted({tuple(line.split()) for line in file})
    offsets = [offset for _, where, offset in lines if where == driver]
    names = subprocess.run(["addr2line", "-f", "-C", "-e", driver], input="\n".join(offsets), text=True, capture_output=True,
                           check=True).stdout.splitlines()[::2]
    table, strangers = origins(lines, driver, dict(zip(offsets, names)))
    for name, numbers in sorted(table.items()):
        print(f"{name}: {' '.join(f'{number:#04x}' for number in sorted(numbers))}")
    assert any(is_ours(name) for name in table), "our library made no request"
    assert not strangers, f"requests of a winsys that are not ours: {strangers}"


if __name__ == "__main__":
    main(*sys.argv[1:])

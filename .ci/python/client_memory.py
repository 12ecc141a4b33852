"""Checks that amdgpu-budget shows the memory of a process.

usage: client_memory.py snapshot PROFILE <LINE
       client_memory.py buffer BUDGET

With `snapshot`, LINE is one of `amdgpu-budget watch ps --jsonl`, and a process whose name starts with amdgpu-vulkan has to hold memory
in it. With `buffer`, this process makes a buffer on the render node and has BUDGET, which is amdgpu-budget, list it.
"""
import fcntl
import json
import os
import struct
import subprocess
import sys

NODE = "/dev/dri/renderD128"
# DRM_IOCTL_AMDGPU_GEM_CREATE, and its domain VRAM.
GEM_CREATE = 0xC0206440
VRAM = 4
SIZE = 3 << 20


def holder(snapshot):
    """Returns the process of our Vulkan client that holds the most memory, and how many bytes."""
    assert (snapshot["schema"], snapshot["source"]) == ("amdgpu-budget-ps/1", "live"), snapshot
    (gpu,) = snapshot["gpus"]
    held = [((process["vram"] or 0) + (process["gtt"] or 0), process) for process in gpu["processes"]
            if (process["name"] or "").startswith("amdgpu-vulkan")]
    assert held, [process["name"] for process in gpu["processes"]]
    most, process = max(held, key=lambda pair: pair[0])
    assert most > 1 << 20, process
    return process, most


def check_buffer(listed, handle):
    """Checks that the list of a process's buffers has the one that it made, and returns the descriptor that it lent."""
    (open_file,) = listed["files"]
    (buffer,) = open_file["buffers"]
    assert (buffer["handle"], buffer["size"], buffer["domains"]) == (handle, SIZE, ["vram"]), listed
    return open_file["fd"]


def main(part, argument):
    if part == "snapshot":
        process, held = holder(json.load(sys.stdin))
        print(f"{argument}: process {process['pid']} ({process['name']}) holds {held >> 10} KiB, in {len(process['clients'])} clients")
        return
    request = bytearray(struct.pack("QQQQ", SIZE, 4096, VRAM, 0))
    fcntl.ioctl(os.open(NODE, os.O_RDWR), GEM_CREATE, request)
    (handle,) = struct.unpack("I", request[:4])
    listed = json.loads(subprocess.check_output([argument, "buffers", str(os.getpid()), "--json"]))
    descriptor = check_buffer(listed, handle)
    print(f"process {listed['pid']} lent descriptor {descriptor}: its buffer of {SIZE >> 20} MiB is listed")


if __name__ == "__main__":
    main(*sys.argv[1:])

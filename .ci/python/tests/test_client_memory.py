"""Tests of client_memory."""
import unittest

import client_memory


def snapshot(*processes, source="live"):
    named = [{"name": name, "vram": vram, "gtt": gtt} for name, vram, gtt in processes]
    return {"schema": "amdgpu-budget-ps/1", "source": source, "gpus": [{"processes": named}]}


def listed(**changes):
    buffer = {"handle": 7, "size": client_memory.SIZE, "domains": ["vram"], **changes}
    return {"files": [{"fd": 5, "buffers": [buffer]}]}


class ClientMemory(unittest.TestCase):
    def test_the_client_that_holds_the_most_is_found_among_other_processes(self):
        most = ("amdgpu-vulkan-c", 3 << 20, 1 << 20)
        process, held = client_memory.holder(snapshot(("amdgpu-vulkan-c", None, 2 << 20), most, ("Xorg", 9 << 20, 0), (None, 1, 1)))
        self.assertEqual((process["vram"], held), (3 << 20, 4 << 20))

    def test_a_client_has_to_be_live_and_to_hold_more_than_a_mebibyte(self):
        client = ("amdgpu-vulkan-c", 4 << 20, 0)
        for wrong in (snapshot(client, source="dump"), snapshot(("Xorg", 4 << 20, 0)), snapshot(("amdgpu-vulkan-c", 1 << 20, None))):
            with self.assertRaises(AssertionError):
                client_memory.holder(wrong)

    def test_the_listed_buffer_is_the_one_that_was_made(self):
        self.assertEqual(client_memory.check_buffer(listed(), 7), 5)
        for wrong in (listed(handle=8), listed(size=4096), listed(domains=["gtt"])):
            with self.assertRaises(AssertionError):
                client_memory.check_buffer(wrong, 7)

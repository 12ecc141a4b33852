"""Tests of request_origins."""
import unittest

import request_origins as requests

DRIVER = "/cache/swap.so"
NAME_OF = {"10": "amdgpu_winsys::winsys::ioctl::create", "20": "amdgpu_bo_alloc", "30": "drmGetVersion"}


class RequestOrigins(unittest.TestCase):
    def strangers(self, *lines):
        return requests.origins(lines, DRIVER, NAME_OF)[1]

    def test_functions_of_our_library_may_make_all_requests(self):
        self.assertEqual(self.strangers(("0x40", DRIVER, "10"), ("0xbf", DRIVER, "10")), [])

    def test_functions_of_libdrm_may_not(self):
        self.assertEqual(self.strangers(("0x40", DRIVER, "20")), [("0x40", "amdgpu_bo_alloc")])
        self.assertEqual(self.strangers(("0x40", "/usr/lib/libdrm_amdgpu.so.1", "10")), [("0x40", "libdrm_amdgpu.so.1")])

    def test_everybody_may_ask_for_the_version(self):
        self.assertEqual(self.strangers(("0x00", DRIVER, "30")), [])

    def test_the_client_may_ask_for_information_alone(self):
        client = "/bin/amdgpu-vulkan-client"
        self.assertEqual(self.strangers(("0x45", client, "1")), [])
        self.assertEqual(self.strangers(("0x44", client, "1")), [("0x44", "amdgpu-vulkan-client")])

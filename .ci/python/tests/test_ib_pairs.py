"""Tests of ib_pairs."""
import os
import struct
import tempfile
import unittest

import ib_pairs

UPPER = {0x8001}


class IbPairs(unittest.TestCase):
    def test_lower_halves_of_addresses_may_differ_by_pages(self):
        before, after = [1, 0x0012_3040, 0x8001, 7], [1, 0x0055_6040, 0x8001, 7]
        self.assertEqual(ib_pairs.settle(before, after, UPPER), (before, 1))

    def test_other_differences_stay(self):
        for before, after in (
            ([0x0012_3040, 0x8001], [0x0055_6044, 0x8001]),
            ([0x0012_3040, 0x8002], [0x0055_6040, 0x8002]),
            ([0x0012_3040, 0x8001], [0x0055_6040, 0x0001]),
            ([0x0012_3040], [0x0055_6040]),
        ):
            self.assertEqual(ib_pairs.settle(before, after, UPPER), (after, 0))

    def test_fillers_at_the_end_are_left_out_of_both(self):
        before, after = [5, *ib_pairs.FILLERS[0]], [5, *ib_pairs.FILLER]
        self.assertEqual(ib_pairs.without_filler(before, after), ([5], [5], True))
        self.assertEqual(ib_pairs.without_filler(before, before), (before, before, False))

    def test_a_file_is_named_after_number_ring_and_address(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "0003-gfx-1-0x800100001000.ib"), "wb") as file:
                file.write(struct.pack("<2I", 1, 2))
            self.assertEqual(ib_pairs.load(folder), {"0003": ("gfx", 0x8001_0000_1000, (1, 2), "0003-gfx-1-0x800100001000.ib")})

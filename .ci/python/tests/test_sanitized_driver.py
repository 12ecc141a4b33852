"""Tests of sanitized_driver."""
import unittest

import sanitized_driver


class SanitizedDriver(unittest.TestCase):
    def test_files_are_found_relative_to_their_folder(self):
        entries = [{"directory": "/mesa/build", "file": "../../ours/radv/bo.c"}, {"directory": "/mesa/build", "file": "../src/a.c"}]
        self.assertEqual(sanitized_driver.of_folder(entries, "/ours/radv/"), entries[:1])

    def test_a_driver_is_linked_to_another_file(self):
        self.assertEqual(sanitized_driver.linked_to("cc -o old.so 'a b.o'", "new.so"), ["cc", "-o", "new.so", "a b.o"])

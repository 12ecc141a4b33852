"""Tests of libdrm_requests."""
import unittest

import libdrm_requests as libdrm


class LibdrmRequests(unittest.TestCase):
    def test_a_count_before_a_query_is_that_of_an_older_libdrm(self):
        self.assertEqual(libdrm.requests(["# a comment\n", libdrm.COUNT + "\n", libdrm.INFO + "\n", "40 1\n"]), ["40 1"])
        self.assertEqual(libdrm.requests([libdrm.INFO + "\n"]), [libdrm.INFO])

    def test_the_shorter_request_of_gem_va_is_filled_up(self):
        self.assertEqual(libdrm.requests(["48 40 1 2\n"]), ["48 64 1 2 0 0 0"])

    def test_a_point_that_is_zero_and_a_word_that_the_kernel_does_not_read_are_left_out(self):
        self.assertEqual(libdrm.requests(["c2 24 -22 100000000 c 0\n", "c1 24 0 1 2 7\n"]), ["c2 16 -22 100000000 c", "c1 24 0 1 2 7"])
        self.assertEqual(libdrm.requests(["51 24 0 ADDRESS 1000 e\n"]), ["51 24 0 ADDRESS 1000"])

    def test_the_first_difference_is_named(self):
        self.assertIsNone(libdrm.difference(["a", "b"], ["a", "b"]))
        self.assertEqual(libdrm.difference(["a", "b"], ["a", "c"]), "request 1 is c, and libdrm's b")
        self.assertEqual(libdrm.difference(["a", "b"], ["a"]), "1 requests, and libdrm makes 2")

"""Tests of same_verdict."""
import unittest

from same_verdict import FEW, verdict


def said(*answers):
    return "".join(f"GPU 0\nverdict {word}: because\nended with {status}\n" for word, status in answers)


class SameVerdict(unittest.TestCase):
    def test_three_equal_answers_are_a_verdict(self):
        self.assertEqual(verdict(said(*[("Fits", 0)] * 3), FEW), "Fits")
        self.assertEqual(verdict(said(*[("TooLarge", 1)] * 3), 1 << 50), "TooLarge")

    def test_answers_that_differ_or_miss_are_refused(self):
        fits, large = ("Fits", 0), ("TooLarge", 1)
        for answers, size in (([fits, fits, large], FEW), ([fits, fits], FEW), ([fits, fits, ("Fits", 1)], FEW)):
            with self.assertRaises(AssertionError):
                verdict(said(*answers), size)

    def test_the_exit_status_and_the_size_agree_with_the_verdict(self):
        for answer, size in ((("Fits", 1), FEW), (("Fits", 0), 1 << 50), (("TooLarge", 1), FEW)):
            with self.assertRaises(AssertionError):
                verdict(said(*[answer] * 3), size)

"""Tests of .ci/helpers/chips."""
import importlib.machinery
import importlib.util
import os
import unittest

PATH = os.path.join(os.path.dirname(__file__), "../../helpers/chips")
LOADER = importlib.machinery.SourceFileLoader("chips", PATH)
chips = importlib.util.module_from_spec(importlib.util.spec_from_loader("chips", LOADER))
LOADER.exec_module(chips)
NAMES = ["a", "b", "c", "d", "e", "f", "g"]


class Chips(unittest.TestCase):
    def test_nine_commits_have_all_chips_when_there_are_few(self):
        few = [chips.chosen(NAMES, set(), f"0000000{third}0000000{part}", few=True) for third in range(3) for part in range(3)]
        self.assertEqual(sorted(name for names in few for name in names), NAMES)
        self.assertEqual(chips.chosen(NAMES, {"f", "b"}, "0", few=True), ["b", "f"])

    def test_three_commits_have_all_turns_whatever_their_chips(self):
        self.assertEqual([chips.turn(set(), f"{7:016x}0000000{turn}") for turn in range(3)], ["0", "1", "2"])
        self.assertEqual(chips.turn({"all"}, "0"), "all")

    def test_three_commits_have_all_chips(self):
        thirds = [chips.chosen(NAMES, set(), f"0000000{turn}ffff") for turn in range(3)]
        self.assertEqual(thirds, [["a", "d", "g"], ["b", "e"], ["c", "f"]])

    def test_names_and_all_override_the_commit(self):
        self.assertEqual(chips.chosen(NAMES, {"f", "b"}, "0"), ["b", "f"])
        self.assertEqual(chips.chosen(NAMES, {"all"}, "0"), NAMES)

    def test_neighbours_are_of_one_generation(self):
        self.assertEqual(chips.ordered({"x": "GFX9", "y": "GFX10", "a": "GFX9"}), ["y", "a", "x"])

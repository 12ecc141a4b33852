"""Tests of .ci/python/known_hazards.py."""
import unittest

import known_hazards

KNOWN = "# A comment.\nradeonsi 25.0.7 pitcairn not-written-back function it does not wait\n"
HAZARD = {"kind": "not-written-back", "mesa": "function"}


class KnownHazards(unittest.TestCase):
    def test_a_known_hazard_is_known_of_its_client_version_and_chip_alone(self):
        self.assertEqual(known_hazards.judged(KNOWN, "radeonsi", "25.0.7-2", "pitcairn", [HAZARD, HAZARD]), ([], []))
        for place in [("RADV", "25.0.7-2", "pitcairn"), ("radeonsi", "26.2.6", "pitcairn"), ("radeonsi", "25.0.7-2", "vega10")]:
            self.assertEqual(known_hazards.judged(KNOWN, *place, [HAZARD]), ([HAZARD], []))

    def test_another_kind_or_function_is_unknown(self):
        for other in [{**HAZARD, "kind": "race"}, {**HAZARD, "mesa": None}]:
            unknown, _ = known_hazards.judged(KNOWN, "radeonsi", "25.0.7", "pitcairn", [HAZARD, other])
            self.assertEqual(unknown, [other])

    def test_a_known_hazard_that_is_gone_is_told(self):
        self.assertEqual(known_hazards.judged(KNOWN, "radeonsi", "25.0.7", "pitcairn", []), ([], [("not-written-back", "function")]))
        self.assertEqual(known_hazards.judged(KNOWN, "radeonsi", "26.2.6", "pitcairn", []), ([], []))

    def test_the_list_can_be_read(self):
        self.assertEqual(known_hazards.judged(known_hazards.KNOWN.read_text(), "none", "1", "none", []), ([], []))

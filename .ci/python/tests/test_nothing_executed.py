"""Tests of nothing_executed."""
import unittest

import nothing_executed

PASSED = [{"status": "pass", "id": name} for name in sorted(nothing_executed.NEEDED)]
FAILED = {"status": "fail", "id": "exec.copy", "detail": "the fence is signalled, and nothing executed"}


class NothingExecuted(unittest.TestCase):
    def test_a_report_of_a_gpu_that_executes_nothing_is_right(self):
        self.assertIsNone(nothing_executed.wrong([*PASSED, FAILED]))

    def test_other_failures_crashes_and_missing_passes_are_wrong(self):
        self.assertIn("va.map", nothing_executed.wrong([*PASSED, {"status": "fail", "id": "va.map", "detail": "EINVAL"}]))
        self.assertIn("crashed", nothing_executed.wrong([*PASSED, {"status": "crash", "id": "bo.map"}]))
        self.assertIn(PASSED[0]["id"], nothing_executed.wrong(PASSED[1:]))

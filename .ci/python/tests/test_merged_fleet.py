"""Tests of merged_fleet."""
import sqlite3
import unittest

import merged_fleet

SCRIPT = """CREATE TABLE gpus (gpu INTEGER);
CREATE TABLE failures (gpu INTEGER, check_id TEXT);
CREATE TABLE facts (gpu INTEGER, name TEXT, value TEXT);
CREATE TABLE failures_by_fact (check_id TEXT, name TEXT, value TEXT, machines INTEGER, failed INTEGER);
CREATE TABLE left_out (path TEXT);
INSERT INTO gpus VALUES (1), (2);
INSERT INTO failures VALUES (1, 'exec.copy');
INSERT INTO facts VALUES (1, 'firmware sdma', '0x0000004a');
INSERT INTO failures_by_fact VALUES ('exec.copy', 'firmware sdma', '0x0000004a', 5, 1);
INSERT INTO left_out VALUES ('x');
"""


def merged(gpus=2, failed_with=1, machines=5):
    finding = {"fact": "firmware sdma", "value": "0x0000004a", "failed_with": failed_with, "with": machines}
    return {"gpus": gpus, "failures": [{"name": "exec.copy", "gpus": [1], "findings": [finding]}], "left_out": ["x"]}


class MergedFleet(unittest.TestCase):
    def test_findings_are_read_by_failure(self):
        self.assertEqual(merged_fleet.findings(merged()), {"exec.copy": [("firmware sdma", "0x0000004a")]})

    def test_tables_agree_with_the_document(self):
        database = sqlite3.connect(":memory:")
        database.executescript(SCRIPT)
        merged_fleet.check_tables(database, merged())
        for wrong in (merged(gpus=3), merged(failed_with=2), merged(machines=4)):
            with self.assertRaises(AssertionError):
                merged_fleet.check_tables(database, wrong)

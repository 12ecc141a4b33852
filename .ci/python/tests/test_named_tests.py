"""Tests of named_tests."""
import unittest

import named_tests


class NamedTests(unittest.TestCase):
    def test_a_list_of_a_test_binary_has_other_lines_too(self):
        self.assertEqual(named_tests.listed(["a::b: test\n", "c: benchmark\n", "2 tests, 0 benchmarks\n"]), {"a::b"})

    def test_documents_name_tests_by_file(self):
        self.assertEqual(named_tests.named("A.md", "see `tests/a-b/c.rs::it_holds` and `x.rs`"), [("tests/a-b/c.rs", "it_holds")])

    def test_ledgers_name_tests_in_rows(self):
        text = '[[row]]\ntests = ["a.rs::one", "b.rs::two"]\n[[row]]\nname = "none"\n'
        self.assertEqual(named_tests.named("l.toml", text), [("a.rs", "one"), ("b.rs", "two")])

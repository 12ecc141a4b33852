"""Tests of llvm_encodings."""
import unittest

import llvm_encodings as llvm

PRINTED = """\t.text
\tv_add_f32_e32 v1, v2,   v3                   ; encoding: [0x02,0x07,0x02,0x06]
\ts_endpgm                                // encoding: [0x00,0x00,0x81,0xbf]
"""
ERRORS = """<stdin>:2:1: error: invalid operand for instruction
v_bad v1
^
<stdin>:7:1: warning: invalid instruction encoding
"""


class LlvmEncodings(unittest.TestCase):
    def test_text_and_bytes_of_each_instruction_are_read(self):
        self.assertEqual(llvm.answers(PRINTED), [("v_add_f32_e32 v1, v2, v3", "02070206"), ("s_endpgm", "000081bf")])

    def test_lines_with_errors_and_warnings_are_refused(self):
        self.assertEqual(llvm.refused_lines(ERRORS), {2, 7})

    def test_a_difference_is_new_unless_the_list_explains_it(self):
        known = llvm.read_known("# a comment\n\ngfx9,gfx10 bytes ^v_sub\n")
        comparison = llvm.Comparison("gfx9", known)
        comparison.add("01", "v_add v0", ("v_add v0", ""), ("", "01"))
        comparison.add("02", "v_sub v0", ("v_sub v0", ""), ("", "ff"))
        comparison.add("03", "v_mul v0", ("v_mul_e64 v0", ""), None)
        self.assertEqual(comparison.new, ["gfx9 name: 03 v_mul v0 | v_mul_e64"])
        self.assertEqual(known[0].count, 1)
        self.assertEqual((comparison.confirmed, len(comparison.operations)), ({"v_add", "v_sub"}, 3))
        self.assertTrue(comparison.has_too_few())

    def test_a_known_difference_is_about_its_generations_and_side(self):
        known, = llvm.read_known("gfx9,gfx10 bytes ^v_sub\n")
        self.assertTrue(known.is_about("gfx10", "bytes", "v_sub v0"))
        self.assertFalse(known.is_about("gfx10_3", "bytes", "v_sub v0"))
        self.assertFalse(known.is_about("gfx10", "name", "v_sub v0"))

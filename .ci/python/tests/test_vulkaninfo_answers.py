"""Tests of vulkaninfo_answers."""
import unittest

import vulkaninfo_answers as answers

TEXT = """
\tdeviceName        = AMD Radeon RX 6800 (RADV NAVI21)
\tdeviceID          = 0x73bf
\tmemoryHeaps[0]:
\t\tsize   = 4096 (0x00001000) (4.00 KiB)
\t\tbudget = 2048 (0x00000800) (2.00 KiB)
\t\tusage  = 0 (0x00000000) (0.00 B)
\t\tflags: count = 1
\t\t\tMEMORY_HEAP_DEVICE_LOCAL_BIT
\tmemoryTypes[0]:
\t\theapIndex     = 0
\t\tpropertyFlags = 0x0001: count = 1
\t\tqueueCount                  = 1
\t\tqueueFlags                  = QUEUE_GRAPHICS_BIT | QUEUE_COMPUTE_BIT | QUEUE_TRANSFER_BIT | QUEUE_SPARSE_BINDING_BIT
\t\ttimestampValidBits          = 64
"""
WANTED = {
    "properties": {"deviceName": "another (RADV NAVI21)", "deviceID": "0x73bf"},
    "memoryHeaps": [{"size": "0x1000", "heapBudget": "0x800", "heapUsage": "0x0", "flags": "0x1"}],
    "memoryTypes": [{"heapIndex": 0, "propertyFlags": "0x1"}, {"heapIndex": 0, "propertyFlags": "0x21"}],
    "queueFamilies": [{"queueCount": 1, "queueFlags": "0x7", "timestampValidBits": 64}],
}


class VulkaninfoAnswers(unittest.TestCase):
    def test_protected_memory_and_the_sparse_bit_are_not_compared(self):
        self.assertEqual(answers.compare("navi21", TEXT, WANTED, "GFX10_3"), (1, 1, 1))

    def test_every_other_difference_is_named(self):
        changes = {"RADV NAVI21": "device name", "0x73bf": "device id", "(0x00000800)": "heaps", "0x0001:": "memory types",
                   "= 64": "queue families"}
        for old, what in changes.items():
            changed = TEXT.replace(old, old.replace("NAVI21", "NAVI22").replace("f)", "e)").replace("0x73bf", "0x73be")
                                   .replace("800", "900").replace("0001:", "0003:").replace("64", "32"))
            self.assertNotEqual(changed, TEXT)
            with self.assertRaisesRegex(answers.Different, what):
                answers.compare("navi21", changed, WANTED, "GFX10_3")

    def test_a_family_that_25_0_has_in_addition_is_expected(self):
        with self.assertRaisesRegex(answers.Different, "queue families"):
            answers.compare("pitcairn", TEXT, WANTED, "GFX6")

    def test_coherent_types_of_gfx12_are_left_out(self):
        more = TEXT.replace("\t\tqueueCount", "\tmemoryTypes[1]:\n\t\theapIndex     = 0\n\t\tpropertyFlags = 0x0041: count = 2\n\t\tqueueCount", 1)
        self.assertEqual(answers.compare("gfx1201", more, WANTED, "GFX12"), (1, 2, 1))
        with self.assertRaises(answers.Different):
            answers.compare("navi21", more, WANTED, "GFX10_3")

    def test_a_chip_is_called_as_it_is_today(self):
        self.assertEqual(answers.chip_of("AMD (RADV STRIX_HALO)"), "GFX1151")

    def test_a_queue_flag_that_is_new_is_an_error(self):
        with self.assertRaisesRegex(answers.Different, "DATA_GRAPH"):
            answers.flags_of("QUEUE_COMPUTE_BIT | QUEUE_DATA_GRAPH_BIT")

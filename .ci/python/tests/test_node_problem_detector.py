"""Tests of node_problem_detector."""
import copy
import unittest

import node_problem_detector as detector

CONFIG = {
    "pluginConfig": {"timeout": "2m"},
    "conditions": [{"type": "GpuProblem"}],
    "rules": [{"type": "permanent", "condition": "GpuProblem", "timeout": "90s"}, {"type": "temporary", "timeout": "1m"}],
}
SET = {
    "kind": "DaemonSet",
    "metadata": {"name": "a"},
    "spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {
                "serviceAccountName": "a",
                "volumes": [{"name": "sys"}],
                "containers": [{"volumeMounts": [{"name": "sys"}]}],
            },
        },
    },
}
ACCOUNT = {"kind": "ServiceAccount", "metadata": {"name": "a"}}


class NodeProblemDetector(unittest.TestCase):
    def test_times_have_units(self):
        self.assertEqual([detector.seconds(text) for text in ("5s", "2m", "1h")], [5, 120, 3600])

    def test_a_rule_may_not_take_longer_than_all_nor_have_an_unknown_condition(self):
        detector.check_rules(CONFIG)
        for key, value in (("timeout", "3m"), ("condition", "Other"), ("type", "eternal")):
            wrong = copy.deepcopy(CONFIG)
            wrong["rules"][0][key] = value
            with self.assertRaises(AssertionError):
                detector.check_rules(wrong)

    def test_a_set_selects_its_pods_and_mounts_its_volumes(self):
        detector.check_sets([SET, ACCOUNT])
        with self.assertRaises(AssertionError):
            detector.check_sets([SET])
        for change in (
            lambda one: one["spec"]["template"]["metadata"]["labels"].update(app="b"),
            lambda one: one["spec"]["template"]["spec"]["volumes"].append({"name": "dev"}),
        ):
            wrong = copy.deepcopy(SET)
            change(wrong)
            with self.assertRaises(AssertionError):
                detector.check_sets([wrong, ACCOUNT])

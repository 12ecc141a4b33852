"""Tests of dashboard and prometheus_answers."""
import json
import unittest

import dashboard
import prometheus_answers


class Dashboard(unittest.TestCase):
    def test_variables_of_grafana_are_replaced(self):
        query = 'rate(a{gpu=~"$gpu"}[$__rate_interval]) + b{gpu=~"${gpu:regex}"} offset ${__interval}'
        self.assertEqual(dashboard.plain(query), 'rate(a{gpu=~".+"}[5m]) + b{gpu=~".+"} offset 5m')

    def test_a_variable_that_is_not_known_is_an_error(self):
        with self.assertRaises(AssertionError):
            dashboard.plain("a{host=~\"$host\"}")

    def test_each_query_is_a_rule(self):
        panels = {"panels": [{"targets": [{"expr": "a"}, {"expr": "b"}]}, {"title": "a row"}]}
        rules = dashboard.rules(panels)["groups"][0]["rules"]
        self.assertEqual(rules, [{"record": "query:0", "expr": "a"}, {"record": "query:1", "expr": "b"}])

    def test_alerts_of_all_messages_are_told(self):
        message = {"alerts": [{"labels": {"gpu": "0", "alertname": "AmdGpuPoolFull"}}, {"labels": {"alertname": "Watchdog"}}]}
        lines = [json.dumps(message), json.dumps({"alerts": []})]
        self.assertEqual(prometheus_answers.told(lines), {("0", "AmdGpuPoolFull"), (None, "Watchdog")})

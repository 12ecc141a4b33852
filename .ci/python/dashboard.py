"""Writes the queries of a Grafana dashboard as recording rules, which promtool checks.

usage: dashboard.py DASHBOARD
"""
import json
import re
import sys


def queries(dashboard):
    """Returns the queries of all panels."""
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def plain(query, interval="5m"):
    """Returns a query without Grafana's variables: a fixed interval, and all GPUs."""
    query = re.sub(r"\$\{?__(rate_)?interval\}?", interval, query)
    query = re.sub(r"\$\{?gpu(:\w+)?\}?", ".+", query)
    assert "$" not in query, query
    return query


def rules(dashboard):
    """Returns a file of rules, one for each query."""
    records = [{"record": f"query:{number}", "expr": plain(query)} for number, query in enumerate(queries(dashboard))]
    return {"groups": [{"name": "dashboard", "rules": records}]}


def main(path):
    with open(path) as file:
        print(json.dumps(rules(json.load(file))))


if __name__ == "__main__":
    main(*sys.argv[1:])

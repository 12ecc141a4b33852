"""Checks what a Prometheus that scrapes three GPUs answers: rules, the queries of a dashboard, and alerts.

usage: prometheus_answers.py ADDRESS DASHBOARD MESSAGES

MESSAGES is the file in which alert_receiver.py keeps what an Alertmanager sent; empty if there is none.
"""
import json
import sys
import time
import urllib.parse
import urllib.request

import dashboard


def told(lines):
    """Returns the alerts of messages, by GPU and name."""
    return {(alert["labels"].get("gpu"), alert["labels"]["alertname"]) for line in lines for alert in json.loads(line)["alerts"]}


def until(what, found, seconds=90):
    """Returns the first result that is true, or ends the program after a time."""
    end = time.monotonic() + seconds
    while True:
        try:
            result = found()
            if result:
                return result
        except OSError:
            result = None
        if time.monotonic() > end:
            sys.exit(f"{what}: still {result!r} after {seconds} s")
        time.sleep(0.5)


def main(address, path, messages):
    def get(what, **query):
        with urllib.request.urlopen(f"{address}/api/v1/{what}?{urllib.parse.urlencode(query)}", timeout=10) as answer:
            return json.load(answer)["data"]

    def alerts():
        with open(messages) as file:
            return told(file)

    with open(path) as file:
        queries = dashboard.queries(json.load(file))
    assert len(queries) >= 10, queries
    until("not all GPUs were scraped", lambda: len(get("query", query="amdgpu_info")["result"]) == 3)
    # Rates need two samples, and rules one evaluation behind them.
    until("no rule was recorded", lambda: len(get("query", query="gpu:amdgpu_moved_bytes:rate5m")["result"]) == 3)
    rules = [rule for group in get("rules")["groups"] for rule in group["rules"]]
    assert len(rules) == 8 and all(rule["health"] == "ok" for rule in rules), rules
    for query in queries:
        plain = dashboard.plain(query, "1m")
        until(f"{plain} returns nothing", lambda plain=plain: get("query", query=plain)["result"], 30)
    for record in ("gpu:amdgpu_pool_used:ratio", "gpu_domain:amdgpu_memory_used:ratio"):
        values = [float(one["value"][1]) for one in get("query", query=record)["result"]]
        assert values and all(0 <= value <= 1 for value in values), (record, values)
    # The card of the scripted load is full for most of the time.
    if messages:
        until("no alert of a full pool arrived", lambda: any(name == "AmdGpuPoolFull" for _, name in alerts()))
        full = sorted(gpu for gpu, name in alerts() if name == "AmdGpuPoolFull")
        print(f"Alertmanager sent on that the memory of {', '.join(full)} is full")
    print(f"{len(rules)} rules are evaluated, and {len(queries)} queries of the dashboard return data")


if __name__ == "__main__":
    main(*sys.argv[1:])

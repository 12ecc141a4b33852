"""Checks the rules for Kubernetes' node-problem-detector and the DaemonSets around them for what no schema says.

usage: node_problem_detector.py FOLDER
"""
import json
import re
import sys


def seconds(text):
    """Returns a time of the detector's configuration in seconds."""
    number, unit = re.fullmatch(r"(\d+)([smh])", text).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


def check_rules(config):
    """Checks what the loader refuses: a longer limit than all have, and a permanent rule whose condition it does not know."""
    limit = seconds(config["pluginConfig"]["timeout"])
    conditions = {condition["type"] for condition in config["conditions"]}
    for rule in config["rules"]:
        assert rule["type"] in ("temporary", "permanent"), rule
        assert seconds(rule["timeout"]) <= limit, rule
        assert rule["type"] == "temporary" or rule["condition"] in conditions, rule


def check_sets(documents):
    """Checks that each DaemonSet selects its own pods, mounts all of its volumes, and uses an account that there is."""
    sets = [document for document in documents if document["kind"] == "DaemonSet"]
    for one in sets:
        template = one["spec"]["template"]
        assert one["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items(), one["metadata"]
        volumes = {volume["name"] for volume in template["spec"]["volumes"]}
        for container in template["spec"]["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} == volumes, one["metadata"]
    accounts = {document["metadata"]["name"] for document in documents if document["kind"] == "ServiceAccount"}
    assert {one["spec"]["template"]["spec"].get("serviceAccountName") for one in sets} - {None} == accounts


def main(folder):
    import yaml

    with open(folder + "/amdgpu-monitor.json") as file:
        config = json.load(file)
    check_rules(config)
    documents = []
    for name in ("node-problem-detector", "exporter"):
        with open(f"{folder}/{name}.yaml") as file:
            documents += yaml.safe_load_all(file)
    check_sets(documents)
    print(f"{len(documents)} manifests and {len(config['rules'])} rules are valid")


if __name__ == "__main__":
    main(*sys.argv[1:])

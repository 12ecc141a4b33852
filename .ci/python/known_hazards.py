"""Prints the hazards of a report that tests/real-clients/known-hazards does not list, and the lines of the list that none of them matches.

usage: known_hazards.py CLIENT VERSION CHIP REPORT      ends with 1 if it prints anything
"""
import json
import pathlib
import sys

KNOWN = pathlib.Path(__file__).resolve().parents[2] / "tests/real-clients/known-hazards"


def judged(known, client, version, chip, hazards):
    """Returns the hazards that are not known, and the known ones of this client, version and chip that are not among them."""
    rows = [line.split(maxsplit=5) for line in known.splitlines() if line and not line.startswith("#")]
    meant = {(kind, mesa) for name, first, profile, kind, mesa, _ in rows
             if (name, profile) == (client, chip) and version.startswith(first)}
    found = {(hazard["kind"], hazard["mesa"]) for hazard in hazards}
    unknown = [hazard for hazard in hazards if (hazard["kind"], hazard["mesa"]) not in meant]
    return unknown, sorted(meant - found)


def main(client, version, chip, report):
    hazards = [json.loads(line) for line in pathlib.Path(report).read_text().splitlines()]
    unknown, gone = judged(KNOWN.read_text(), client, version, chip, hazards)
    for hazard in unknown:
        print(json.dumps(hazard))
    for kind, mesa in gone:
        print(f"{client} {version} on {chip} has no {kind} ({mesa}) any more, which {KNOWN.name} lists")
    return 1 if unknown or gone else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

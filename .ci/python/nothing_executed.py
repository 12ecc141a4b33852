"""Checks the smoke test's report of a GPU that executes nothing: everything up to mapping passed, and nothing failed for another reason.

usage: nothing_executed.py GPU REPORT
"""
import json
import sys

NEEDED = {"inventory.open", "inventory.heaps", "va.windows", "bo.create", "bo.map", "memory.types"}


def wrong(results):
    """Returns what is wrong with the results; None if nothing is."""
    by_word = {}
    for result in results:
        by_word.setdefault(result["status"], []).append(result)
    others = [result["id"] for result in by_word.get("fail", []) if "nothing executed" not in result["detail"]]
    if others:
        return f"failed for another reason than a GPU that executes nothing: {others}"
    if "crash" in by_word:
        return f"crashed: {[result['id'] for result in by_word['crash']]}"
    missing = NEEDED - {result["id"] for result in by_word.get("pass", [])}
    if missing:
        return f"did not pass {sorted(missing)}"
    return None


def main(gpu, path):
    with open(path) as file:
        results = json.load(file)["results"]
    found = wrong(results)
    assert found is None, f"{gpu}: {found}"
    count = {word: sum(result["status"] == word for result in results) for word in ("pass", "fail", "skip")}
    print(f"{gpu}: {count['pass']} passed, {count['fail']} found that nothing executed, {count['skip']} skipped")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Merges the reports of a simulated fleet, and checks time, memory, findings and tables.

usage: merged_fleet.py PROGRAM FOLDER MACHINES

PROGRAM is amdgpu-smoke; FOLDER/reports has what examples/simulated-fleet wrote.
"""
import json
import resource
import sqlite3
import subprocess
import sys
import time

MOST_BYTES = 300e6
# The faults of the example, each with the fact that it goes with.
SEEDED = {"exec.copy": [("firmware sdma", "0x0000004a")], "bo.metadata": [("kernel", "6.9.3")], "stopped run": [("slot", "5")]}


def findings(merged):
    """Returns the facts that go with each failure."""
    return {failure["name"]: [(finding["fact"], finding["value"]) for finding in failure["findings"]] for failure in merged["failures"]}


def check_tables(database, merged):
    """Checks that the tables say what the document says."""

    def count(query):
        return database.execute(query).fetchone()[0]

    assert count("SELECT COUNT(*) FROM gpus") == merged["gpus"]
    copies = next(failure for failure in merged["failures"] if failure["name"] == "exec.copy")
    assert count("SELECT COUNT(DISTINCT gpu) FROM failures WHERE check_id = 'exec.copy'") == len(copies["gpus"])
    assert count("SELECT COUNT(*) FROM left_out") == len(merged["left_out"]) > 0
    by_fact = """SELECT failed, machines FROM failures_by_fact
                 WHERE check_id = 'exec.copy' AND name = 'firmware sdma' AND value = '0x0000004a'"""
    with_it = copies["findings"][0]
    assert database.execute(by_fact).fetchall() == [(with_it["failed_with"], with_it["with"])]
    broken = """SELECT COUNT(*) FROM failures JOIN facts USING (gpu)
                WHERE check_id = 'exec.copy' AND name = 'firmware sdma' AND value = '0x0000004a'"""
    assert count(broken) == copies["findings"][0]["failed_with"]


def check_database(program, folder, merged):
    """Checks the file of a program that was built with SQLite; of another one, that it says so."""
    began = time.monotonic()
    written = subprocess.run([program, "collect", folder + "/reports", "--sqlite", folder + "/a.db"], capture_output=True, text=True)
    if "built without SQLite" in written.stderr:
        print(written.stderr.strip())
        return
    assert written.returncode == 0, written.stderr
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"with a database: {time.monotonic() - began:.1f} s, at most {memory / 1e6:.0f} MB")
    assert memory < MOST_BYTES, memory
    check_tables(sqlite3.connect(f"file:{folder}/a.db?mode=ro", uri=True), merged)


def main(program, folder, machines):
    began = time.monotonic()
    with open(folder + "/text", "w") as text:
        subprocess.run([program, "collect", folder + "/reports", f"--json={folder}/a.json", f"--sql={folder}/a.sql",
                        "--html", folder + "/a.html"], check=True, stdout=text)
    seconds = time.monotonic() - began
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"{seconds:.1f} s, {memory / 1e6:.0f} MB")
    with open(folder + "/text") as text, open(folder + "/a.json") as document, open(folder + "/a.sql") as script:
        print(text.read())
        assert memory < MOST_BYTES, memory
        merged = json.load(document)
        assert merged["gpus"] == merged["machines"] == int(machines), (merged["gpus"], merged["machines"])
        found = findings(merged)
        assert {name: found.get(name) for name in SEEDED} == SEEDED, found
        database = sqlite3.connect(":memory:")
        database.executescript(script.read())
        check_tables(database, merged)
    check_database(program, folder, merged)


if __name__ == "__main__":
    main(*sys.argv[1:])

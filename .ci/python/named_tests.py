"""Checks that the tests that documents name are among those that the test binaries list, and are not ignored.

usage: named_tests.py ALL IGNORED DOCUMENT...

ALL and IGNORED are what `cargo test -- --list` prints. A document is a ledger (TOML), or text that names tests as `file.rs::name`.
"""
import re
import sys
import tomllib


def listed(lines):
    """Returns the paths of the tests of a list."""
    return {line.removesuffix(": test\n") for line in lines if line.endswith(": test\n")}


def named(path, text):
    """Returns file and name of each test that a document names."""
    if path.endswith(".toml"):
        return [tuple(test.rsplit("::", 1)) for row in tomllib.loads(text)["row"] for test in row.get("tests", [])]
    return re.findall(r"`([\w./-]+\.rs)::(\w+)`", text)


def main(everything, ignored, *documents):
    with open(everything) as one, open(ignored) as other:
        run = listed(one) - listed(other)
    names = {name.rsplit("::", 1)[-1] for name in run}
    missing, count = [], 0
    for path in documents:
        with open(path) as file:
            tests = named(path, file.read())
        count += len(tests)
        missing += [f"{path}: {file}::{name}" for file, name in tests if name not in names]
    print(f"{count} tests are named, {len(run)} are run")
    if missing or count < 200:
        sys.exit("not run:\n" + "\n".join(missing))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Lets jsonschema and junitparser read the reports of the tools.

usage: report_parsers.py FOLDER

FOLDER has KIND.*.json for each schema, and CHIP.0.xml and CHIP.1.xml with JUnit reports of a run that passed and of one that failed.
"""
import glob
import json
import os
import sys

SCHEMAS = {
    "smoke": "crates/smoke/schema/amdgpu-smoke-1.json",
    "budget": "crates/budget/schema/amdgpu-budget-1.schema.json",
    "budget-why": "crates/budget/schema/amdgpu-budget-why-1.schema.json",
    "budget-buffers": "crates/budget/schema/amdgpu-budget-buffers-1.schema.json",
    "ib-why": "crates/ib/schema/amdgpu-ib-why-1.schema.json",
}


def validate(kind, schema_path, folder):
    """Validates all documents of a kind, and returns their number."""
    import jsonschema

    with open(schema_path) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    paths = glob.glob(f"{folder}/{kind}.*.json")
    assert paths, f"no report of {kind}"
    for path in paths:
        with open(path) as file:
            wrong = [f"{list(error.path)}: {error.message[:200]}" for error in validator.iter_errors(json.load(file))]
        assert not wrong, (os.path.basename(path), wrong[:5])
    return len(paths)


def cases(path):
    """Returns the number of cases of a JUnit report, and that of those that failed."""
    from junitparser import Error, Failure, JUnitXml

    xml = JUnitXml.fromfile(path)
    suites = list(xml) if isinstance(xml, JUnitXml) else [xml]
    found = [case for suite in suites for case in suite]
    return len(found), sum(any(isinstance(result, (Error, Failure)) for result in case.result) for case in found)


def main(folder):
    count = sum(validate(kind, path, folder) for kind, path in SCHEMAS.items())
    print(f"jsonschema: {count} documents fit {len(SCHEMAS)} schemas")
    for path in sorted(glob.glob(f"{folder}/*.xml")):
        total, failed = cases(path)
        assert total and bool(failed) == path.endswith(".1.xml"), (path, total, failed)
        print(f"junitparser: {os.path.basename(path)}: {total} cases, {failed} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])

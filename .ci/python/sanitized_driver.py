"""Compiles the C files of a folder once more with sanitizers, and links a driver with them.

usage: sanitized_driver.py FOLDER DRIVER TARGET

Runs in the folder of Mesa's build, by the commands of its compile_commands.json. The objects are removed, so that ninja makes them anew.
"""
import json
import os
import shlex
import subprocess
import sys

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]


def of_folder(entries, folder):
    """Returns the entries of a compilation database whose file is below a folder."""
    return [entry for entry in entries if os.path.abspath(os.path.join(entry["directory"], entry["file"])).startswith(folder)]


def linked_to(command, target):
    """Returns a link command with another output."""
    words = shlex.split(command)
    words[words.index("-o") + 1] = target
    return words


def main(folder, driver, target):
    with open("compile_commands.json") as file:
        entries = of_folder(json.load(file), folder)
    objects = [entry["output"] for entry in entries]
    assert len(objects) >= 5, f"only {objects} are ours"
    for entry in entries:
        subprocess.run(shlex.split(entry["command"]) + SANITIZERS, check=True)
    commands = subprocess.run(["ninja", "-t", "commands", driver], capture_output=True, text=True, check=True).stdout
    subprocess.run(linked_to(commands.splitlines()[-1], target) + SANITIZERS, check=True)
    for path in objects:
        os.remove(path)
    print(f"{len(objects)} objects of ours under AddressSanitizer")


if __name__ == "__main__":
    main(*sys.argv[1:])

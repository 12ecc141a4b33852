"""Checks that the programs that ask whether a model fits say the same in Rust, C and Python.

usage: same_verdict.py FILE BYTES

FILE has what each of the three programs printed for BYTES bytes, and its exit status in a line "ended with STATUS". The text itself may
differ: what the machine has available moves between the runs.
"""
import re
import sys

# Bytes that fit on any card.
FEW = 1048576


def verdict(text, size):
    """Returns the verdict that all three programs give, after checking that the exit status says the same."""
    answers = re.findall(r"verdict (\w+):|ended with (\d+)", text)
    assert len(answers) == 6 and answers[:2] == answers[2:4] == answers[4:], text
    (said, _), (_, status) = answers[:2]
    assert (said == "Fits") == (status == "0") == (size == FEW), text
    return said


if __name__ == "__main__":
    with open(sys.argv[1]) as said:
        print(f"{sys.argv[2]} bytes on navi21: {verdict(said.read(), int(sys.argv[2]))}")

import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "helpers/two-at-a-time"


def run(*checks):
    """Returns the exit code and the output of the script for lines TITLE|COMMAND."""
    done = subprocess.run([SCRIPT], input="\n".join(checks) + "\n", capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class TwoAtATime(unittest.TestCase):
    def test_the_output_of_each_check_stands_in_one_piece(self):
        code, said = run("slow|echo first; sleep 0.5; echo second", "fast|echo third")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"== slow \(took \d+ s\)\nfirst\nsecond\n")
        self.assertRegex(said, r"== fast \(took \d+ s\)\nthird\n")

    def test_two_checks_run_at_a_time(self):
        # Each waits for the other.
        code, said = run(
            "a|mkdir -p $CHECKS_LOCK.a; until [ -d $CHECKS_LOCK.b ]; do sleep 0.05; done; rmdir $CHECKS_LOCK.b",
            "b|mkdir -p $CHECKS_LOCK.b; until [ -d $CHECKS_LOCK.a ]; do sleep 0.05; done; rmdir $CHECKS_LOCK.a",
        )
        self.assertEqual(code, 0, said)

    def test_after_a_failure_no_check_begins(self):
        code, said = run("fails|echo reason; exit 4", "beside|sleep 0.3", "third|sleep 0.3", "never|true", "never|true")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"reason\nfails: exit code 4\n")
        self.assertNotIn("== never", said)

    def test_a_failing_command_in_the_middle_fails_the_check(self):
        self.assertEqual(run("middle|false; true")[0], 1)

    def test_a_check_may_lack_what_it_needs(self):
        self.assertEqual(run("lacks|sh -c 'exit 3' || [ $? = 3 ]")[0], 0)
        self.assertEqual(run("fails|sh -c 'exit 2' || [ $? = 3 ]")[0], 1)


if __name__ == "__main__":
    unittest.main()

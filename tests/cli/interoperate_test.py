"""The examples of docs/interoperate.md (page.py)."""

import pathlib
import sys
import unittest

from cluster import Cluster
from page import blocks_of, run_page

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
PAGE = SOURCE / "docs" / "interoperate.md"

# The beginning of a line of commands, and why it is not run.
NOT_RUN = {}


class InteroperateTest(unittest.TestCase):
    def test_examples(self):
        settings = {file: text for _, _, file, text in blocks_of(PAGE.read_text()) if file.startswith("coordinator/")}
        cluster = Cluster(BIN, ["node-1"], settings)
        self.addCleanup(cluster.close)
        run_page(self, PAGE.read_text(), cluster, NOT_RUN)

    def test_no_exception_is_stale(self):
        lines = [line for _, language, file, text in blocks_of(PAGE.read_text()) if not language and not file
                 for line in text.splitlines()]
        for start in NOT_RUN:
            self.assertTrue(any(line.startswith(start) for line in lines), start)


if __name__ == "__main__":
    unittest.main()

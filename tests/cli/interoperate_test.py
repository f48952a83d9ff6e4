"""The examples of docs/interoperate.md, run as they stand there, in order, against a coordinator and an agent of this build.

A block whose fence names a language and a file (```yaml my.yaml) is that file, one without a language holds commands, and a
```text block is what the commands before it print, where … stands for anything.
"""

import pathlib
import re
import sys
import unittest

from cluster import Cluster

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
PAGE = SOURCE / "docs" / "interoperate.md"

# The beginning of a line of commands, and why it is not run.
NOT_RUN = {}


def blocks_of(page):
    """(section, language, file, text) of each block."""
    section, found = "", []
    for heading, language, file, text in re.findall(r"^## ([^\n]*)$|^```(\w*)(?: (\S+))?\n(.*?)^```$", page, re.M | re.S):
        section = heading or section
        if not heading:
            found.append((section, language, file, text))
    return found


def runs(line):
    return not any(line.startswith(start) for start in NOT_RUN)


def pattern_of(shown):
    return ".*".join(re.escape(part) for part in shown.strip().split("…"))


class InteroperateTest(unittest.TestCase):
    def test_examples(self):
        settings = {file: text for _, _, file, text in blocks_of(PAGE.read_text()) if file.startswith("coordinator/")}
        cluster = Cluster(BIN, ["node-1"], settings)
        self.addCleanup(cluster.close)
        said, sections = "", {}
        for section, language, file, text in blocks_of(PAGE.read_text()):
            sections.setdefault(section, 0)
            with self.subTest(section=section, block=file or text.splitlines()[0]):
                if file:
                    (cluster.folder / file).parent.mkdir(exist_ok=True)
                    (cluster.folder / file).write_text(text)
                elif language == "text":
                    self.assertRegex(said.strip(), rf"(?s)\A{pattern_of(text)}\Z")
                elif not language:
                    sections[section] += 1
                    lines = [line for line in text.splitlines() if runs(line)]
                    status, said = cluster.run("set -euo pipefail\n" + "\n".join(lines))
                    self.assertEqual(status, 0, said)
        self.assertGreater(len(sections), 1)
        self.assertTrue(all(sections.values()), f"a section without an example: {sections}")

    def test_no_exception_is_stale(self):
        lines = [line for _, language, file, text in blocks_of(PAGE.read_text()) if not language and not file
                 for line in text.splitlines()]
        for start in NOT_RUN:
            self.assertTrue(any(line.startswith(start) for line in lines), start)


if __name__ == "__main__":
    unittest.main()

"""The examples of a page of the documentation, run as they stand there, in order, against a cluster.

A block whose fence names a language and a file (```yaml my.yaml) is that file, one without a language holds commands, and a
```text block is what the commands before it print, where … stands for anything.
"""

import re


def blocks_of(page):
    """(section, language, file, text) of each block."""
    section, found = "", []
    for heading, language, file, text in re.findall(r"^## ([^\n]*)$|^```(\w*)(?: (\S+))?\n(.*?)^```$", page, re.M | re.S):
        section = heading or section
        if not heading:
            found.append((section, language, file, text))
    return found


def pattern_of(shown):
    return ".*".join(re.escape(part) for part in shown.strip().split("…"))


def run_page(test, page, cluster, not_run=()):
    """`not_run`: beginnings of lines of commands."""
    said, sections = "", {}
    for section, language, file, text in blocks_of(page):
        sections.setdefault(section, 0)
        with test.subTest(section=section, block=file or text.splitlines()[0]):
            if file:
                (cluster.folder / file).parent.mkdir(exist_ok=True)
                (cluster.folder / file).write_text(text)
            elif language == "text":
                test.assertRegex(said.strip(), rf"(?s)\A{pattern_of(text)}\Z")
            elif not language:
                sections[section] += 1
                lines = [line for line in text.splitlines() if not line.startswith(tuple(not_run))]
                status, said = cluster.run("set -euo pipefail\n" + "\n".join(lines))
                test.assertEqual(status, 0, said)
    test.assertGreater(len(sections), 1)
    test.assertTrue(all(sections.values()), f"a section without an example: {sections}")

"""Holds the documents to the tree: a source file that one names in backquotes exists, and so does what a link leads to.

A name may be the end of a path (`store/ingest.h`), and hold braces and stars as the shell's do.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

SOURCE = re.compile(r"`([\w./*{},+-]+\.(?:h|cc|cu|cuh|py|ts|tsx|sql|yaml))`")
LINK = re.compile(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)")
BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
# What users write, and names that stand for others (a new op `f`).
EXAMPLES = re.compile(r"^(my-bert|cluster|experiment|spec|webhooks)\.yaml$|/f(_test)?\.(h|cc|cu)$")


def expanded(name: str) -> list[str]:
    braces = BRACES.search(name)
    if not braces:
        return [name]
    head, tail = name[: braces.start()], name[braces.end() :]
    return [done for part in braces.group(1).split(",") for done in expanded(head + part + tail)]


def problems(root: pathlib.Path):
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    files = ["/" + name for name in listed]
    documents = [name for name in listed if name.endswith(".md")]
    if len(documents) < 5:
        yield f"only {len(documents)} documents found under {root}: is this the source root?"
    for document in documents:
        for number, line in enumerate((root / document).read_text().split("\n"), 1):
            for target in LINK.findall(line):
                if "://" not in target and not (root / document).parent.joinpath(target).exists():
                    yield f"{document}:{number}: the link to {target} leads nowhere"
            for name in SOURCE.findall(line):
                for one in expanded(name.replace("NNN", "*")):
                    if not EXAMPLES.search(one) and not fnmatch.filter(files, "*/" + one):
                        yield f"{document}:{number}: there is no {one}"


found = list(problems(pathlib.Path(sys.argv[1])))
print("\n".join(found) or "every file that the documents name is there")
sys.exit(1 if found else 0)

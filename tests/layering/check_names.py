"""Holds the names in anonymous namespaces to one file of each library that is compiled several sources at a time.

Such a build (PODIUM_UNITY) puts neighbours of the list SOURCES into one translation unit, where equal names clash. Without
this test a new source, which moves the groups, would break files that nobody has touched. It does not compare them with
the names that headers declare: the compiler does, for the groups of the day.
"""

import collections
import pathlib
import re
import sys

PROGRAMS = ("common", "coordinator", "agent", "cli", "worker")
TARGET = re.compile(r"podium_(?:library|program)\((\S+)\s+SOURCES\s+(.*?)(?:\sDEPS|\))", re.DOTALL)
APART = re.compile(r"set_target_properties\((\S+) PROPERTIES UNITY_BUILD OFF\)")
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# clang-format puts a declaration in a namespace, and nothing else, in the first column.
DECLARATION = re.compile(r"^(?!template\b|namespace\b|using namespace\b|using [\w:]+;|static_assert\b)[A-Za-z_].*", re.MULTILINE)
TYPE = re.compile(r"^(?:(?:struct|class|enum|enum class|union)\s+|using\s+)(\w+)")
FUNCTION_OR_VALUE = re.compile(r"(\w+)\s*(?:[({=;[]|$)")


def declared(source: str) -> set[str]:
    names = set()
    for inside in ANONYMOUS.findall(RAW_STRING.sub('""', source)):
        for line in DECLARATION.findall(inside):
            shorter = ""
            while shorter != line:  # without template arguments, from the innermost out
                shorter, line = line, re.sub(r"<[^<>]*>", "", line)
            found = TYPE.match(line) or FUNCTION_OR_VALUE.search(line)
            member = found and line[: found.start(1)].endswith("::")  # it is of a class, whose name counts
            if found and not member and "operator" not in line:
                names.add(found[1])
    return names


def libraries(root: pathlib.Path):
    for program in PROGRAMS:
        for lists in sorted((root / program).rglob("CMakeLists.txt")):
            text = re.sub(r"#.*", "", lists.read_text())
            for name, sources in TARGET.findall(text):
                if name not in APART.findall(text):
                    yield name, [lists.parent / one for one in sources.split() if one.endswith(".cc") and "$" not in one]


def problems(root: pathlib.Path):
    read = 0
    for library, sources in libraries(root):
        files = collections.defaultdict(list)
        for source in sources:
            names = declared(source.read_text())
            read += len(names)
            for name in names:
                files[name].append(source.relative_to(root).as_posix())
        for name, where in sorted(files.items()):
            if len(where) > 1:
                yield f"{library}: {name} is in the anonymous namespaces of {', '.join(where)}; name each by what it is of"
    if read < 500:
        yield f"only {read} names found under {root}: is this the source root?"


found = list(problems(pathlib.Path(sys.argv[1])))
print("\n".join(found) or "no two sources of a library share a name in their anonymous namespaces")
sys.exit(1 if found else 0)

"""The --help texts of the programs, with all subcommands."""

import re
import subprocess


def help_of(folder, *words):
    ran = subprocess.run([folder / words[0], *words[1:], "--help"], capture_output=True, text=True)
    assert ran.returncode == 0, (words, ran.stderr)
    return ran.stdout


def subcommands_of(help_text):
    section = re.search(r"^(?:Subcommands|SUBCOMMANDS):\n((?:  .*\n)+)", help_text, re.M)
    return re.findall(r"^  (\w+)", section.group(1), re.M) if section else []


def helps(folder, *words):
    """(words, text) of a program and of everything below it."""
    text = help_of(folder, *words)
    yield words, text
    for name in subcommands_of(text):
        yield from helps(folder, *words, name)

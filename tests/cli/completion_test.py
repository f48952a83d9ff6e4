"""The completion scripts offer every command and every flag that the --help texts have: asked of bash itself, and of zsh
on a terminal where it is installed."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from help_texts import helps, subcommands_of

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
WAIT = 60  # seconds until an answer is declared not to come


def flags_of(text):
    options = re.search(r"^(?:Options|OPTIONS):\n((?:.+\n)+)", text, re.M).group(1)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "\n".join(line[:40] for line in options.splitlines()
                                                                 if re.match(r"  -", line))))


COMMANDS = {words: (set(subcommands_of(text)), flags_of(text)) for words, text in helps(BIN, "podium")}
EVERYWHERE = COMMANDS[("podium",)][1]


class Bash:
    def __init__(self, folder):
        self.folder = folder

    def offers(self, words, current):
        line = " ".join(f"'{word}'" for word in (*words, current))
        script = (f"source <({BIN}/podium completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words)}; _podium; "
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=self.folder)
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
        return set(ran.stdout.split())


class Zsh:
    """On a terminal, for its completion works in the line editor alone. The last word may be the beginning of one."""

    def __init__(self, folder):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            termios.tcsetwinsize(0, (200, 200))
            os.chdir(folder)
            os.environ.update(ZDOTDIR=str(folder), TERM="dumb", PATH=f"{BIN}:/usr/bin:/bin")
            os.execv("/usr/bin/zsh", ["zsh", "-f", "-i"])
        self.tell("PS1='READY> '; autoload -Uz compinit && compinit -u -D; source <(podium completion zsh); LISTMAX=0\n")

    def tell(self, text):
        """Types the text and gives all that comes before the next prompt."""
        os.write(self.terminal, (text + "print DO''NE\n").encode())
        said, deadline = "", time.monotonic() + WAIT
        while not re.search(r"DONE\r?\n[^\n]*READY> ", said):
            if time.monotonic() > deadline:
                raise TimeoutError(f"zsh said only {said!r}")
            if select.select([self.terminal], [], [], 0.1)[0]:
                said += os.read(self.terminal, 65536).decode(errors="replace")
        return said

    def offers(self, words, current):
        # ^D lists what may follow, ^U clears the line.
        listed = self.tell(" ".join((*words, current)) + "\x04\x15")
        return set(re.findall(r"(?<![\w-])(?:--)?[a-z][a-z.-]*", listed))

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


class CompletionTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-completion-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "my-spec.yaml").write_text("")

    def check(self, shell):
        self.assertGreater(len(COMMANDS), 30)
        for words, (below, flags) in COMMANDS.items():
            with self.subTest(" ".join(words)):
                self.assertTrue(flags)
                self.assertLessEqual(flags | EVERYWHERE - {"--help"}, shell.offers(words, "--"))
                if below:
                    self.assertLessEqual(below, shell.offers(words, ""))
        self.assertIn("--reason", shell.offers(("podium", "--json", "nodes", "drain", "node-1"), "--re"))
        self.assertIn("--limit", shell.offers(("podium", "ls"), "--l"))
        self.assertLessEqual({"bash", "zsh", "fish"}, shell.offers(("podium", "completion"), ""))
        self.assertIn("my-spec.yaml", shell.offers(("podium", "validate"), "my"))
        self.assertIn("my-spec.yaml", shell.offers(("podium", "list", "--ca-file"), "my"))

    def test_bash(self):
        bash = Bash(self.folder)
        self.check(bash)
        self.assertEqual(bash.offers(("podium", "list", "--name"), ""), set(), "a name is anybody's guess")
        self.assertEqual(bash.offers(("podium", "--coordinator", "http://a:1", "nodes"), "dr"), {"drain"})

    @unittest.skipUnless(shutil.which("zsh"), "skipped: needs zsh (deploy/install-packages --tests)")
    def test_zsh(self):
        zsh = Zsh(self.folder)
        self.addCleanup(zsh.close)
        self.check(zsh)


if __name__ == "__main__":
    unittest.main()

"""What bench/gpu's measurements share: running a program of its own process group within a time, taking the JSON lines that
it prints as they come, and keeping figures, one JSON object a line, so that a run killed at any moment keeps what it has."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading


class Failed(Exception):
    pass


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def lines_of(command, seconds):
    """What a program prints, line by line as it comes, as JSON; other lines go to standard error. It has so many seconds."""
    words = list(map(str, command))
    try:
        process = subprocess.Popen(words, text=True, errors="replace", stdout=subprocess.PIPE, start_new_session=True,
                                   preexec_fn=end_with_parent)
    except OSError as error:
        raise Failed(f"{words[0]} does not start: {error.strerror}") from error
    late = threading.Event()

    def end():
        late.set()
        end_group(process)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        for line in process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                said = None
            if isinstance(said, dict):
                yield said
            elif line.strip():
                print(f"{os.path.basename(words[0])} said: {line.strip()}", file=sys.stderr, flush=True)
        code = process.wait()
    finally:
        timer.cancel()
        end_group(process)
        process.wait()
    if late.is_set():
        raise Failed(f"ended after {seconds:.0f} s, its time; it was run as: {' '.join(words)}")
    if code != 0:
        raise Failed(f"{words[0]} ended with {code}; it was run as: {' '.join(words)}")


def keep_earlier(path):
    """Gives what an earlier run left there another name: FILE.1, FILE.2, ..."""
    number = 1
    while (earlier := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    if path.exists():
        path.rename(earlier)


class Report:
    """Keeps figures in a file and in memory."""

    def __init__(self, path):
        self.figures = []
        self.failed = False
        self.file = None
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            keep_earlier(path)
            self.file = path.open("w")

    def figure(self, **values):
        self.figures.append(values)
        if self.file:
            print(json.dumps(values), file=self.file, flush=True)

    def fail(self, name, why):
        self.failed = True
        print(f"{name}: {why}", flush=True)
        self.figure(what="failure", name=name, why=str(why))

"""Tells Podium what a program does: curves, progress, checkpoints, and whether it is to stop.

One file that needs nothing but Python's standard library (3.6 or later): take it from your coordinator, /api/v1/podium.py, and
keep it beside your program. Where the program does not run under Podium, nothing is told and no stop is requested.

    import podium

    state = load("state.pt") or {"step": 0}           # in podium.checkpoints(), where an attempt before has saved
    podium.started(state["step"], steps=1000)
    while state["step"] < 1000 and not podium.stop_requested():
        loss = train_step(state)
        podium.log({"train/loss": loss}, step=state["step"])
    save(state, podium.checkpoints() + "/state.pt")   # under another name, then renamed
    podium.checkpoint("state.pt", step=state["step"])
    if podium.stop_requested():
        podium.leave()                                 # ends the process: it is started again and goes on

The signal is that of the spec's stop.signal, SIGTERM where it names none; the file PODIUM_STOP_FILE says the same, also where a launcher
keeps the signal to itself.

Of several processes only the one with RANK 0 is heard, where `everywhere` is not said. stop_requested() and leave() are for the main
thread; the others may be called from any thread, from handlers of signals and after a fork.
"""

import json
import math
import os
import signal
import sys
import threading
import time

_EVENTS = os.environ.get("PODIUM_EVENTS")
_STOP_FILE = os.environ.get("PODIUM_STOP_FILE", "")
_STOP_SIGNAL = getattr(signal, "SIG" + os.environ.get("PODIUM_STOP_SIGNAL", "TERM"), signal.SIGTERM)
_REQUEUE = 75  # the exit code of a program that is not done
_SAVED = 79  # of one that was told to leave

_lock = threading.RLock()  # a handler of a signal may interrupt the thread that holds it
_file = None
_broken = False
_stopping = False
_watching = None  # the process that watches


def log(values, step, everywhere=False):
    """Points of curves: {"train/loss": 0.3}, of this step. What float() takes is taken."""
    _tell("metrics", everywhere, step=int(step), values={str(name): _number(value) for name, value in values.items()})


def started(step, steps):
    """From which step this attempt goes on, and how many there will be."""
    _tell("started", step=int(step), steps=int(steps))


def phase(name, step):
    """What it does from now on: "loading", "stepping", "evaluating" or "checkpointing". So many steps are finished."""
    _tell("phase", phase=str(name), step=int(step))


def checkpoint(path, step):
    """What has been saved is whole and on disk; `path` is relative to checkpoints()."""
    _tell("checkpoint", step=int(step), path=str(path))


def note(message, level="info", everywhere=False):
    """A sentence for the job's history; `level` is "info", "warning" or "error"."""
    _tell("note", everywhere, level=level, message=str(message))


def finished(step):
    """All steps are taken."""
    _tell("finished", step=int(step), status="succeeded")


def parameters():
    """The spec's parameters by their names."""
    return json.loads(os.environ.get("PODIUM_PARAMETERS", "{}"))


def checkpoints(otherwise="."):
    """The folder for checkpoints, the same for every process and attempt of the job."""
    return os.environ.get("PODIUM_CHECKPOINTS", otherwise)


def newest_checkpoint():
    """The path of the newest checkpoint that an attempt before has told of, and its step; (None, 0) where there is none."""
    return os.environ.get("PODIUM_CHECKPOINT"), int(os.environ.get("PODIUM_CHECKPOINT_STEP", "0"))


def stop_requested():
    """Whether the program shall save and leave(). The first call begins to watch for the signal; until then it ends the program."""
    global _watching
    if _watching is None and _EVENTS:
        before = signal.getsignal(_STOP_SIGNAL)
        signal.signal(_STOP_SIGNAL, lambda number, frame: _stop(before, number, frame))
        _watching = os.getpid()
    return _stopping or (_STOP_FILE != "" and os.path.exists(_STOP_FILE))


def leave():
    """Ends the process: it is not done, and goes on when Podium starts it again."""
    sys.exit(_SAVED if stop_requested() else _REQUEUE)


def _stop(before, number, frame):
    global _stopping
    if os.getpid() != _watching:  # a child's end is its parent's business
        signal.signal(number, before)
        os.kill(os.getpid(), number)
        return
    _stopping = True
    if callable(before) and before is not signal.default_int_handler:  # which would end the program
        before(number, frame)


def _number(value):
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _after_fork():
    global _lock
    _lock = threading.RLock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):  # from Python 3.7 on
    os.register_at_fork(after_in_child=_after_fork)


def _tell(kind, everywhere=False, **fields):
    global _file, _broken
    if not _EVENTS or not (everywhere or os.environ.get("RANK", "0") == "0"):
        return
    line = json.dumps({"type": kind, "t": int(time.time() * 1000), **fields}) + "\n"
    with _lock:
        data = (b"\n" if _broken else b"") + line.encode()  # what was cut short before stays a line of its own
        try:
            if _file is None:
                _file = os.open(_EVENTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            _broken = os.write(_file, data) < len(data)
        except OSError as error:
            _broken = True
            print("podium.py: cannot write %s: %s" % (_EVENTS, error), file=sys.stderr)

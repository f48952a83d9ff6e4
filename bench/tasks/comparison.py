"""The first steps of the pre-training beside the same in PyTorch, from the same weights on the same batches, taking turns.

Podium's side is a job as any other: it is stopped (SIGSTOP) while PyTorch computes, and the step during which that
happened does not count for its speed. Losses are compared step by step.
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

from lockstep import TORCH_SETTINGS, Side, median_of, need_openblas, ratio_of

PEER = pathlib.Path(__file__).resolve().parent / "torch_training.py"

THREADS = 2
BLOCK = 20  # steps
BLOCKS = 6
GOAL = 1.5
# Of a step's loss: the promise of tests/worker/parity in fp32, and what two ways to round in bf16 come to.
NOISE = {"fp32": 0.01, "bf16": 0.02}


def write_spec(path, spec):
    path.write_text(json.dumps(spec))
    return path


def first_weights(worker, spec, data, folder):
    """The weights that the job begins with: those of one that learns nothing in its only step."""
    still = json.loads(json.dumps(spec))
    still["training"] |= {"schedule": {"steps": 1, "warmup": 0}}
    still["training"]["optimizer"] |= {"lr": 1e-30, "weight_decay": 0}
    still["checkpoint"] = {"every": "1 step"}
    del still["evaluate"]
    worker("local", write_spec(folder / "first.json", still), "--data", data, "--out", folder / "first", "--threads", THREADS)
    worker("export", folder / "first" / "checkpoints" / "step-00000001", "--out", folder / "weights", "--data", data)
    return folder / "weights"


class Podium:
    """A job that trains only while it is let."""

    def __init__(self, program, spec, data, out):
        self.events = out / "rank-0" / "events.jsonl"
        self.command = [program, "local", spec, "--data", data, "--out", out, "--threads", str(THREADS)]
        with (out.parent / "log").open("wb") as log:
            self.process = subprocess.Popen(self.command, start_new_session=True, stdout=log, stderr=log)

    def steps(self):
        """Loss and sequences/s of each step so far."""
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        told = [json.loads(line) for line in lines if line.endswith("}")]
        return [(one["values"]["train/loss"], one["values"]["train/sequences_per_second"])
                for one in told if one["type"] == "metrics" and "train/loss" in one["values"]]

    def train(self, until):
        """Up to step `until`, or a little further."""
        os.killpg(self.process.pid, signal.SIGCONT)
        while len(self.steps()) < until:
            if self.process.poll() is not None:
                sys.exit(f"bench/tasks: ended early: {' '.join(map(str, self.command))}")
            time.sleep(0.02)
        os.killpg(self.process.pid, signal.SIGSTOP)

    def block(self, until):
        """The speed of the steps up to `until` that begin and end meanwhile."""
        before = len(self.steps())
        self.train(until)
        return {"sequences_per_second": statistics.median(rate for _, rate in self.steps()[before + 1:until])}

    def close(self):
        os.killpg(self.process.pid, signal.SIGCONT)
        self.process.terminate()
        self.process.wait()


def compare(build, worker, spec, data, folder, blocks=BLOCKS):
    """Figures, and both curves."""
    need_openblas()
    folder.mkdir()
    precision = spec["training"]["precision"]
    weights = first_weights(worker, spec, data, folder)
    path = write_spec(folder / "spec.json", spec)
    ours = Podium(build / "bin" / "podium-worker", path, data, folder / "run")
    ours.train(1)  # it has begun: what follows is told to the peer
    batches = folder / "batches.safetensors"
    subprocess.run([build / "tests" / "worker" / "parity" / "dump_batches", folder / "run" / "rank-0" / "launch.json",
                    str(BLOCK * blocks), batches], check=True)
    theirs = Side(["/usr/bin/python3", str(PEER)], TORCH_SETTINGS, THREADS, model=weights, batches=batches, spec=path,
                  steps=BLOCK)
    pairs = [(ours.block(until), theirs.block()) for until in range(BLOCK, BLOCK * blocks + 1, BLOCK)]
    losses = [loss for loss, _ in ours.steps()[:BLOCK * blocks]]
    their_losses = [loss for _, block in pairs for loss in block["losses"]]
    ours.close()
    theirs.close()
    apart = max(abs(a / b - 1) for a, b in zip(losses, their_losses, strict=True))
    ratio = ratio_of(pairs, "sequences_per_second")
    shared = {"threads": THREADS, "steps": BLOCK * blocks}
    peer = {"peer": f"PyTorch {theirs.about['torch']}"}
    figures = [
        {"name": f"pre-training beside PyTorch, {precision}", "unit": "sequences/s", "better": "higher",
         "value": median_of(pairs, 0, "sequences_per_second"), "peer_value": median_of(pairs, 1, "sequences_per_second"),
         "ratio": ratio, "goal_ratio": GOAL, "reached": ratio >= GOAL, **peer, **shared},
        {"name": f"loss beside PyTorch's, {precision}: the step furthest apart", "unit": "", "better": "lower",
         "value": apart, "goal": NOISE[precision], "reached": apart <= NOISE[precision], **shared},
        {"name": f"loss after {BLOCK * blocks} steps, {precision}", "unit": "nats", "better": "lower", "value": losses[-1],
         "peer_value": their_losses[-1], "ratio": losses[-1] / their_losses[-1], **peer, **shared},
    ]
    return figures, {"podium": losses, "pytorch": their_losses}

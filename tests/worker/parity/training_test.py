#!/usr/bin/python3
"""A training of BERT-mini by podium-worker against the same training in PyTorch, loss by loss.

training_test.py PODIUM_WORKER DUMP_BATCHES [unittest arguments]. Exits with 77 (skipped) without PyTorch.
Both begin with the same weights and see the same batches, of real text where there is some, without dropout; AdamW,
clipping and a schedule that warms up and falls. Everything else is the program's own: data, loop, update.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)")
    sys.exit(77)

import safetensors_file
from make_case import write_model
from reference import bert_loss, load
from training_text import write_text
from worker import Worker

STEPS, WARMUP = 200, 20
SEQUENCES, MICRO, LENGTH = 16, 8, 64  # two micro-batches with different numbers of masked words
RATE, DECAY, BETAS, EPSILON, CLIP = 5e-4, 0.01, (0.9, 0.98), 1e-6, 1.0
VOCABULARY = 1024
BERT_MINI = {"layers": 4, "hidden": 256, "heads": 4, "intermediate": 1024, "vocab": VOCABULARY, "positions": LENGTH}
# Of each step's loss. In bf16 a product is rounded to 3 digits; what counts is that this does not add up.
TOLERANCES = {"fp32": 0.01, "bf16": 0.03}
FALL = 1.0  # nats that a training must gain to count as one


def spec(precision):
    return {
        "version": 1, "name": "bert-mini",
        "model": {"family": "bert", **{key: BERT_MINI[key] for key in ("layers", "hidden", "heads", "intermediate")},
                  "vocab": VOCABULARY, "max_positions": LENGTH, "dropout": 0, "attention_dropout": 0, "init": "init"},
        "data": {"train": "text.txt", "tokenizer": {"wordpiece": "vocab.txt"}},
        "training": {
            "task": "pretrain", "precision": precision, "sequence_length": LENGTH, "seed": 7, "log_every": "1 step",
            "optimizer": {"name": "adamw", "lr": RATE, "weight_decay": DECAY, "beta1": BETAS[0], "beta2": BETAS[1],
                          "epsilon": EPSILON, "clip": CLIP},
            "schedule": {"steps": STEPS, "warmup": WARMUP, "decay": "linear"},
            "batch": {"global": SEQUENCES, "micro": MICRO}},
        "resources": {"devices": 1, "kind": "cpu"},
    }


def rate_of(step):
    """Steps count from 1; the rate reaches its peak at the end of the warm-up and zero with the last step."""
    return RATE * min(step / WARMUP, (STEPS - step) / (STEPS - WARMUP))


def torch_losses(init, batches):
    config, weights = load(init, torch.float32)
    decayed = [w for w in weights.values() if w.dim() > 1]
    rest = [w for w in weights.values() if w.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": DECAY}, {"params": rest, "weight_decay": 0.0}],
                                  lr=RATE, betas=BETAS, eps=EPSILON)
    losses = []
    for step in range(1, STEPS + 1):
        loss = bert_loss(config, weights, {name: tensor[step - 1].long() for name, tensor in batches.items()})
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), CLIP)
        for group in optimizer.param_groups:
            group["lr"] = rate_of(step)
        optimizer.step()
        losses.append(loss.item())
    return losses


def logged_losses(events):
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    by_step = {line["step"]: line["values"]["train/loss"] for line in lines if line["type"] == "metrics"}
    return [by_step[step] for step in range(1, STEPS + 1)]


class Training(unittest.TestCase):
    worker: Worker
    dump_batches: str

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.source = write_text(cls.folder / "text.txt")
        cls.worker.run("vocab", "--size", VOCABULARY, "--out", cls.folder / "vocab.txt", cls.folder / "text.txt")
        write_model(cls.folder / "init", "bert", seed=3, shape=BERT_MINI, deviation=0.02)
        cls.expected = None

    def train(self, precision):
        path, out = self.folder / f"{precision}.json", self.folder / precision
        path.write_text(json.dumps(spec(precision)))
        self.worker.run("local", path, "--data", self.folder, "--out", out)
        return logged_losses(out / "rank-0" / "events.jsonl")

    def torch_losses(self):
        """Of the batches of the fp32 job: they do not depend on the precision."""
        if type(self).expected is None:
            launch, out = self.folder / "fp32" / "rank-0" / "launch.json", self.folder / "batches.safetensors"
            subprocess.run([self.dump_batches, launch, str(STEPS), out], check=True)
            type(self).expected = torch_losses(self.folder / "init", safetensors_file.read(out)[0])
        return self.expected

    def check(self, precision):
        losses = self.train(precision)
        expected = self.torch_losses()
        errors = [abs(ours / theirs - 1) for ours, theirs in zip(losses, expected)]
        worst = max(range(STEPS), key=errors.__getitem__)
        print(f"{precision}, {self.source}: loss {losses[0]:.3f} to {losses[-1]:.3f} (PyTorch {expected[-1]:.3f}), "
              f"worst {errors[worst]:.1e} at step {worst + 1}", flush=True)
        self.assertLess(errors[worst], TOLERANCES[precision])
        self.assertLess(sum(losses[-20:]) / 20, losses[0] - FALL, "nothing was learnt: the comparison says little")

    def test_tracks_pytorch(self):
        for precision in TOLERANCES:
            with self.subTest(precision):
                self.check(precision)


if __name__ == "__main__":
    Training.worker = Worker(sys.argv.pop(1))
    Training.dump_batches = sys.argv.pop(1)
    unittest.main(verbosity=0)

#!/usr/bin/python3
"""A training of BERT-mini by podium-worker against the same training in PyTorch, loss by loss.

training_test.py PODIUM_WORKER DUMP_BATCHES [unittest arguments]. Exits with 77 (skipped) without PyTorch.
Both begin with the same weights and see the same batches, without dropout: AdamW, clipping, a schedule that warms up
and falls. The worker runs a job like any other, masking and all; what it trained on is told by another program.
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
from worker import DEVICE, Worker

STEPS, WARMUP = 200, 20
SEQUENCES, MICRO, LENGTH = 8, 4, 32  # two micro-batches with different numbers of masked words
RATE, DECAY, BETAS, EPSILON, CLIP = 1e-3, 0.1, (0.9, 0.98), 1e-6, 1.0
VOCABULARY = 1024
BERT_MINI = {"layers": 4, "hidden": 256, "heads": 4, "intermediate": 1024, "vocab": VOCABULARY, "positions": LENGTH}
# Of each step's loss. The promise is 1 % in fp32, but it takes a hundredth of that to notice that weight decay is absent.
# bf16 keeps three digits of a product, whose mistakes two hundred updates carry on.
TOLERANCES = {"fp32": 1e-4, "bf16": 0.02}
FALL = 2.0  # nats that the training must gain to count as one


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
        write_text(cls.folder / "text.txt")
        cls.worker.run("vocab", "--size", VOCABULARY, "--out", cls.folder / "vocab.txt", cls.folder / "text.txt")
        write_model(cls.folder / "init", "bert", seed=3, shape=BERT_MINI, deviation=0.02)

    def train(self, precision):
        path, out = self.folder / f"{precision}.json", self.folder / precision
        path.write_text(json.dumps(spec(precision)))
        self.worker.run("local", path, "--data", self.folder, "--out", out, *DEVICE)
        return logged_losses(out / "rank-0" / "events.jsonl")

    def batches(self, precision):
        launch, out = self.folder / precision / "rank-0" / "launch.json", self.folder / "batches.safetensors"
        subprocess.run([self.dump_batches, launch, str(STEPS), out], check=True)
        return safetensors_file.read(out)[0]

    def test_tracks_pytorch(self):
        found = {precision: self.train(precision) for precision in TOLERANCES}
        expected = torch_losses(self.folder / "init", self.batches("fp32"))
        self.assertLess(sum(expected[-20:]) / 20, expected[0] - FALL, "nothing is learnt: there is nothing to compare")
        for precision, losses in found.items():
            with self.subTest(precision):
                errors = [abs(ours / theirs - 1) for ours, theirs in zip(losses, expected, strict=True)]
                worst = max(range(STEPS), key=errors.__getitem__)
                print(f"{precision}: loss {losses[0]:.3f} to {losses[-1]:.3f} (PyTorch {expected[-1]:.3f}), "
                      f"furthest apart at step {worst + 1}: {errors[worst]:.1e}", flush=True)
                self.assertLess(errors[worst], TOLERANCES[precision])


if __name__ == "__main__":
    Training.worker = Worker(sys.argv.pop(1))
    Training.dump_batches = sys.argv.pop(1)
    unittest.main(verbosity=0)

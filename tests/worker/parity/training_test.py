#!/usr/bin/python3
"""A training of BERT-mini and one of a small Llama by podium-worker against the same in PyTorch, loss by loss.

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

import torch.nn.functional as F

import safetensors_file
from make_case import write_model
from reference import IGNORED, bert_loss, llama_logits, load
from training_text import write_text
from worker import DEVICE, Worker

STEPS, WARMUP = 200, 20
SEQUENCES, MICRO, LENGTH = 8, 4, 32  # two micro-batches with different numbers of masked words
RATE, DECAY, BETAS, EPSILON, CLIP = 1e-3, 0.1, (0.9, 0.98), 1e-6, 1.0
VOCABULARY = 1024
SHAPES = {
    "bert": {"layers": 4, "hidden": 256, "heads": 4, "intermediate": 1024, "vocab": VOCABULARY, "positions": LENGTH},
    "llama": {"layers": 2, "hidden": 128, "heads": 4, "key_value_heads": 2, "intermediate": 384, "vocab": VOCABULARY,
              "positions": LENGTH},
}
TASKS = {"bert": "pretrain", "llama": "lm"}
TOKENIZERS = {"bert": {"wordpiece": "vocab.txt"}, "llama": {"bpe": {"vocab": "vocab.json", "merges": "merges.txt"}}}
# Of each step's loss. The promise is 1 % in fp32, but it takes a hundredth of that to notice that weight decay is absent.
# bf16 keeps three digits of a product, whose mistakes two hundred updates carry on.
TOLERANCES = {"fp32": 1e-4, "bf16": 0.02}
FALL = 2.0  # nats that the training must gain to count as one


def spec(family, precision):
    model = {"max_positions" if key == "positions" else key: value for key, value in SHAPES[family].items()}
    if family == "llama":
        model["rope_theta"] = 500
    return {
        "version": 1, "name": family,
        "model": {"family": family, **model, "dropout": 0, "attention_dropout": 0, "init": family},
        "data": {"train": "text.txt", "tokenizer": TOKENIZERS[family]},
        "training": {
            "task": TASKS[family], "precision": precision, "sequence_length": LENGTH, "seed": 7, "log_every": "1 step",
            "optimizer": {"name": "adamw", "lr": RATE, "weight_decay": DECAY, "beta1": BETAS[0], "beta2": BETAS[1],
                          "epsilon": EPSILON, "clip": CLIP},
            "schedule": {"steps": STEPS, "warmup": WARMUP, "decay": "linear"},
            "batch": {"global": SEQUENCES, "micro": MICRO}},
        "resources": {"devices": 1, "kind": "cpu"},
    }


def rate_of(step):
    """Steps count from 1; the rate reaches its peak at the end of the warm-up and zero with the last step."""
    return RATE * min(step / WARMUP, (STEPS - step) / (STEPS - WARMUP))


def next_token_loss(config, weights, batch):
    """Here a label stands where it is predicted."""
    logits = llama_logits(config, weights, batch)
    return F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), ignore_index=IGNORED)


LOSSES = {"bert": bert_loss, "llama": next_token_loss}


def torch_losses(family, init, batches):
    config, weights = load(init, torch.float32)
    decayed = [w for w in weights.values() if w.dim() > 1]
    rest = [w for w in weights.values() if w.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": DECAY}, {"params": rest, "weight_decay": 0.0}],
                                  lr=RATE, betas=BETAS, eps=EPSILON)
    losses = []
    for step in range(1, STEPS + 1):
        loss = LOSSES[family](config, weights, {name: tensor[step - 1].long() for name, tensor in batches.items()})
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
        cls.worker.run("vocab", "--bpe", "--size", VOCABULARY, "--out", cls.folder, cls.folder / "text.txt")
        for family, shape in SHAPES.items():
            write_model(cls.folder / family, family, seed=3, shape=shape, deviation=0.02)

    def train(self, family, precision):
        path, out = self.folder / f"{family}-{precision}.json", self.folder / f"{family}-{precision}"
        path.write_text(json.dumps(spec(family, precision)))
        self.worker.run("local", path, "--data", self.folder, "--out", out, *DEVICE)
        return logged_losses(out / "rank-0" / "events.jsonl")

    def batches(self, family):
        launch = self.folder / f"{family}-fp32" / "rank-0" / "launch.json"
        out = self.folder / f"{family}-batches.safetensors"
        subprocess.run([self.dump_batches, launch, str(STEPS), out], check=True)
        return safetensors_file.read(out)[0]

    def check(self, family):
        found = {precision: self.train(family, precision) for precision in TOLERANCES}
        expected = torch_losses(family, self.folder / family, self.batches(family))
        self.assertLess(sum(expected[-20:]) / 20, expected[0] - FALL, "nothing is learnt: there is nothing to compare")
        for precision, losses in found.items():
            with self.subTest(precision):
                errors = [abs(ours / theirs - 1) for ours, theirs in zip(losses, expected, strict=True)]
                worst = max(range(STEPS), key=errors.__getitem__)
                print(f"{family} {precision}: loss {losses[0]:.3f} to {losses[-1]:.3f} (PyTorch {expected[-1]:.3f}), "
                      f"furthest apart at step {worst + 1}: {errors[worst]:.1e}", flush=True)
                self.assertLess(errors[worst], TOLERANCES[precision])

    def test_bert_tracks_pytorch(self):
        self.check("bert")

    def test_llama_tracks_pytorch(self):
        self.check("llama")


if __name__ == "__main__":
    Training.worker = Worker(sys.argv.pop(1))
    Training.dump_batches = sys.argv.pop(1)
    unittest.main(verbosity=0)

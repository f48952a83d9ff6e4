#!/usr/bin/python3
"""Loss and every gradient of `podium-worker gradients` against PyTorch in float64, for every family.

parity_test.py PODIUM_WORKER [unittest arguments]. Exits with 77 (skipped) without PyTorch (Debian's python3-torch).
An error is the norm of a tensor's difference over the norm of the tensor. A key's bias has no gradient in exact
arithmetic (softmax does not see a shift of its inputs), so there the whole gradient's norm is what it is relative to.
"""
import itertools
import pathlib
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)")
    sys.exit(77)

import safetensors_file
from make_case import FAMILIES, SHAPES, write_batch, write_model
from reference import IGNORED, loss_and_gradients
from worker import Worker

TOLERANCES = {"fp32": 1e-5, "bf16": 2e-2, "fp16": 5e-3}
# Queries and keys that positions turn are rounded once more.
ROTARY_TOLERANCES = {**TOLERANCES, "bf16": 2.5e-2}
VANISHING = 1e-9  # of the whole gradient's norm


def tolerance_of(family, precision):
    return (ROTARY_TOLERANCES if family == "llama" else TOLERANCES)[precision]


def relative_errors(ours, expected):
    whole = torch.stack([tensor.norm() for tensor in expected.values()]).norm()
    errors = {}
    for name, tensor in expected.items():
        scale = tensor.norm() if tensor.norm() > VANISHING * whole else whole
        errors[name] = ((ours[name].double() - tensor).norm() / scale).item()
    return errors


class Parity(unittest.TestCase):
    worker: Worker

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def check(self, init, batch, precision, *options):
        """`batch` is the tensors of init/batch.safetensors."""
        loss, gradients = self.worker.gradients(init, init / "batch.safetensors", init / "gradients.safetensors",
                                                "--precision", precision, *options)
        expected_loss, expected = loss_and_gradients(init, batch, torch.float64)
        self.assertEqual(set(gradients), set(expected))
        for name, tensor in expected.items():
            self.assertEqual(gradients[name].shape, tensor.shape, name)
            self.assertEqual(gradients[name].dtype, torch.float32, name)
        errors = relative_errors(gradients, expected)
        worst = max(errors, key=errors.get)
        loss_error = abs(loss - expected_loss) / expected_loss
        print(f"{self.id().split('.')[-1]} {init.name} {precision} {' '.join(options)}: loss {loss_error:.1e}, "
              f"worst gradient {errors[worst]:.1e} {worst}", flush=True)
        tolerance = tolerance_of(init.name, precision)
        self.assertLess(loss_error, tolerance)
        too_far = {name: error for name, error in errors.items() if error >= tolerance}
        self.assertEqual(too_far, {})

    def case(self, family, shape=None, **batch_options):
        init = self.folder / family
        write_model(init, family, seed=1, shape=shape)
        vocab = {**SHAPES, **(shape or {})}["vocab"]
        return init, write_batch(init / "batch.safetensors", family, seed=2, vocab=vocab, **batch_options)

    def test_one_process(self):
        for family, precision in itertools.product(FAMILIES, TOLERANCES):
            with self.subTest(family=family, precision=precision):
                self.check(*self.case(family), precision)

    def test_padding_has_no_part(self):
        for family, precision in itertools.product(FAMILIES, TOLERANCES):
            with self.subTest(family=family, precision=precision):
                self.check(*self.case(family, padded=True), precision)

    def test_parallel(self):
        layouts = [("--tensor", "2"), ("--pipeline", "2"), ("--tensor", "2", "--pipeline", "2")]
        for family, layout in itertools.product(FAMILIES, layouts):
            with self.subTest(family=family, layout=layout):
                self.check(*self.case(family, padded=True), "fp32", *layout)

    def test_parallel_in_bf16(self):
        for family in FAMILIES:
            with self.subTest(family=family):
                self.check(*self.case(family, padded=True), "bf16", "--tensor", "2", "--pipeline", "2")

    def test_odd_shapes(self):
        shape = {"layers": 3, "hidden": 96, "heads": 6, "key_value_heads": 2, "intermediate": 160, "vocab": 331,
                 "positions": 48}
        for family, layout in itertools.product(FAMILIES, [(), ("--tensor", "2", "--pipeline", "3")]):
            with self.subTest(family=family, layout=layout):
                self.check(*self.case(family, shape, sequences=3, length=29, padded=True), "fp32", *layout)

    def test_llamas_head_may_be_tied(self):
        for layout in [(), ("--tensor", "2"), ("--pipeline", "2")]:
            with self.subTest(layout=layout):
                self.check(*self.case("llama", {"tied": True}), "fp32", *layout)

    def test_next_sentence_labels_may_be_absent(self):
        init, batch = self.case("bert")
        del batch["next_sentence_label"], batch["token_type_ids"]
        safetensors_file.write(init / "batch.safetensors", batch)
        self.check(init, batch, "fp32")

    def test_mistakes_in_the_batch_are_named(self):
        init, batch = self.case("bert")
        far = batch["input_ids"].clone()
        far[2, 3] = 5000
        gap = torch.ones_like(far)
        gap[1, 4] = 0
        mistakes = {
            "input_ids holds 5000": {"input_ids": far},
            "attention_mask is not ones up to a length and zeros beyond in sequence 1": {"attention_mask": gap},
            "labels has nothing to score": {"labels": torch.full_like(far, IGNORED)},
            "next_sentence_label is [2], not [4]": {"next_sentence_label": batch["next_sentence_label"][:2]},
            "labels is of type F32": {"labels": batch["labels"].float()},
        }
        for message, changes in mistakes.items():
            with self.subTest(message):
                safetensors_file.write(init / "bad.safetensors", {**batch, **changes})
                done = self.worker.start("gradients", "--init", init, "--batch", init / "bad.safetensors", "--out",
                                         init / "out.safetensors")
                self.assertEqual(done.returncode, 65, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    Parity.worker = Worker(sys.argv.pop(1))
    unittest.main(verbosity=0)

#!/usr/bin/python3
"""Folders that transformers saves, in `podium-worker gradients`: its loss and gradients in float64 against ours.

transformers_test.py PODIUM_WORKER. Exits with 77 (skipped) where python has no transformers. parity_test.py does the
same against a reference of our own, with more shapes and layouts; here the reference is the library that users have.
"""
import pathlib
import sys
import tempfile
import unittest

try:
    import torch
    from transformers import (BertConfig, BertForPreTraining, GPT2Config, GPT2LMHeadModel, LlamaConfig,
                              LlamaForCausalLM)
except ImportError as reason:
    print(f"skipped: {sys.executable}: {reason}")
    sys.exit(77)

from make_case import SHAPES, bert_config, gpt_config, llama_config, write_batch
from parity_test import TOLERANCES, relative_errors, tolerance_of
from worker import Worker


def configured(kind, config):
    return kind(**{key: value for key, value in config.items() if key not in ("model_type", "architectures")})


def make_bert():
    model = BertForPreTraining(configured(BertConfig, bert_config(SHAPES)))
    # transformers gives the padding token no gradient as an input; the worker has no such exception.
    model.bert.embeddings.word_embeddings.padding_idx = None
    return model


def make_gpt():
    return GPT2LMHeadModel(configured(GPT2Config, gpt_config(SHAPES)))


def make_llama():
    return LlamaForCausalLM(configured(LlamaConfig, llama_config(SHAPES)))


class Transformers(unittest.TestCase):
    worker: Worker

    def setUp(self):
        torch.manual_seed(1)

    def check(self, family, model):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            model.save_pretrained(folder)
            batch = write_batch(folder / "batch.safetensors", family, seed=2, padded=True)
            model.double().eval()
            expected_loss = model(**batch).loss
            expected_loss.backward()
            parameters = dict(model.named_parameters(remove_duplicate=False))
            for precision in TOLERANCES:
                with self.subTest(precision):
                    tolerance = tolerance_of(family, precision)
                    loss, gradients = self.worker.gradients(folder, folder / "batch.safetensors",
                                                            folder / "gradients.safetensors", "--precision", precision)
                    self.assertLess(abs(loss / expected_loss.item() - 1), tolerance)
                    expected = {name: parameters[name].grad for name in gradients}
                    errors = relative_errors(gradients, expected)
                    self.assertEqual({name: e for name, e in errors.items() if e >= tolerance}, {})
                    # Nothing is left out: every parameter of the model is one that the worker told of, or shares it.
                    told = {parameters[name].data_ptr() for name in gradients}
                    self.assertLessEqual({p.data_ptr() for p in model.parameters()}, told)

    def test_bert(self):
        self.check("bert", make_bert())

    def test_gpt(self):
        self.check("gpt", make_gpt())

    def test_llama(self):
        self.check("llama", make_llama())


if __name__ == "__main__":
    Transformers.worker = Worker(sys.argv.pop(1))
    unittest.main(verbosity=0)

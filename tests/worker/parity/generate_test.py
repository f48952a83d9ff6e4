#!/usr/bin/python3
"""`podium-worker generate` of GPT-2 and Llama against PyTorch in float64 without a cache, through the program.

generate_test.py PODIUM_WORKER [unittest arguments]. Exits with 77 (skipped) without PyTorch (Debian's python3-torch).
"""
import json
import pathlib
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)")
    sys.exit(77)

from evaluate_test import END_OF_TEXT, write_byte_vocabulary
from make_case import write_model
from reference import gpt_logits, llama_logits, load
from worker import DEVICE, Worker

LOGITS = {"gpt": gpt_logits, "llama": llama_logits}
PROMPTS = ["a", "the quick brown fox", "Grüße, 世界", "b" * 40]


class GenerateParity(unittest.TestCase):
    worker: Worker

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def model(self, family):
        """Tokens are bytes; wide weights, so that the likeliest token is so by far."""
        folder = self.folder / family
        write_model(folder, family, 11, deviation=0.3)
        write_byte_vocabulary(folder)
        return folder

    def generate(self, folder, *arguments):
        told = self.worker.run("generate", folder, "--json", *arguments, *DEVICE)
        return [json.loads(line) for line in told.splitlines()]

    def logits(self, family, folder, ids):
        config, weights = load(folder, torch.float64)
        batch = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))}
        with torch.no_grad():
            return LOGITS[family](config, weights, batch)[0, -1, : END_OF_TEXT + 1]

    def test_greedy_texts(self):
        prompts = self.folder / "prompts.jsonl"
        prompts.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in PROMPTS))
        for family in LOGITS:
            folder = self.model(family)
            for batch in (1, 4):
                told = self.generate(folder, "--jsonl", prompts, "--temperature", 0, "--max-tokens", 20, "--batch", batch,
                                     "--precision", "fp32")
                self.assertEqual([text["number"] for text in told], list(range(1, len(PROMPTS) + 1)))
                for prompt, text in zip(PROMPTS, told):
                    read = list(prompt.encode())
                    self.assertEqual(text["prompt_tokens"], len(read))
                    for token in text["ids"]:
                        expected = self.logits(family, folder, read)
                        self.assertEqual(token, expected.argmax().item())
                        read.append(token)
                    if text["reason"] == "end":
                        self.assertEqual(self.logits(family, folder, read).argmax().item(), END_OF_TEXT)
                    else:
                        self.assertEqual((text["reason"], len(text["ids"])), ("length", 20))
                    self.assertEqual(text["text"], bytes(text["ids"]).decode(errors="replace"))

    def test_draws_follow_the_probabilities(self):
        """First tokens of many samples, within five standard deviations of each one's expected number."""
        folder, samples = self.model("gpt"), 2000
        told = self.generate(folder, "--prompt", "a", "--max-tokens", 1, "--count", samples, "--temperature", 3, "--top-k",
                             6, "--batch", 64)
        logits, ids = self.logits("gpt", folder, [ord("a")]).topk(6)
        drawn = [text["ids"][0] if text["ids"] else END_OF_TEXT for text in told]
        for token, share in zip(ids.tolist(), (logits / 3).softmax(-1).tolist()):
            deviation = (samples * share * (1 - share)) ** 0.5
            self.assertLess(abs(drawn.count(token) - samples * share), 5 * deviation + 1)
        self.assertLessEqual(set(drawn), set(ids.tolist()))


if __name__ == "__main__":
    GenerateParity.worker = Worker(sys.argv.pop(1))
    unittest.main(verbosity=0)

#!/usr/bin/python3
"""`podium-worker evaluate` of a GPT against PyTorch in float64 and Megatron-LM's zero-shot evaluation, written out.

evaluate_test.py PODIUM_WORKER [unittest arguments]. Exits with 77 (skipped) without PyTorch (Debian's python3-torch).
"""
import json
import math
import pathlib
import sys
import tempfile
import unittest

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "evaluate"))
import safetensors_file
from detokenize_reference import count_words, detokenize
from make_case import write_model
from reference import gpt_logits, load
from worker import DEVICE, Worker

SPEAKABLE = list(b" abcdefgh")  # what the model says; the rows of all other tokens are zero
END_OF_TEXT = 256


def byte_alphabet():
    """GPT-2's characters for bytes: token i is byte i here."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def write_byte_vocabulary(folder):
    ids = {character: byte for byte, character in enumerate(byte_alphabet())} | {"<|endoftext|>": END_OF_TEXT}
    (folder / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n")


def write_speaking_model(folder):
    write_model(folder, "gpt", 5, deviation=0.3)
    tensors, metadata = safetensors_file.read(folder / "model.safetensors")
    for token in set(range(tensors["transformer.wte.weight"].shape[0])) - set(SPEAKABLE):
        tensors["transformer.wte.weight"][token] = 0
    safetensors_file.write(folder / "model.safetensors", tensors, metadata)
    write_byte_vocabulary(folder)


class EvaluateParity(unittest.TestCase):
    worker: Worker

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        write_speaking_model(self.folder)
        self.config, self.weights = load(self.folder, torch.float64)

    def logits(self, ids):
        with torch.no_grad():
            return gpt_logits(self.config, self.weights, {"input_ids": ids, "attention_mask": torch.ones_like(ids)})

    def evaluate(self, *arguments):
        return json.loads(self.worker.run("evaluate", self.folder, "--json", *arguments, *DEVICE))

    def wikitext_loss(self, tokens, length, stride):
        """_LMDataset with overlapping evaluation, and the sum of the masked losses."""
        targets = max(len(tokens) - 1 - stride, 0)
        total = 0.0
        for window in range(max(math.ceil(targets / stride) + 1, 1)):
            read = tokens[window * stride : window * stride + length + 1]
            mask = [1] * len(read) + [0] * (length + 1 - len(read))
            read = torch.tensor(read + [END_OF_TEXT] * (length + 1 - len(read)))
            mask = torch.tensor(mask[1:])
            if window > 0:
                mask[:-stride] = 0
            losses = F.cross_entropy(self.logits(read[None, :-1])[0], read[1:], reduction="none")
            total += (losses * mask).sum().item()
        return total

    def test_wikitext(self):
        text = " = cab = \n \n bad ( a ) , a @-@ b ; \" ha \" it 's 3 @.@ 5 . \n" + "gab fed a bad cab . \n" * 12
        path = self.folder / "wiki.txt"
        path.write_text(text)
        tokens = list(detokenize(text).encode())
        for length, stride in ((64, 16), (48, 7), (64, 64)):
            expected = self.wikitext_loss(tokens, length, stride)
            told = self.evaluate("--wikitext", path, "--window", length, "--stride", stride)
            self.assertEqual(told["tokens"], len(tokens))
            self.assertAlmostEqual(math.log(told["word_perplexity"]), expected / (count_words(text) - 1), places=3)
            self.assertAlmostEqual(math.log(told["token_perplexity"]), expected / (len(tokens) - 1), places=4)

    def test_lambada(self):
        generator = torch.Generator().manual_seed(3)
        passages, right, losses = [], 0, []
        for number in range(200):
            letters = [SPEAKABLE[i] for i in torch.randint(1, len(SPEAKABLE), (7,), generator=generator)]
            context = letters[:3] + list(b" ") + letters[3:]
            said = self.logits(torch.tensor([context + list(b" ")]))[0]
            last = SPEAKABLE[1 + said[-1][SPEAKABLE[1:]].argmax().item()] if number % 2 else letters[0]
            passages.append(bytes(context + list(b" ") + [last]).decode())
            right += said[-2].argmax().item() == ord(" ") and said[-1].argmax().item() == last
            losses += [F.cross_entropy(said[-2], torch.tensor(ord(" "))), F.cross_entropy(said[-1], torch.tensor(last))]
        path = self.folder / "lambada.jsonl"
        path.write_text("".join(json.dumps({"text": passage}) + "\n" for passage in passages))
        told = self.evaluate("--lambada", path)
        self.assertGreater(right, 3)
        self.assertEqual(told["passages"], 200)
        self.assertAlmostEqual(told["last_word_accuracy"], right / 200, places=9)
        self.assertAlmostEqual(math.log(told["perplexity"]), torch.stack(losses).mean().item(), places=4)


if __name__ == "__main__":
    EvaluateParity.worker = Worker(sys.argv.pop(1))
    unittest.main(verbosity=0)

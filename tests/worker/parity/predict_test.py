#!/usr/bin/python3
"""What podium-worker predict and infer tell of masked tokens and next sentences, against PyTorch: predict_test.py PODIUM_WORKER
[unittest arguments]. Exits with 77 (skipped) without PyTorch."""
import json
import pathlib
import shutil
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
from make_case import SHAPES, write_model
from reference import bert_logits, load
from worker import DEVICE, Worker

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
POSITIONS = SHAPES["positions"]
BAD_SPEC, BAD_DATA = 64, 65


def write_vocabulary(folder, size):
    """Words that stand for their ids, so that no tokenizer is needed to know what the model reads."""
    words = SPECIAL + [f"w{i}" for i in range(len(SPECIAL), size)]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")


def id_of(word):
    return SPECIAL.index(word) if word in SPECIAL else int(word[1:])


def sequence(first, second=None):
    """Ids and types of [CLS] first [SEP], or [CLS] first [SEP] second [SEP]."""
    ids = [id_of(word) for word in ["[CLS]", *first.split(), "[SEP]"]]
    types = [0] * len(ids)
    if second is not None:
        ids += [id_of(word) for word in [*second.split(), "[SEP]"]]
    return ids, types + [1] * (len(ids) - len(types))


class Predict(unittest.TestCase):
    worker: Worker

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.model = cls.folder / "model"
        write_model(cls.model, "bert", seed=5)
        write_vocabulary(cls.model, SHAPES["vocab"])

    def expected(self, first, second=None):
        """Probabilities of the tokens at each [MASK], and that `second` follows."""
        ids, types = sequence(first, second)
        config, weights = load(self.model, torch.float32)
        batch = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([types]),
                 "attention_mask": torch.ones(1, len(ids))}
        with torch.no_grad():
            logits, next_sentence = bert_logits(config, weights, batch)
        masks = {at: logits[0, at].softmax(-1) for at, one in enumerate(ids) if one == id_of("[MASK]")}
        return masks, next_sentence[0].softmax(-1)[0].item()

    def predict(self, *arguments, model=None):
        output = self.worker.run("predict", model or self.model, "--json", *arguments, *DEVICE)
        return [json.loads(line) for line in output.splitlines()]

    def check_masks(self, told, text, top):
        masks, _ = self.expected(text)
        self.assertEqual([mask["position"] for mask in told["masks"]], list(masks))
        for mask in told["masks"]:
            best = masks[mask["position"]].topk(top)
            self.assertEqual([candidate["token"] for candidate in mask["candidates"]],
                             [f"w{i}" if i >= len(SPECIAL) else SPECIAL[i] for i in best.indices.tolist()])
            for candidate, probability in zip(mask["candidates"], best.values.tolist(), strict=True):
                self.assertAlmostEqual(candidate["probability"], probability, delta=1e-5)

    def refused(self, code, message, *arguments, command="predict", **options):
        done = subprocess.run([self.worker.program, command, *arguments], capture_output=True, **options)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, said)
        self.assertIn(message, said)
        self.assertEqual(done.stdout, b"")

    def test_fills_every_mask(self):
        text = "w17 [MASK] w200 w31 [MASK] w8"
        told, = self.predict("--mask", text, "--top", 4)
        self.assertEqual(told["text"], text)
        self.assertEqual(told["tokens"], 8)
        self.assertNotIn("follows", told)
        self.check_masks(told, text, 4)

    def test_judges_a_pair(self):
        told, = self.predict("--sentence", "w90 w12", "--next", "w13 w220 w41")
        self.assertAlmostEqual(told["follows"], self.expected("w90 w12", "w13 w220 w41")[1], delta=1e-5)
        swapped, = self.predict("--sentence", "w13 w220 w41", "--next", "w90 w12")
        self.assertNotAlmostEqual(swapped["follows"], told["follows"], delta=1e-5)

    def test_takes_both_from_lines(self):
        texts = [f"w{20 + i} [MASK] w{30 + i * 7 % 100}" for i in range(20)]
        lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate(texts)]
        lines.insert(3, " ")
        lines.append(json.dumps({"id": "a\tb", "sentence": "w50", "next": "w60 w61"}))
        path = self.folder / "texts.jsonl"
        path.write_text("\n".join(lines))
        told = self.predict("--jsonl", path, "--batch", 8, "--top", 2)
        self.assertEqual([one["id"] for one in told], [*range(20), "a\tb"])
        for one, text in zip(told, texts):
            self.check_masks(one, text, 2)
        self.assertEqual((told[-1]["sentence"], told[-1]["next"]), ("w50", "w60 w61"))
        self.assertAlmostEqual(told[-1]["follows"], self.expected("w50", "w60 w61")[1], delta=1e-5)
        for_people = self.worker.run("predict", self.model, "--jsonl", path, "--top", 1, *DEVICE)
        self.assertRegex(for_people, r"(?m)^0\tw20 \[MASK\] w30\n  \[MASK\]  \S+ 0\.\d{3}$")
        self.assertRegex(for_people, r"(?m)^a b\tw50\tw60 w61\n  second follows first: \d\.\d{3}$")

    def test_answers_lines_of_a_pipe_as_they_come(self):
        process = subprocess.Popen([self.worker.program, "predict", self.model, "--jsonl", "-", "--json", *DEVICE],
                                   text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for text in ("w9 [MASK]", "[MASK] w10"):
            process.stdin.write(json.dumps({"text": text}) + "\n")
            process.stdin.flush()
            self.check_masks(json.loads(process.stdout.readline()), text, 5)
        process.communicate()
        self.assertEqual(process.returncode, 0)

    def test_answers_the_good_lines_before_a_bad_one(self):
        texts = [f"w{20 + i} [MASK]" for i in range(5)]
        good = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)
        for bad in (b'{"text": ""}', b'{"text": "w7"}', b'{"id": 1}', b"{", b"\xff"):
            for batch in (1, 2, 16):
                process = subprocess.run([self.worker.program, "predict", self.model, "--jsonl", "-", "--json", "--batch",
                                          str(batch), *DEVICE], input=good + bad + b"\n" + good, capture_output=True)
                self.assertEqual(process.returncode, BAD_DATA)
                self.assertIn(b"standard input:6", process.stderr)
                self.assertEqual([json.loads(line)["text"] for line in process.stdout.splitlines()], texts)

    def test_cuts_only_where_it_may(self):
        room = POSITIONS - 2
        long = " ".join(["[MASK]"] + ["w7"] * room)
        self.refused(BAD_DATA, f"--mask has {POSITIONS + 1} tokens and the model takes at most {POSITIONS}",
                     self.model, "--mask", long)
        told, = self.predict("--mask", long, "--truncate")
        self.assertEqual(told["tokens"], POSITIONS)
        self.check_masks(told, " ".join(long.split()[:room]), 5)
        self.refused(BAD_DATA, "no [MASK] is in the text that --truncate leaves", self.model, "--truncate", "--mask",
                     " ".join(["w7"] * room + ["[MASK]"]))
        # The longer one loses tokens until both have as many, then the second and the first in turn.
        first, second = ["w70"] * 40, [f"w{100 + i}" for i in range(60)]
        told, = self.predict("--truncate", "--sentence", " ".join(first), "--next", " ".join(second))
        self.assertEqual(told["tokens"], POSITIONS)
        self.assertAlmostEqual(told["follows"], self.expected(" ".join(first[:31]), " ".join(second[:30]))[1], delta=1e-5)

    def test_needs_no_next_sentences_where_none_are_asked_for(self):
        masked, text = self.folder / "masked", self.folder / "text.txt"
        shutil.copytree(self.model, masked)
        tensors, metadata = safetensors_file.read(self.model / "model.safetensors")
        safetensors_file.write(masked / "model.safetensors",
                               {name: tensor for name, tensor in tensors.items()
                                if not name.startswith(("bert.pooler.", "cls.seq_relationship."))}, metadata)
        (masked / "config.json").write_text(
            (self.model / "config.json").read_text().replace("BertForPreTraining", "BertForMaskedLM"))
        told, = self.predict("--mask", "w17 [MASK]", model=masked)
        self.check_masks(told, "w17 [MASK]", 5)
        self.refused(BAD_DATA, "has no head that judges whether a sentence follows another", masked, "--sentence", "w7",
                     "--next", "w8")
        text.write_text("".join(f"w{20 + i} w{40 + i} w{60 + i}\n" + "\n" * (i % 4 == 3) for i in range(40)))
        whole, alone = (json.loads(self.worker.run("evaluate", model, "--masked", text, "--length", 32, "--json", *DEVICE))
                        for model in (self.model, masked))
        whole.pop("nsp_accuracy")
        self.assertEqual(alone, whole)

    def test_infer_reads_standard_input_as_files(self):
        done = subprocess.run([self.worker.program, "infer", self.model, "--json", *DEVICE], input=b"w9 [MASK]\r\nw10",
                              capture_output=True, check=True)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([one["text"] for one in told], ["w9 [MASK]", "w10"])
        self.check_masks(told[0], "w9 [MASK]", 5)
        for text, message in {b"w9\n\xff": "standard input:2", b"w9 " * POSITIONS: f"standard input:1 has {POSITIONS + 2} tokens"
                              }.items():
            self.refused(BAD_DATA, message, self.model, command="infer", input=text)

    def test_refuses_what_it_cannot_do(self):
        model, path = self.model, self.folder / "bad.jsonl"
        self.refused(BAD_SPEC, "say one thing to predict", model)
        self.refused(BAD_SPEC, "say one thing to predict", model, "--mask", "[MASK]", "--jsonl", path)
        self.refused(BAD_SPEC, "give --mask, or --sentence with --next", model, "--sentence", "w7")
        self.refused(BAD_SPEC, "--mask is empty", model, "--mask", " ")
        self.refused(BAD_SPEC, "--answer-length is for a model that answers questions", model, "--mask", "[MASK]",
                     "--answer-length", "3")
        self.refused(BAD_SPEC, "--top is for a model that predicts masked tokens", "absent", "--question", "w7", "--context", "w8",
                     "--top", "3")
        unread = self.folder / "unread"
        shutil.copytree(model, unread)
        (unread / "model.safetensors").write_bytes(b"")
        self.refused(BAD_SPEC, '"int4" is no precision', unread, "--mask", "[MASK]", "--precision", "int4")
        (unread / "vocab.txt").unlink()
        self.refused(BAD_DATA, "say with --vocab where it is", unread, "--mask", "[MASK]")
        self.refused(BAD_DATA, "no [MASK] is in the text", model, "--mask", "w7 w8")
        self.refused(BAD_DATA, "--mask is no UTF-8", model, "--mask", b"[MASK] \xff")
        self.refused(BAD_DATA, "has no head that answers questions: it predicts masked tokens or next sentences",
                     model, "--question", "w7", "--context", "w8")
        for line, message in {
            b'{"text": "[MASK]"': "bad.jsonl:2: ", b"[1]": "bad.jsonl:2: is no JSON object",
            b'{"id": 3}': 'bad.jsonl:2: the object has no text "text"',
            b'{"sentence": 1, "next": "w7"}': 'bad.jsonl:2: the object has no text "sentence"',
            b'{"text": "w7"}': "bad.jsonl:2: no [MASK] is in the text", b'{"text": "\xff"}': "bad.jsonl:2",
            b'{"text": "[MASK]", "sentence": "w7", "next": "w8"}': 'bad.jsonl:2: "text" is no key here',
            b'{"text": "[MASK]", "top": 3}': 'bad.jsonl:2: "top" is no key here',
        }.items():
            path.write_bytes(b"\n" + line)
            self.refused(BAD_DATA, message, model, "--jsonl", path)


if __name__ == "__main__":
    Predict.worker = Worker(sys.argv.pop(1))
    unittest.main(verbosity=0)

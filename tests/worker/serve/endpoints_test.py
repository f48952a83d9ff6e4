"""What each endpoint answers is what podium-worker infer and predict say of the same text; what it refuses, and how."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import served

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "deploy"))
import prometheus_programs  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="podium-serve-models-")
MODELS = {name: pathlib.Path(FOLDER.name) / name for name in ("bert", "grades", "masked", "moods", "squad")}
MOODS = ["glad", "sad", "neither \"glad\" nor sad"]


def setUpModule():
    served.write_model(MODELS["bert"], 1)
    served.write_model(MODELS["squad"], 2, question_answering=True)
    served.write_model(MODELS["masked"], 5)
    served.leave_out(MODELS["masked"], ("bert.pooler.", "cls.seq_relationship."), "BertForMaskedLM")
    served.write_classifier(MODELS["moods"], 3, MOODS)
    served.write_classifier(MODELS["grades"], 4, [])


PAIRS = '''
version: 1
name: pairs
model: {family: bert, layers: 1, hidden: 64, heads: 4, intermediate: 128, max_positions: 32}
data: {train: pairs.tsv, tokenizer: {wordpiece: vocab.txt}}
training:
  task: classify
  classify: {sentence: first, pair: second, label: kind}
  optimizer: {lr: 1.0e-3}
  schedule: {steps: 2}
  batch: {global: 8, micro: 8}
  sequence_length: 16
resources: {devices: 1, kind: cpu, walltime: 1h}
checkpoint: {every: 2 steps}
'''


def train_pairs(folder):
    """A checkpoint of a classifier of pairs, which it was shown in sequences of 16 tokens."""
    chance, data = random.Random(8), folder / "data"
    data.mkdir(parents=True)
    (data / "vocab.txt").write_text("\n".join(served.VOCABULARY) + "\n")
    rows = [f"{served.text(chance, 3, 0)}\t{served.text(chance, 4, 0)}\t{kind}" for kind in ("same", "other") for _ in range(8)]
    (data / "pairs.tsv").write_text("\n".join(["first\tsecond\tkind", *rows]) + "\n")
    (folder / "pairs.yaml").write_text(PAIRS)
    served.worker("local", folder / "pairs.yaml", "--data", data, "--out", folder / "run", "--threads", 1)
    return folder / "run" / "checkpoints"


class Checkpoints(unittest.TestCase):
    def test_a_checkpoint_takes_what_its_training_did(self):
        folder = pathlib.Path(FOLDER.name) / "pairs"
        checkpoints, chance = train_pairs(folder), random.Random(9)
        asked = [{"text": served.text(chance, first, 0), "pair": served.text(chance, second, 0)}
                 for first, second in ((1, 1), (6, 7), (20, 9), (2, 40))]
        expected = [json.loads(line) for line in served.worker(
            "predict", checkpoints, "--jsonl", "-", "--json", "--batch", 1, "--data", folder / "data",
            given="".join(json.dumps(one) + "\n" for one in asked)).splitlines()]
        with served.Server({"pairs": checkpoints}, "--data", folder / "data") as server:
            client = server.client()
            for one, line in zip(asked, expected, strict=True):
                told = client.ask("pairs", "classify", one).json()
                words = sum(len(text.split()) for text in one.values())
                self.assertEqual((told["tokens"], told["cut"]), (min(16, words + 3), words + 3 > 16))
                self.assertEqual((told["label"], set(told["probabilities"])), (line["label"], {"same", "other"}))
                for name, probability in line["probabilities"].items():
                    self.assertAlmostEqual(told["probabilities"][name], probability, places=5)
            self.refuses_a_single_sentence(client)
        exported = folder / "exported"
        (step,) = checkpoints.glob("step-*")
        served.worker("export", step, "--out", exported, "--data", folder / "data")
        with served.Server({"pairs": exported}) as server:
            self.refuses_a_single_sentence(server.client())
        asked = [served.WORKER, "predict", exported, "--text", "w1"]
        ran = subprocess.run(asked, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 65)
        self.assertIn("was trained on pairs; add the second sentence", ran.stderr)

    def refuses_a_single_sentence(self, client):
        reply = client.ask("pairs", "classify", {"text": "w1"})
        self.assertEqual(reply.status, 422)
        self.assertIn("was trained on pairs", reply.json()["detail"])


class Endpoints(served.ServedTest):
    models = MODELS

    def ask(self, model, endpoint, **body):
        reply = self.client.ask(model, endpoint, body)
        self.assertEqual(reply.status, 200, reply.body)
        served.check_described(f"/v1/models/{{model}}/{endpoint}", reply, body)
        return reply.json()

    def refused(self, status, model, endpoint, body):
        reply = self.client.ask(model, endpoint, body)
        self.assertEqual(reply.status, status, reply.body)
        served.check_described("/v1/models/{model}/embed", reply)
        return reply.json()

    def same_masks(self, told, expected):
        self.assertEqual(told["tokens"], expected["tokens"])
        self.assertEqual([m["position"] for m in told["masks"]], [m["position"] for m in expected["masks"]])
        for one, other in zip(told["masks"], expected["masks"]):
            self.assertEqual([c["token"] for c in one["candidates"]], [c["token"] for c in other["candidates"]])
            for a, b in zip(one["candidates"], other["candidates"]):
                self.assertAlmostEqual(a["probability"], b["probability"], places=5)

    def test_fill_mask_says_what_infer_says(self):
        chance = random.Random(3)
        texts = [served.text(chance, words, masks) for words, masks in ((1, 1), (7, 2), (30, 3), (62, 1))]
        pairs = [(served.text(chance, 5), served.text(chance, 9, 0)), (served.text(chance, 3, 0), served.text(chance, 3, 0))]
        lines = texts + ["\t".join(pair) for pair in pairs]
        expected = [json.loads(line) for line in served.worker(
            "infer", MODELS["bert"], "--json", "--top", 4, "--batch", 1, given="\n".join(lines) + "\n").splitlines()]
        for text, line in zip(texts, expected):
            told = self.ask("bert", "fill-mask", text=text, top=4)
            self.same_masks(told, line)
            self.assertNotIn("follows", told)
        for (text, following), line in zip(pairs, expected[len(texts):]):
            told = self.ask("bert", "fill-mask", text=text, next=following, top=4)
            self.same_masks(told, line)
            self.assertAlmostEqual(told["follows"], line["follows"], places=5)

    def test_embed_says_what_infer_writes(self):
        chance = random.Random(4)
        texts = [served.text(chance, words, 0) for words in (1, 20, 60)]
        out = pathlib.Path(FOLDER.name) / "embeddings.safetensors"
        served.worker("infer", MODELS["bert"], "--batch", 1, "--embeddings", out, given="\n".join(texts) + "\n")
        tensors, _ = served.safetensors_file.read(out)
        for i, text in enumerate(texts):
            told = self.ask("bert", "embed", text=text)
            for kind in ("mean", "pooled"):
                self.assertEqual(len(told[kind]), 64)
                for one, other in zip(told[kind], tensors[kind][i].tolist()):
                    self.assertAlmostEqual(one, other, places=5)
        self.assertNotIn("pooled", self.ask("squad", "embed", text=texts[0]), "a model for questions has no pooler")

    def test_embed_ignores_masks(self):
        told = self.ask("squad", "embed", text="w1 [MASK] w2")
        self.assertEqual(told["tokens"], 5)

    def test_answer_says_what_predict_says(self):
        chance = random.Random(5)
        asked = [{"question": served.text(chance, 4, 0) + " ?", "context": served.text(chance, words, 0)}
                 for words in (1, 9, 40, 200)]
        lines = pathlib.Path(FOLDER.name) / "questions.jsonl"
        lines.write_text("".join(json.dumps(one) + "\n" for one in asked))
        for options, fields in (((), {}), (("--may-be-none", "--null-threshold", "-3"),
                                           {"may_be_none": True, "null_threshold": -3})):
            expected = [json.loads(line) for line in served.worker(
                "predict", MODELS["squad"], "--length", served.POSITIONS, "--query-length", 16, "--document-stride", 16,
                "--jsonl", lines, "--json", "--best", 3, *options).splitlines()]
            for one, line in zip(asked, expected):
                told = self.ask("squad", "answer", best=3, **one, **fields)
                self.assertEqual(told["answer"], line["answer"])
                self.assertAlmostEqual(told["probability"], line["probability"], places=5)
                self.assertEqual([b["text"] for b in told["best"]], [b["text"] for b in line["best"]])
                self.assertEqual("null_odds" in told, bool(fields))
                if fields:
                    self.assertAlmostEqual(told["null_odds"], line["null_odds"], places=4)

    def same_class(self, told, expected, tokens):
        self.assertEqual(told.pop("tokens"), tokens)
        self.assertEqual(set(told) | {"text", "pair"}, set(expected) | {"pair", "cut"})
        self.assertEqual(told.get("label"), expected.get("label"))
        self.assertEqual(list(told.get("probabilities", {})), list(expected.get("probabilities", {})))
        for name, probability in expected.get("probabilities", {}).items():
            self.assertAlmostEqual(told["probabilities"][name], probability, places=5)
        for number in {"probability", "value"} & set(expected):
            self.assertAlmostEqual(told[number], expected[number], places=5)

    def predicted(self, model, asked, *options):
        lines = "".join(json.dumps(one) + "\n" for one in asked)
        return [json.loads(line) for line in served.worker(
            "predict", model, "--jsonl", "-", "--json", "--batch", 1, *options, given=lines).splitlines()]

    def test_classify_says_what_predict_says(self):
        chance = random.Random(6)
        asked = [{"text": served.text(chance, words, 0)} for words in (1, 7, 30, 62)]
        asked += [{"text": served.text(chance, 5, 0), "pair": served.text(chance, words, 0)} for words in (1, 30)]
        lengths = [3, 9, 32, 64, 9, 38]
        labels = set()
        for model in ("moods", "grades"):
            for one, expected, tokens in zip(asked, self.predicted(MODELS[model], asked), lengths, strict=True):
                told = self.ask(model, "classify", **one)
                self.assertFalse(told["cut"])
                self.same_class(told, expected, tokens)
                labels.add(told.get("label"))
        self.assertGreater(len(labels), 2, "a value, and several classes")
        told = self.ask("moods", "classify", text="w1")
        self.assertEqual(set(told["probabilities"]), set(MOODS))
        self.assertAlmostEqual(sum(told["probabilities"].values()), 1, places=6)
        self.assertEqual(told["probability"], max(told["probabilities"].values()))

    def test_classify_cuts_where_that_is_asked_for(self):
        long = {"text": "w1 w2 " * 60}
        told = self.refused(422, "moods", "classify", long)
        self.assertIn("has 122 tokens and the model takes at most 64", told["detail"])
        told = self.ask("moods", "classify", truncate=True, **long)
        self.assertTrue(told["cut"])
        (expected,) = self.predicted(MODELS["moods"], [long], "--truncate")
        self.same_class(told, expected, 64)

    def test_classify_refuses_what_no_class_is_of(self):
        for body, where in (({"text": " \t"}, "/text"), ({"text": "w1", "pair": ""}, "/pair"), ({}, "/text"),
                            ({"text": "\u0001"}, "/text"), ({"text": "w1", "next": "w2"}, "/next"), ({"text": "w1", "pair": 3}, "/pair")):
            self.assertEqual(self.refused(422, "moods", "classify", body)["errors"][0]["where"], where)
        self.assertIn("it has embed, classify", self.refused(422, "moods", "answer", {})["detail"])

    def test_texts_without_a_token_are_refused(self):
        for model, endpoint, said in (("bert", "embed", "has no token"),
                                      ("moods", "classify", "the text: the sentence has no token")):
            told = self.refused(422, model, endpoint, {"text": "\u0000"})
            self.assertEqual((told["errors"][0]["where"], told["errors"][0]["message"]), ("/text", said))
        self.assertIn("its second text has none", self.refused(422, "bert", "embed", {"text": "w1", "next": "\u0000"})["detail"])

    def test_a_context_without_a_token_has_no_answer(self):
        for context in ("", " \t\n", "\u0000"):
            told = self.refused(422, "squad", "answer", {"question": "w1 ?", "context": context})
            self.assertEqual(told["errors"][0]["where"], "/context")
        self.ask("squad", "answer", question="", context="w1 w2")

    def test_an_answer_is_a_part_of_the_context(self):
        context = "w1  w2 w3, w4 w5"
        self.assertIn(self.ask("squad", "answer", question="w9 ?", context=context)["answer"], context.replace("  ", " "))

    def test_models_say_what_they_do(self):
        reply = self.client.get("/v1/models")
        served.check_described("/v1/models", reply)
        told = {model["name"]: model for model in reply.json()["models"]}
        self.assertEqual(told["bert"]["endpoints"], ["fill-mask", "embed"])
        self.assertEqual(told["squad"]["endpoints"], ["embed", "answer"])
        self.assertEqual(told["moods"]["endpoints"], ["embed", "classify"])
        self.assertEqual((told["bert"]["max_tokens"], told["bert"]["precision"], told["bert"]["ready"]), (64, "fp32", True))

    def test_a_text_that_is_too_long_is_refused_with_the_limit(self):
        told = self.refused(422, "bert", "fill-mask", {"text": "[MASK] " + "w1 " * 100})
        self.assertIn("has 103 tokens and the model takes at most 64", told["detail"])
        self.assertEqual(told["errors"][0]["where"], "/text")

    def test_a_text_that_is_too_long_is_cut_where_that_is_asked_for(self):
        text = "w1 [MASK] " + "w2 " * 100
        (line,) = served.worker("predict", MODELS["bert"], "--mask", text, "--truncate", "--json", "--top", 4).splitlines()
        told = self.ask("bert", "fill-mask", text=text, truncate=True, top=4)
        self.assertEqual(told["tokens"], served.POSITIONS)
        self.same_masks(told, json.loads(line))
        self.assertIn("no [MASK]", self.refused(422, "bert", "fill-mask", {"text": "w2 " * 99 + "[MASK]", "truncate": True})["detail"])

    def test_candidates_have_a_bound(self):
        masks = "[MASK] " * 40
        told = self.refused(422, "bert", "fill-mask", {"text": masks, "top": 251})
        self.assertIn("251 candidates for each of 40 masks are more than 10000 together; ask for 250", told["detail"])
        self.assertEqual(told["errors"][0]["where"], "/top")
        told = self.ask("bert", "fill-mask", text=masks, top=250)
        self.assertEqual([len(mask["candidates"]) for mask in told["masks"]], [250] * 40)

    def test_mistakes_are_told_together(self):
        told = self.refused(422, "bert", "fill-mask", {"text": 7, "top": 0, "timeout_ms": "soon", "tob": 3})
        said = {error["where"]: error["message"] for error in told["errors"]}
        self.assertEqual(said, {"/tob": 'is not known; did you mean "top"?', "/text": "must be a text",
                                "/top": "must be a whole number from 1 to 1000",
                                "/timeout_ms": "must be a whole number from 1 to 3600000"})
        self.assertEqual(self.refused(422, "squad", "answer", {"question": "w1"})["errors"][0]["where"], "/context")
        self.assertIn("no [MASK]", self.refused(422, "bert", "fill-mask", {"text": "w1"})["detail"])

    def test_what_is_no_json_is_refused(self):
        for body in (b"", b"[1]", b"{", b'{"text": "\xff"}', b'{"text": "a", "text": "b"}', b"null", b'{"text": "\\ud800"}'):
            self.refused(400, "bert", "fill-mask", body)

    def test_heads_that_a_model_lacks(self):
        self.assertIn("it has embed, answer", self.refused(422, "squad", "fill-mask", {"text": "[MASK]"})["detail"])
        self.assertIn("fill-mask, embed", self.refused(422, "bert", "answer", {"question": "a", "context": "b"})["detail"])

    def test_a_model_of_masks_alone_judges_no_pair(self):
        self.assertNotIn("follows", self.ask("masked", "fill-mask", text="w1 [MASK]"))
        told = self.refused(422, "masked", "fill-mask", {"text": "w1 [MASK]", "next": "w2"})
        self.assertEqual(told["errors"][0]["where"], "/next")
        self.assertIn("which the model lacks", told["detail"])
        self.assertNotIn("pooled", self.ask("masked", "embed", text="w1"))

    def test_it_says_that_it_lives(self):
        for path in ("/healthz", "/readyz", "/metrics"):
            reply = self.client.get(path)
            self.assertEqual(reply.status, 200)
            served.check_described(path, reply)

    def test_what_is_not_there(self):
        self.assertIn("there is bert, grades, masked, moods, squad", self.refused(404, "gpt", "embed", {"text": "w1"})["detail"])
        self.assertIn("fill-mask, embed, answer, classify", self.refused(404, "bert", "fill", {"text": "w1"})["detail"])
        self.assertEqual(self.client.get("/v2").status, 404)
        reply = self.client.get("/v1/models/bert/embed")
        self.assertEqual((reply.status, reply.headers["Allow"]), (405, "POST"))

    def test_the_content_must_be_json_and_small(self):
        self.assertEqual(self.client.post("/v1/models/bert/embed", "{}", "text/plain").status, 415)
        self.assertEqual(self.server.client().post("/v1/models/bert/embed", b" " * (1 << 20) + b"{}").status, 413)

    def test_another_sites_name_is_refused(self):
        self.client.headers = {"Host": "evil.example"}
        self.assertEqual(self.client.get("/v1/models").status, 403)

    def test_models_are_not_loaded_without_a_token(self):
        self.assertEqual(self.client.post("/v1/models/bert:load", {"folder": "bert"}).status, 403)

    def test_promtool_finds_nothing_wrong_with_the_metrics(self):
        if not prometheus_programs.find("promtool"):
            self.skipTest("skipped: promtool is not here (deploy/install-packages --tests)")
        self.ask("bert", "embed", text="w1 w2 w3")
        page = self.client.get("/metrics")
        self.assertEqual(page.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(prometheus_programs.check_metrics(page.body), "")

    def test_metrics_count_what_was_asked(self):
        before = self.server.figures()
        self.ask("bert", "embed", text="w1 w2 w3")
        self.refused(422, "bert", "embed", {})
        after = self.server.figures()

        def grew(name):
            return after.get(name, 0) - before.get(name, 0)
        self.assertEqual(grew('podium_serve_requests_total{model="bert",endpoint="embed",outcome="answered"}'), 1)
        self.assertEqual(grew('podium_serve_requests_total{model="bert",endpoint="embed",outcome="refused"}'), 1)
        self.assertEqual(grew('podium_serve_batch_sequences_sum{model="bert"}'), 1)
        self.assertEqual(grew('podium_serve_batch_tokens_sum{model="bert"}'), 5)
        self.assertEqual(grew('podium_serve_batch_tokens_bucket{model="bert",le="16"}'), 1)
        for name in ("queue", "compute"):
            self.assertEqual(grew(f'podium_serve_{name}_duration_seconds_count{{model="bert"}}'), 1)
        self.assertEqual(grew('podium_serve_request_duration_seconds_count{model="bert"}'), 2)
        self.assertEqual(after['podium_serve_ready{model="bert"}'], 1)
        self.assertEqual(after['podium_serve_waiting_sequences{model="bert"}'], 0)


if __name__ == "__main__":
    unittest.main()

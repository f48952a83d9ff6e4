"""BERT for pre-training in plain PyTorch, in double precision: the yardstick of bert_reference_test.cc.

Usage: bert_reference.py FOLDER. Reads what the test wrote there (case.json, weights.f32, batch.i32) and writes
losses.json and gradients.f32, laid out like weights.f32. Exits with 77 where PyTorch is missing.
"""
import json
import pathlib
import sys

try:
    import numpy
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(error)
    sys.exit(77)


def main(folder):
    case = json.loads((folder / "case.json").read_text())
    flat = numpy.fromfile(folder / "weights.f32", dtype=numpy.float32)
    weights = {}
    for name, offset, shape in case["parameters"]:
        values = flat[offset:offset + int(numpy.prod(shape))].reshape(shape)
        weights[name] = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    integers = numpy.fromfile(folder / "batch.i32", dtype=numpy.int32).astype(numpy.int64)
    batch, at = {}, 0
    for name, size in case["batch"]:
        batch[name] = torch.from_numpy(integers[at:at + size])
        at += size

    mlm, nsp = losses(case, weights, batch)
    (case["mlm_scale"] * mlm + case["nsp_scale"] * nsp).backward()

    gradients = numpy.zeros_like(flat)
    for name, offset, shape in case["parameters"]:
        gradients[offset:offset + int(numpy.prod(shape))] = weights[name].grad.numpy().astype(numpy.float32).ravel()
    gradients.tofile(folder / "gradients.f32")
    (folder / "losses.json").write_text(json.dumps({"mlm": mlm.item(), "nsp": nsp.item()}))


def losses(case, weights, batch):
    sequences, length, hidden, heads = (case[key] for key in ("sequences", "length", "hidden", "heads"))

    def linear(x, name):
        return F.linear(x, weights[name + ".weight"], weights[name + ".bias"])

    def norm(x, name):
        return F.layer_norm(x, (hidden,), weights[name + ".weight"], weights[name + ".bias"], eps=1e-12)

    def split(x):
        return x.view(sequences, length, heads, hidden // heads).transpose(1, 2)

    table = "bert.embeddings.{}_embeddings.weight"
    word = weights[table.format("word")]
    x = (word[batch["input_ids"]].view(sequences, length, hidden)
         + weights[table.format("position")][:length]
         + weights[table.format("token_type")][batch["token_types"]].view(sequences, length, hidden))
    x = norm(x, "bert.embeddings.LayerNorm")
    padding = torch.arange(length)[None, :] >= batch["valid_lengths"][:, None]

    for i in range(case["layers"]):
        layer = f"bert.encoder.layer.{i}"
        query, key, value = (split(linear(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = query @ key.transpose(-1, -2) / (hidden // heads) ** 0.5
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        context = (scores.softmax(-1) @ value).transpose(1, 2).reshape(sequences, length, hidden)
        x = norm(x + linear(context, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = F.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")

    masked = x.view(-1, hidden)[batch["masked_positions"]]
    masked = norm(F.gelu(linear(masked, "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
    logits = F.linear(masked, word, weights["cls.predictions.bias"])
    mlm = F.cross_entropy(logits, batch["masked_labels"], reduction="sum")
    pooled = torch.tanh(linear(x[:, 0], "bert.pooler.dense"))
    nsp = F.cross_entropy(linear(pooled, "cls.seq_relationship"), batch["next_sentence_labels"], reduction="sum")
    return mlm, nsp


main(pathlib.Path(sys.argv[1]))

"""BERT with its heads in plain PyTorch, in double precision: the yardstick of the tests that include bert_reference.h.

Usage: bert_reference.py FOLDER. Reads what the test wrote there (case.json, weights.f32, batch.i32) and writes
losses.json and gradients.f32, laid out like weights.f32, and predictions.f32 if the head predicts. Exits with 77 where
PyTorch is missing.
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

    losses, predictions = HEADS[case["head"]](case, weights, batch, encode(case, weights, batch))
    sum(case["scales"][name] * loss for name, loss in losses.items()).backward()

    gradients = numpy.zeros_like(flat)
    for name, offset, shape in case["parameters"]:
        gradients[offset:offset + int(numpy.prod(shape))] = weights[name].grad.numpy().astype(numpy.float32).ravel()
    gradients.tofile(folder / "gradients.f32")
    (folder / "losses.json").write_text(json.dumps({
  name: loss.item() for name, loss in losses.items()}))
    if predictions is not None:
        predictions.detach().numpy().astype(numpy.float32).tofile(folder / "predictions.f32")


def linear(weights, x, name):
    return F.linear(x, weights[name + ".weight"], weights[name + ".bias"])


def product(case, weights, x, names, number):
    """The dense layers of one product of the encoder, with inputs and weights rounded to int8 where there are ranges."""
    if "ranges" not in case:
        return [linear(weights, x, name) for name in names]
    x = torch.fake_quantize_per_tensor_affine(x, case["ranges"][number] / 127, 0, -128, 127)
    return [F.linear(x, rounded(weights[name + ".weight"]), weights[name + ".bias"]) for name in names]


def rounded(weight):
    scales = weight.detach().abs().amax(1) / 127
    zeros = torch.zeros(len(scales), dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(weight, scales.float(), zeros, 0, -127, 127)


def norm(weights, x, name):
    return F.layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights[name + ".bias"], eps=1e-12)


def padding_of(case, batch):
    return torch.arange(case["length"])[None, :] >= batch["valid_lengths"][:, None]


def encode(case, weights, batch):
    sequences, length, hidden, heads = (case[key] for key in ("sequences", "length", "hidden", "heads"))

    def split(x):
        return x.view(sequences, length, heads, hidden // heads).transpose(1, 2)

    table = "bert.embeddings.{}_embeddings.weight"
    word = weights[table.format("word")]
    x = (word[batch["input_ids"]].view(sequences, length, hidden)
         + weights[table.format("position")][:length]
         + weights[table.format("token_type")][batch["token_types"]].view(sequences, length, hidden))
    x = norm(weights, x, "bert.embeddings.LayerNorm")
    padding = padding_of(case, batch)

    for i in range(case["layers"]):
        layer = f"bert.encoder.layer.{i}"
        query, key, value = map(split, product(
            case, weights, x, [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")], 4 * i))
        scores = query @ key.transpose(-1, -2) / (hidden // heads) ** 0.5
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        context = (scores.softmax(-1) @ value).transpose(1, 2).reshape(sequences, length, hidden)
        [y] = product(case, weights, context, [f"{layer}.attention.output.dense"], 4 * i + 1)
        x = norm(weights, x + y, f"{layer}.attention.output.LayerNorm")
        [inner] = product(case, weights, x, [f"{layer}.intermediate.dense"], 4 * i + 2)
        [y] = product(case, weights, F.gelu(inner), [f"{layer}.output.dense"], 4 * i + 3)
        x = norm(weights, x + y, f"{layer}.output.LayerNorm")
    return x


def pretraining(case, weights, batch, x):
    masked = x.reshape(-1, case["hidden"])[batch["masked_positions"]]
    masked = norm(weights, F.gelu(linear(weights, masked, "cls.predictions.transform.dense")),
                  "cls.predictions.transform.LayerNorm")
    logits = F.linear(masked, weights["bert.embeddings.word_embeddings.weight"], weights["cls.predictions.bias"])
    mlm = F.cross_entropy(logits, batch["masked_labels"], reduction="sum")
    pooled = torch.tanh(linear(weights, x[:, 0], "bert.pooler.dense"))
    nsp = F.cross_entropy(linear(weights, pooled, "cls.seq_relationship"), batch["next_sentence_labels"],
                          reduction="sum")
    return {"mlm": mlm, "nsp": nsp}, None


def span(case, weights, batch, x):
    scores = linear(weights, x, "qa_outputs")
    valid = scores.masked_fill(padding_of(case, batch)[:, :, None], float("-inf"))
    return {
  name: F.cross_entropy(valid[:, :, column], batch[name + "_labels"], reduction="sum")
            for column, name in enumerate(("first", "last"))}, scores


def divergence(case, scores, teacher):
    """T² · KL(teacher, student) of scores whose last dimension is one softmax, summed."""
    t = case["temperature"]
    return t * t * F.kl_div((scores / t).log_softmax(-1), (teacher / t).log_softmax(-1), reduction="sum", log_target=True)


def taught_span(case, weights, batch, x):
    losses, scores = span(case, weights, batch, x)
    teacher = torch.tensor(case["teacher"], dtype=torch.float64).view_as(scores)
    for column, name in enumerate(("first", "last")):
        losses["taught_" + name] = sum(divergence(case, scores[s, :n, column], teacher[s, :n, column])
                                       for s, n in enumerate(batch["valid_lengths"]))
    return losses, scores


def sequence_outputs(weights, x):
    return linear(weights, torch.tanh(linear(weights, x[:, 0], "bert.pooler.dense")), "classifier")


def classes(case, weights, batch, x):
    logits = sequence_outputs(weights, x)
    return {"class": F.cross_entropy(logits, batch["labels"], weight=batch["class_weights"].double())}, logits


def taught_classes(case, weights, batch, x):
    logits = sequence_outputs(weights, x)
    teacher = torch.tensor(case["teacher"], dtype=torch.float64).view_as(logits)
    return {"class": F.cross_entropy(logits, batch["labels"], reduction="sum"),
            "taught_class": divergence(case, logits, teacher)}, logits


def value(case, weights, batch, x):
    values = sequence_outputs(weights, x)
    return {"value": F.mse_loss(values.squeeze(), batch["values"].double())}, values


HEADS = {"pretraining": pretraining, "span": span, "taught_span": taught_span, "classes": classes,
         "taught_classes": taught_classes, "value": value}

main(pathlib.Path(sys.argv[1]))

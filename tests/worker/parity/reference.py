"""BERT (Devlin et al., 2018), GPT-2 (Radford et al., 2019) and Llama (Touvron et al., 2023), written plainly in PyTorch
from the papers.

A model is a dictionary of tensors under Hugging Face's names and its config.json; the losses follow Hugging Face's
conventions (labels of -100 are left out, those of the next token are shifted by one inside). No dropout. This is the independent side of
the parity tests, so it must stay simple enough to be checked by eye, and share nothing with the worker.
"""
import json
import pathlib

import torch
import torch.nn.functional as F

import safetensors_file

IGNORED = -100


def load(folder, dtype):
    """config.json, and the weights as leaves that collect gradients."""
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    tensors, _ = safetensors_file.read(folder / "model.safetensors")
    return config, {name: tensor.to(dtype).requires_grad_() for name, tensor in tensors.items()}


def attention(query, key, value, heads, allowed):
    """[batch, length, hidden] each; `allowed` says which keys a query may see, [batch, 1, queries or 1, keys]."""
    batch, length, hidden = query.shape

    def split(x):
        return x.view(batch, length, heads, hidden // heads).transpose(1, 2)
    scores = split(query) @ split(key).transpose(-1, -2) / (hidden // heads) ** 0.5
    probabilities = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    return (probabilities @ split(value)).transpose(1, 2).reshape(batch, length, hidden)


def bert_logits(config, weights, batch):
    """Of every position's token; and of the next sentence, None where the model has no such head."""
    def dense(x, name):  # weights are [out, in]
        return F.linear(x, weights[name + ".weight"], weights[name + ".bias"])

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights[name + ".bias"],
                            config["layer_norm_eps"])

    ids = batch["input_ids"]
    embeddings = "bert.embeddings."
    x = (weights[embeddings + "word_embeddings.weight"][ids]
         + weights[embeddings + "position_embeddings.weight"][:ids.shape[1]]
         + weights[embeddings + "token_type_embeddings.weight"][batch.get("token_type_ids", torch.zeros_like(ids))])
    x = norm(x, embeddings + "LayerNorm")
    allowed = batch["attention_mask"].bool()[:, None, None, :]
    for i in range(config["num_hidden_layers"]):
        layer = f"bert.encoder.layer.{i}."
        mixed = attention(*(dense(x, f"{layer}attention.self.{part}") for part in ("query", "key", "value")),
                          config["num_attention_heads"], allowed)
        x = norm(x + dense(mixed, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
        expanded = F.gelu(dense(x, layer + "intermediate.dense"))
        x = norm(x + dense(expanded, layer + "output.dense"), layer + "output.LayerNorm")

    transformed = norm(F.gelu(dense(x, "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
    logits = F.linear(transformed, weights[embeddings + "word_embeddings.weight"], weights["cls.predictions.bias"])
    if "bert.pooler.dense.weight" not in weights:
        return logits, None
    return logits, dense(torch.tanh(dense(x[:, 0], "bert.pooler.dense")), "cls.seq_relationship")


def bert_loss(config, weights, batch):
    """Mean masked-language-model loss plus, where the batch has such labels, mean next-sentence loss."""
    logits, next_sentence = bert_logits(config, weights, batch)
    loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), ignore_index=IGNORED)
    if "next_sentence_label" in batch:
        loss = loss + F.cross_entropy(next_sentence, batch["next_sentence_label"])
    return loss


def gpt_logits(config, weights, batch):
    def dense(x, name):  # weights are [in, out]
        return x @ weights[name + ".weight"] + weights[name + ".bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights[name + ".bias"],
                            config["layer_norm_epsilon"])

    ids = batch["input_ids"]
    length = ids.shape[1]
    x = weights["transformer.wte.weight"][ids] + weights["transformer.wpe.weight"][:length]
    past = torch.ones(length, length, dtype=torch.bool).tril()
    allowed = past & batch["attention_mask"].bool()[:, None, None, :]
    for i in range(config["n_layer"]):
        layer = f"transformer.h.{i}."
        query, key, value = dense(norm(x, layer + "ln_1"), layer + "attn.c_attn").chunk(3, -1)
        x = x + dense(attention(query, key, value, config["n_head"], allowed), layer + "attn.c_proj")
        expanded = F.gelu(dense(norm(x, layer + "ln_2"), layer + "mlp.c_fc"), approximate="tanh")
        x = x + dense(expanded, layer + "mlp.c_proj")
    return F.linear(norm(x, "transformer.ln_f"), weights["transformer.wte.weight"])


def gpt_loss(config, weights, batch):
    """Mean loss of predicting each next token."""
    logits = gpt_logits(config, weights, batch)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=IGNORED)


def turned(x, heads, theta):
    """RoPE (Su et al., 2021) on [batch, length, heads * size]: column i of a head pairs with i + size / 2."""
    batch, length, width = x.shape
    size = width // heads
    frequencies = theta ** (-torch.arange(0, size, 2, dtype=x.dtype) / size)
    angles = torch.arange(length, dtype=x.dtype)[:, None] * frequencies
    cosine, sine = angles.cos()[:, None, :], angles.sin()[:, None, :]
    low, high = x.view(batch, length, heads, size).chunk(2, -1)
    return torch.cat([low * cosine - high * sine, high * cosine + low * sine], -1).view(batch, length, width)


def llama_logits(config, weights, batch):
    heads, shared = config["num_attention_heads"], config["num_key_value_heads"]

    def dense(x, name):  # weights are [out, in]
        return F.linear(x, weights[name + ".weight"])

    def norm(x, name):
        return x / (x.pow(2).mean(-1, keepdim=True) + config["rms_norm_eps"]).sqrt() * weights[name + ".weight"]

    def repeated(x):  # a head of keys or values serves heads / shared heads that follow one another
        return x.unflatten(-1, (shared, -1)).repeat_interleave(heads // shared, 2).flatten(2)

    ids = batch["input_ids"]
    length = ids.shape[1]
    x = weights["model.embed_tokens.weight"][ids]
    past = torch.ones(length, length, dtype=torch.bool).tril()
    allowed = past & batch["attention_mask"].bool()[:, None, None, :]
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        normal = norm(x, layer + "input_layernorm")
        query = turned(dense(normal, layer + "self_attn.q_proj"), heads, config["rope_theta"])
        key = repeated(turned(dense(normal, layer + "self_attn.k_proj"), shared, config["rope_theta"]))
        value = repeated(dense(normal, layer + "self_attn.v_proj"))
        x = x + dense(attention(query, key, value, heads, allowed), layer + "self_attn.o_proj")
        normal = norm(x, layer + "post_attention_layernorm")
        gate = F.silu(dense(normal, layer + "mlp.gate_proj"))
        x = x + dense(gate * dense(normal, layer + "mlp.up_proj"), layer + "mlp.down_proj")
    table = "model.embed_tokens" if config["tie_word_embeddings"] else "lm_head"
    return dense(norm(x, "model.norm"), table)


def llama_loss(config, weights, batch):
    """Mean loss of predicting each next token."""
    logits = llama_logits(config, weights, batch)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=IGNORED)


LOSSES = {"bert": bert_loss, "gpt2": gpt_loss, "llama": llama_loss}


def loss_and_gradients(folder, batch, dtype):
    config, weights = load(folder, dtype)
    loss = LOSSES[config["model_type"]](config, weights, batch)
    loss.backward()
    gradients = {name: torch.zeros_like(w) if w.grad is None else w.grad for name, w in weights.items()}
    return loss.item(), gradients

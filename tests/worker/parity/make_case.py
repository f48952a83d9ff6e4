"""Random models as Hugging Face folders, and random batches for them, a function of their arguments alone."""
import json
import pathlib

import torch

import safetensors_file
from reference import IGNORED

# Weights are twice as wide as a fresh model's, and norms and biases not at 1 and 0, so that a mistake in any shows.
DEVIATION = 0.04

SHAPES = {"layers": 4, "hidden": 64, "heads": 4, "key_value_heads": 2, "intermediate": 256, "vocab": 328,
          "positions": 64, "tied": False}


def bert_config(shape):
    return {"model_type": "bert", "architectures": ["BertForPreTraining"], "vocab_size": shape["vocab"],
            "hidden_size": shape["hidden"], "num_hidden_layers": shape["layers"],
            "num_attention_heads": shape["heads"], "intermediate_size": shape["intermediate"], "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
            "max_position_embeddings": shape["positions"], "type_vocab_size": 2, "initializer_range": 0.02,
            "layer_norm_eps": 1e-12, "pad_token_id": 0}


def gpt_config(shape):
    return {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": shape["vocab"],
            "n_embd": shape["hidden"], "n_layer": shape["layers"], "n_head": shape["heads"],
            "n_inner": shape["intermediate"], "n_positions": shape["positions"], "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5, "embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1,
            "initializer_range": 0.02, "bos_token_id": 0, "eos_token_id": 0}


def bert_shapes(shape):
    hidden, wide, vocab = shape["hidden"], shape["intermediate"], shape["vocab"]
    shapes = {}

    def dense(name, out, into):
        shapes.update({name + ".weight": (out, into), name + ".bias": (out,)})

    def norm(name):
        shapes.update({name + ".weight": (hidden,), name + ".bias": (hidden,)})
    for name, rows in {"word": vocab, "position": shape["positions"], "token_type": 2}.items():
        shapes[f"bert.embeddings.{name}_embeddings.weight"] = (rows, hidden)
    norm("bert.embeddings.LayerNorm")
    for i in range(shape["layers"]):
        layer = f"bert.encoder.layer.{i}."
        for part in ("query", "key", "value"):
            dense(f"{layer}attention.self.{part}", hidden, hidden)
        dense(layer + "attention.output.dense", hidden, hidden)
        norm(layer + "attention.output.LayerNorm")
        dense(layer + "intermediate.dense", wide, hidden)
        dense(layer + "output.dense", hidden, wide)
        norm(layer + "output.LayerNorm")
    dense("bert.pooler.dense", hidden, hidden)
    shapes["cls.predictions.bias"] = (vocab,)
    dense("cls.predictions.transform.dense", hidden, hidden)
    norm("cls.predictions.transform.LayerNorm")
    dense("cls.seq_relationship", 2, hidden)
    return shapes


def gpt_shapes(shape):
    hidden, wide = shape["hidden"], shape["intermediate"]
    shapes = {"transformer.wte.weight": (shape["vocab"], hidden), "transformer.wpe.weight": (shape["positions"], hidden)}

    def dense(name, into, out):
        shapes.update({name + ".weight": (into, out), name + ".bias": (out,)})

    def norm(name):
        shapes.update({name + ".weight": (hidden,), name + ".bias": (hidden,)})
    for i in range(shape["layers"]):
        layer = f"transformer.h.{i}."
        norm(layer + "ln_1")
        dense(layer + "attn.c_attn", hidden, 3 * hidden)
        dense(layer + "attn.c_proj", hidden, hidden)
        norm(layer + "ln_2")
        dense(layer + "mlp.c_fc", hidden, wide)
        dense(layer + "mlp.c_proj", wide, hidden)
    norm("transformer.ln_f")
    return shapes


def llama_config(shape):
    return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": shape["vocab"],
            "hidden_size": shape["hidden"], "num_hidden_layers": shape["layers"],
            "num_attention_heads": shape["heads"], "num_key_value_heads": shape["key_value_heads"],
            "intermediate_size": shape["intermediate"], "hidden_act": "silu", "attention_dropout": 0.0,
            "max_position_embeddings": shape["positions"], "initializer_range": 0.02, "rms_norm_eps": 1e-5,
            "rope_theta": 500.0, "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": shape["tied"],
            "bos_token_id": 0, "eos_token_id": 0}


def llama_shapes(shape):
    hidden, wide = shape["hidden"], shape["intermediate"]
    keys = hidden // shape["heads"] * shape["key_value_heads"]
    table = (shape["vocab"], hidden)
    shapes = {"model.embed_tokens.weight": table, "model.norm.weight": (hidden,)}
    if not shape["tied"]:
        shapes["lm_head.weight"] = table
    for i in range(shape["layers"]):
        layer = f"model.layers.{i}."
        for part, out in {"q": hidden, "k": keys, "v": keys, "o": hidden}.items():
            shapes[f"{layer}self_attn.{part}_proj.weight"] = (out, hidden)
        shapes |= {layer + "input_layernorm.weight": (hidden,), layer + "post_attention_layernorm.weight": (hidden,),
                   layer + "mlp.gate_proj.weight": (wide, hidden), layer + "mlp.up_proj.weight": (wide, hidden),
                   layer + "mlp.down_proj.weight": (hidden, wide)}
    return shapes


FAMILIES = {"bert": (bert_config, bert_shapes), "gpt": (gpt_config, gpt_shapes), "llama": (llama_config, llama_shapes)}


def is_norm_weight(name):
    return name.endswith(".weight") and any(part in name for part in ("LayerNorm", ".ln_", "layernorm", "model.norm"))


def write_model(folder, family, seed, shape=None, deviation=DEVIATION):
    shape = {**SHAPES, **(shape or {})}
    config, shapes = FAMILIES[family]
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, extents in shapes(shape).items():
        tensors[name] = deviation * torch.randn(extents, generator=generator)
        if is_norm_weight(name):
            tensors[name] += 1
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(shape), indent=2))
    safetensors_file.write(folder / "model.safetensors", tensors, {"format": "pt"})


def write_batch(path, family, seed, sequences=4, length=32, padded=False, vocab=SHAPES["vocab"]):
    """Of a padded batch each sequence but the first ends early; what is beyond has ids too, which must not matter."""
    generator = torch.Generator().manual_seed(seed)

    def below(bound, *shape):
        return torch.randint(bound, shape, generator=generator)
    ids = below(vocab, sequences, length)
    valid = torch.full((sequences,), length)
    if padded:
        valid[1:] = 2 + below(length - 2, sequences - 1)
    attention_mask = (torch.arange(length) < valid[:, None]).long()
    batch = {"input_ids": ids, "attention_mask": attention_mask}
    if family == "bert":
        masked = (torch.rand(sequences, length, generator=generator) < 0.2) & attention_mask.bool()
        masked[:, 1] = True
        batch["labels"] = torch.where(masked, below(vocab, sequences, length), IGNORED)
        batch["token_type_ids"] = (torch.arange(length) >= valid[:, None] // 2).long()
        batch["next_sentence_label"] = below(2, sequences)
    else:
        batch["labels"] = torch.where(attention_mask.bool(), ids, IGNORED)
    safetensors_file.write(path, batch)
    return batch

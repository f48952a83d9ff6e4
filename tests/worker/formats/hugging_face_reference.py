"""An independent reader and writer of Hugging Face folders: the standard library and PyTorch, none of ours.

  hugging_face_reference.py write FOLDER...   models whose every weight follows from its name
  hugging_face_reference.py check FOLDER...   exits 0 where each folder holds just that model

A folder's last part is the family and, when writing, options, such as bert or gpt+bf16+sharded: bf16, f16, bare
(no prefix), gamma (old names of LayerNorm's), tied (the head's copy of the embeddings), buffers, sharded,
headless. Exit code 77: there is no PyTorch.
"""

import json
import os
import struct
import sys
import zlib

try:
    import torch
except ImportError:
    sys.exit(77)

LAYERS, HIDDEN, HEADS, KEY_HEADS, INNER, VOCAB, POSITIONS = 2, 32, 4, 2, 96, 50, 24
CODES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.uint8: "U8"}


def tensor(name, *shape):
    """Multiples of 1/128, which every type here holds exactly; hugging_face_test.cc has the same formula."""
    seed = zlib.crc32(name.encode())
    count = 1
    for extent in shape:
        count *= extent
    index = torch.arange(count, dtype=torch.int64)
    return (((seed + index * 40503) // 8 % 128).to(torch.float32) / 128 - 0.5).reshape(shape)


def linear(name, out, inp):
    return {name + ".weight": tensor(name + ".weight", out, inp), name + ".bias": tensor(name + ".bias", out)}


def norm(name):
    return {name + ".weight": tensor(name + ".weight", HIDDEN), name + ".bias": tensor(name + ".bias", HIDDEN)}


def bert():
    e = "bert.embeddings."
    model = {
        e + "word_embeddings.weight": tensor(e + "word_embeddings.weight", VOCAB, HIDDEN),
        e + "position_embeddings.weight": tensor(e + "position_embeddings.weight", POSITIONS, HIDDEN),
        e + "token_type_embeddings.weight": tensor(e + "token_type_embeddings.weight", 2, HIDDEN),
        "cls.predictions.bias": tensor("cls.predictions.bias", VOCAB),
    }
    model |= norm(e + "LayerNorm") | linear("bert.pooler.dense", HIDDEN, HIDDEN)
    for i in range(LAYERS):
        layer = f"bert.encoder.layer.{i}."
        for part in ("query", "key", "value"):
            model |= linear(layer + "attention.self." + part, HIDDEN, HIDDEN)
        model |= linear(layer + "attention.output.dense", HIDDEN, HIDDEN) | norm(layer + "attention.output.LayerNorm")
        model |= linear(layer + "intermediate.dense", INNER, HIDDEN) | linear(layer + "output.dense", HIDDEN, INNER)
        model |= norm(layer + "output.LayerNorm")
    model |= linear("cls.predictions.transform.dense", HIDDEN, HIDDEN)
    return model | norm("cls.predictions.transform.LayerNorm") | linear("cls.seq_relationship", 2, HIDDEN)


def conv1d(name, parts):
    """GPT-2's projections compute x W + b: W is [in, out]; several are side by side in the columns."""
    return {
        name + ".weight": torch.cat([p[0].t() for p in parts], dim=1).contiguous(),
        name + ".bias": torch.cat([p[1] for p in parts]),
    }


def gpt():
    def pair(name, out, inp):
        return tuple(linear(name, out, inp).values())

    model = {
        "transformer.wte.weight": tensor("transformer.wte.weight", VOCAB, HIDDEN),
        "transformer.wpe.weight": tensor("transformer.wpe.weight", POSITIONS, HIDDEN),
    }
    for i in range(LAYERS):
        h = f"transformer.h.{i}."
        qkv = [pair(h + "attn." + part, HIDDEN, HIDDEN) for part in ("query", "key", "value")]
        model |= norm(h + "ln_1") | norm(h + "ln_2") | conv1d(h + "attn.c_attn", qkv)
        model |= conv1d(h + "attn.c_proj", [pair(h + "attn.c_proj", HIDDEN, HIDDEN)])
        model |= conv1d(h + "mlp.c_fc", [pair(h + "mlp.c_fc", INNER, HIDDEN)])
        model |= conv1d(h + "mlp.c_proj", [pair(h + "mlp.c_proj", HIDDEN, INNER)])
    return model | norm("transformer.ln_f")


def llama():
    table, keys = (VOCAB, HIDDEN), HIDDEN // HEADS * KEY_HEADS
    shapes = {"model.embed_tokens": table, "model.norm": (HIDDEN,), "lm_head": table}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for part, out in {"q": HIDDEN, "k": keys, "v": keys, "o": HIDDEN}.items():
            shapes[f"{layer}self_attn.{part}_proj"] = (out, HIDDEN)
        shapes |= {layer + "input_layernorm": (HIDDEN,), layer + "post_attention_layernorm": (HIDDEN,)}
        shapes |= {layer + "mlp.gate_proj": (INNER, HIDDEN), layer + "mlp.up_proj": (INNER, HIDDEN)}
        shapes[layer + "mlp.down_proj"] = (HIDDEN, INNER)
    return {name + ".weight": tensor(name + ".weight", *shape) for name, shape in shapes.items()}


FAMILIES = {"bert": bert, "gpt": gpt, "llama": llama}
ARCHITECTURES = {"bert": "BertForPreTraining", "gpt": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}
# The head's copy of the embeddings, and what it is of; Llama's head is not tied.
TIED = {
    "bert": ("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
    "gpt": ("lm_head.weight", "transformer.wte.weight"),
}
CONFIGS = {
    "bert": {
        "model_type": "bert",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "hidden_act": "gelu",
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
    },
    "gpt": {
        "model_type": "gpt2",
        "vocab_size": VOCAB,
        "n_embd": HIDDEN,
        "n_layer": LAYERS,
        "n_head": HEADS,
        "n_inner": INNER,
        "n_positions": POSITIONS,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "resid_pdrop": 0.1,
        "embd_pdrop": 0.1,
        "attn_pdrop": 0.1,
        "initializer_range": 0.02,
    },
    "llama": {
        "model_type": "llama",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "intermediate_size": INNER,
        "hidden_act": "silu",
        "max_position_embeddings": POSITIONS,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500.0,
        "attention_dropout": 0.1,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "initializer_range": 0.02,
    },
}


def write_file(path, tensors):
    header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, value in tensors.items():
        raw = value if value.dtype in (torch.float32, torch.uint8) else value.view(torch.int16)
        blobs.append(raw.numpy().tobytes())
        header[name] = {
            "dtype": CODES[value.dtype],
            "shape": list(value.shape),
            "data_offsets": [offset, offset + len(blobs[-1])],
        }
        offset += len(blobs[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_file(path):
    data = open(path, "rb").read()
    (size,) = struct.unpack_from("<Q", data)
    assert size % 8 == 0 and data[8:9] == b"{", "the header is aligned JSON"
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, last = entry["data_offsets"]
        assert entry["dtype"] == "F32" and begin == end, name
        end = last
        tensors[name] = torch.frombuffer(bytearray(data[8 + size + begin : 8 + size + last]), dtype=torch.float32)
        tensors[name] = tensors[name].reshape(entry["shape"])
    assert 8 + size + end == len(data), "nothing lies behind the last tensor"
    return tensors


def renamed(name, options):
    if "bare" in options:
        for prefix in ("bert.", "transformer.", "model."):
            name = name.removeprefix(prefix)
    if "gamma" in options and "LayerNorm" in name:
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    return name


def write(folder, family, options):
    model = FAMILIES[family]()
    if "headless" in options:
        model = {name: value for name, value in model.items() if not name.startswith(("cls.", "bert.pooler"))}
    if "tied" in options and family in TIED:
        copy, source = TIED[family]
        model[copy] = model[source]
        if family == "bert":
            model["cls.predictions.decoder.bias"] = model["cls.predictions.bias"]
    dtype = torch.bfloat16 if "bf16" in options else torch.float16 if "f16" in options else torch.float32
    model = {renamed(name, options): value.to(dtype) for name, value in model.items()}
    if "buffers" in options and family == "gpt":
        for i in range(LAYERS):
            model[f"transformer.h.{i}.attn.bias"] = torch.ones(1, 1, POSITIONS, POSITIONS, dtype=torch.uint8)
            model[f"transformer.h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    if "buffers" in options and family == "llama":
        for i in range(LAYERS):
            model[f"model.layers.{i}.self_attn.rotary_emb.inv_freq"] = torch.ones(HIDDEN // HEADS // 2)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as out:
        json.dump(CONFIGS[family], out)
    if "sharded" not in options:
        return write_file(os.path.join(folder, "model.safetensors"), model)
    names, weight_map = list(model), {}
    for shard in range(3):
        file = f"model-{shard + 1:05}-of-00003.safetensors"
        write_file(os.path.join(folder, file), {name: model[name] for name in names[shard::3]})
        weight_map |= {name: file for name in names[shard::3]}
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as out:
        json.dump({"metadata": {"total_size": 0}, "weight_map": weight_map}, out)


def check(folder, family):
    config = json.load(open(os.path.join(folder, "config.json")))
    for key, value in CONFIGS[family].items():
        assert config[key] == value, f"{key}: {config[key]} instead of {value}"
    assert config["architectures"] == [ARCHITECTURES[family]]
    index = os.path.join(folder, "model.safetensors.index.json")
    if os.path.exists(index):
        listing = json.load(open(index))
        found = {}
        for file in sorted(set(listing["weight_map"].values())):
            tensors = read_file(os.path.join(folder, file))
            assert all(listing["weight_map"][name] == file for name in tensors)
            found |= tensors
        assert listing["metadata"]["total_size"] == sum(4 * value.numel() for value in found.values())
        assert set(found) == set(listing["weight_map"])
    else:
        found = read_file(os.path.join(folder, "model.safetensors"))
    expected = FAMILIES[family]()
    assert set(found) == set(expected), set(found) ^ set(expected)
    for name, value in expected.items():
        assert found[name].shape == value.shape and torch.equal(found[name], value), name


for folder in sys.argv[2:]:
    family, *options = os.path.basename(folder).split("+")
    if sys.argv[1] == "write":
        write(folder, family, options)
    else:
        check(folder, family)

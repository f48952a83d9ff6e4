"""GPT-2 going on with text in plain PyTorch, with a cache of keys and values: random weights, the likeliest token each.

Written for speed as a careful user would: queries, keys and values are one product, the cache is allocated once and a step
writes one row of it; everything in one type. --lockstep as bench/lockstep.py says.
"""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Dense(nn.Linear):
    """A linear layer that multiplies a single row as a vector, if so told."""
    vector = False

    def forward(self, x):
        if not Dense.vector or x.numel() > x.shape[-1]:
            return super().forward(x)
        return torch.addmv(self.bias, self.weight, x.view(-1)).view(*x.shape[:-1], -1)


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.first_norm, self.middle_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query_key_value, self.output = Dense(hidden, 3 * hidden), Dense(hidden, hidden)
        self.expand, self.contract = Dense(hidden, 4 * hidden), Dense(4 * hidden, hidden)

    def forward(self, x, keys, values, begin):
        batch, length, hidden = x.shape
        split = self.query_key_value(self.first_norm(x)).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        end = begin + length
        keys[:, :, begin:end], values[:, :, begin:end] = key, value
        scores = query @ keys[:, :, :end].transpose(-1, -2) * (hidden // self.heads) ** -0.5
        if length > 1:
            future = torch.ones(length, end, dtype=torch.bool).triu(begin + 1)
            scores = scores.masked_fill(future, float("-inf"))
        mixed = (scores.softmax(-1) @ values[:, :, :end]).transpose(1, 2).reshape(batch, length, hidden)
        x = x + self.output(mixed)
        return x + self.contract(F.gelu(self.expand(self.middle_norm(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.word, self.position = nn.Embedding(args.vocab, args.hidden), nn.Embedding(args.positions, args.hidden)
        self.layers = nn.ModuleList(Layer(args.hidden, args.heads) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.hidden)

    def forward(self, ids, cache, begin):
        x = self.word(ids) + self.position.weight[begin : begin + ids.shape[1]]
        for layer, (keys, values) in zip(self.layers, cache):
            x = layer(x, keys, values, begin)
        last = self.norm(x[:, -1])
        if Dense.vector and len(last) == 1:
            return torch.mv(self.word.weight, last[0])[None]
        return F.linear(last, self.word.weight)


def block(model, args):
    shape = (args.batch, args.heads, args.prompt + args.tokens, args.hidden // args.heads)
    dtype = model.word.weight.dtype
    cache = [(torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)) for _ in model.layers]
    start = time.perf_counter()
    ids = model(torch.randint(args.vocab, (args.batch, args.prompt)), cache, 0).argmax(-1, keepdim=True)
    read = time.perf_counter()
    for i in range(args.tokens):
        ids = model(ids, cache, args.prompt + i).argmax(-1, keepdim=True)
    done = time.perf_counter()
    return {"decode": args.batch * args.tokens / (done - read), "prefill": args.batch * args.prompt / (read - start)}


def main():
    parser = argparse.ArgumentParser()
    for name, value in {"layers": 12, "hidden": 768, "heads": 12, "vocab": 50257, "positions": 1024, "batch": 1,
                        "prompt": 128, "tokens": 32, "threads": 2}.items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--vector", action="store_true", help="multiply a single row as a vector")
    parser.add_argument("--lockstep", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    Dense.vector = args.vector
    model = Gpt(args).requires_grad_(False).eval()
    if args.precision == "bf16":
        model.bfloat16()
    with torch.inference_mode():
        block(model, args)
        print(json.dumps({"torch": torch.__version__}), flush=True)
        if not args.lockstep:
            print(json.dumps(block(model, args)))
        while args.lockstep and sys.stdin.readline():
            print(json.dumps(block(model, args)), flush=True)


main()

"""The peer: BERT pre-training steps in PyTorch as a careful user would tune them for this CPU.

Prints one JSON line for each timed block. With --lockstep a block starts when a line arrives on standard input, so
that two programs can take turns on one machine. bf16 is run under autocast, the documented way, or with the model
itself in bf16 and f32 master weights (--bf16-way); bench/training/run takes the faster.
"""
import argparse
import json
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, hidden, heads, intermediate, dropout):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.attention_output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.expand = nn.Linear(hidden, intermediate)
        self.contract = nn.Linear(intermediate, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        batch, length, hidden = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) * (hidden // self.heads) ** -0.5 + mask
        context = self.dropout(scores.softmax(-1)) @ value
        context = context.transpose(1, 2).reshape(batch, length, hidden)
        x = self.attention_norm(x + self.dropout(self.attention_output(context)))
        return self.output_norm(x + self.dropout(self.contract(F.gelu(self.expand(x)))))


class Bert(nn.Module):
    def __init__(self, layers, hidden, heads, intermediate, vocab, positions, dropout):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden)
        self.position = nn.Embedding(positions, hidden)
        self.token_type = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(hidden, heads, intermediate, dropout) for _ in range(layers))
        self.transform = nn.Linear(hidden, hidden)
        self.transform_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.decoder_bias = nn.Parameter(torch.zeros(vocab))
        self.pooler = nn.Linear(hidden, hidden)
        self.next_sentence = nn.Linear(hidden, 2)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, batch):
        x = self.word(batch["ids"]) + self.position.weight[:batch["ids"].shape[1]] + self.token_type(batch["types"])
        x = self.dropout(self.norm(x))
        mask = batch["mask"].to(x.dtype)
        for layer in self.layers:
            x = layer(x, mask)
        masked = x.reshape(-1, x.shape[-1])[batch["positions"]]
        # Under autocast this version's layer norm wants its input in f32, like its weights.
        masked = self.transform_norm(F.gelu(self.transform(masked)).to(self.transform_norm.weight.dtype))
        logits = F.linear(masked, self.word.weight, self.decoder_bias)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return (F.cross_entropy(logits.float(), batch["labels"])
                + F.cross_entropy(self.next_sentence(pooled).float(), batch["next_sentence"]))


def random_batch(args):
    tokens = args.batch * args.length
    positions = [s * args.length + 1 + 6 * i for s in range(args.batch) for i in range(args.masked)]
    return {
        "ids": torch.randint(args.vocab, (args.batch, args.length)),
        "types": (torch.arange(tokens).view(args.batch, args.length) % args.length > args.length // 2).long(),
        "mask": torch.zeros(args.batch, 1, 1, args.length),
        "positions": torch.tensor(positions),
        "labels": torch.randint(args.vocab, (len(positions),)),
        "next_sentence": torch.randint(2, (args.batch,)),
    }


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = Bert(args.layers, args.hidden, args.heads, args.intermediate, args.vocab, 512, args.dropout)
        self.half = args.precision == "bf16" and args.bf16_way == "model"
        self.masters = list(self.model.parameters())
        if self.half:
            self.masters = [p.detach().clone() for p in self.masters]
            self.model.bfloat16()
        decay = [p for p in self.masters if p.dim() > 1]
        rest = [p for p in self.masters if p.dim() <= 1]
        groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.999), eps=1e-6, foreach=args.foreach)
        self.batch = random_batch(args)

    def step(self):
        autocast = self.args.precision == "bf16" and not self.half
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            loss = self.model(self.batch)
        loss.backward()
        if self.half:
            for master, parameter in zip(self.masters, self.model.parameters()):
                master.grad = parameter.grad.float()
        nn.utils.clip_grad_norm_(self.masters, 1.0)
        self.optimizer.step()
        self.model.zero_grad(set_to_none=True)
        if self.half:
            with torch.no_grad():
                for master, parameter in zip(self.masters, self.model.parameters()):
                    parameter.copy_(master)
        return loss.item()


def parse_args():
    parser = argparse.ArgumentParser()
    for name, value in {"layers": 4, "hidden": 256, "heads": 4, "intermediate": 1024, "vocab": 30528, "length": 128,
                        "batch": 32, "masked": 20, "threads": 2, "blocks": 5, "steps": 5}.items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--bf16-way", choices=["autocast", "model"], default="autocast")
    parser.add_argument("--foreach", action="store_true", help="the multi-tensor form of AdamW")
    parser.add_argument("--lockstep", action="store_true")
    return parser.parse_args()


def main():
    args = parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    trainer = Trainer(args)
    for _ in range(3):
        trainer.step()
    print(json.dumps({"ready": True, "torch": torch.__version__}), flush=True)
    for _ in range(args.blocks):
        if args.lockstep and not sys.stdin.readline():
            return
        start = time.perf_counter()
        for _ in range(args.steps):
            loss = trainer.step()
        seconds = time.perf_counter() - start
        print(json.dumps({"sequences_per_second": args.steps * args.batch / seconds, "loss": loss,
                          "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}), flush=True)


main()

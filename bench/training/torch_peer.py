"""The peer: training steps in PyTorch as a careful user would tune them for this CPU.

Prints one JSON line for each timed block. With --lockstep a block starts when a line arrives on standard input, so
that two programs can take turns on one machine. bf16 is run under autocast, the documented way, or with the model
itself in bf16 and f32 master weights (--bf16-way); AdamW one tensor at a time or all at once (--foreach).
bench/training/run takes the faster.
"""
import argparse
import json
import resource
import sys
import time

import torch
from torch import nn

from torch_models import FAMILIES


class Trainer:
    def __init__(self, args):
        self.args = args
        model, batch = FAMILIES[args.family]
        self.model = model(args)
        for parameter in self.model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        self.half = args.precision == "bf16" and args.bf16_way == "model"
        self.masters = list(self.model.parameters())
        if self.half:
            self.masters = [p.detach().clone() for p in self.masters]
            self.model.bfloat16()
        decay = [p for p in self.masters if p.dim() > 1]
        rest = [p for p in self.masters if p.dim() <= 1]
        groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.999), eps=1e-6, foreach=args.foreach)
        self.batch = batch(args)

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
    parser.add_argument("--family", choices=FAMILIES, default="bert")
    for name, value in {"layers": 4, "hidden": 256, "heads": 4, "intermediate": 1024, "vocab": 30528, "positions": 512,
                        "length": 128, "batch": 32, "masked": 20, "threads": 2, "blocks": 5, "steps": 5,
                        "warmup": 3}.items():
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
    for _ in range(args.warmup):
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

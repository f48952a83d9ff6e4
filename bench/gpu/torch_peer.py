"""The peer on a GPU: training in PyTorch as a careful user writes it, in bf16 under autocast with flash attention.

Takes the options of bench/training/torch_peer.py that shape the work and prints one JSON line for each timed block, of the
model as it is or, with --way compiled, under torch.compile. Instead it measures, with --ceilings, what the device can do at
best: copying memory, and one large bf16 product; with --nccl BYTES, all-reducing so many gradients with one rank.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "training"))
import torch_models  # noqa: E402


class FlashAttention(torch_models.Attention):
    """Every sequence is full, so BERT needs no mask and GPT only the causal one."""

    causal = False

    def forward(self, x, mask):
        batch, length, hidden = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        dropout = self.dropout.p if self.training else 0.0
        context = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=self.causal)
        return self.output(context.transpose(1, 2).reshape(batch, length, hidden))


def seconds_of(work, repeats):
    """Of one run of `work`, after one to warm up."""
    work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / repeats


def ceilings():
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copied = 2 * source.numel() / seconds_of(lambda: target.copy_(source), 20)
    side = 8192
    a, b = (torch.randn(side, side, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    flops = 2 * side**3 / seconds_of(lambda: a @ b, 20)
    return {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
            "copy_bytes_per_second": copied, "bf16_flops": flops}


def all_reduce(total):
    """In buckets as large as the worker's."""
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    buckets = torch.zeros(total // 4, device="cuda").split(4 << 20)
    enqueueing = []

    def once():
        start = time.perf_counter()
        works = [dist.all_reduce(bucket, async_op=True) for bucket in buckets]
        enqueueing.append((time.perf_counter() - start) / len(buckets))
        works[-1].wait()
        torch.cuda.synchronize()

    reducing = [seconds_of(once, 1) for _ in range(20)]
    dist.destroy_process_group()
    return {"all_reduce_seconds": statistics.median(reducing), "enqueue_seconds_per_call": statistics.median(enqueueing)}


class Trainer:
    def __init__(self, args):
        FlashAttention.causal = args.family == "gpt"
        torch_models.Attention = FlashAttention
        make_model, make_batch = torch_models.FAMILIES[args.family]
        self.model = make_model(args).cuda()
        for parameter in self.model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        self.parameters = list(self.model.parameters())
        groups = [{"params": [p for p in self.parameters if p.dim() > 1], "weight_decay": 0.01},
                  {"params": [p for p in self.parameters if p.dim() <= 1], "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.999), eps=1e-6, fused=True)
        self.batch = {name: tensor.cuda() for name, tensor in make_batch(args).items()}
        self.run = self.model

    def step(self):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self.run(self.batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", choices=torch_models.FAMILIES, default="bert")
    for name, value in {"layers": 24, "hidden": 1024, "heads": 16, "intermediate": 4096, "vocab": 30528,
                        "positions": 512, "length": 128, "batch": 64, "masked": 20, "blocks": 3, "steps": 10}.items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--way", choices=("eager", "compiled"), default="eager")
    parser.add_argument("--ceilings", action="store_true")
    parser.add_argument("--nccl", type=int, metavar="BYTES")
    return parser.parse_args()


def time_blocks(args, trainer, way):
    for _ in range(5):
        trainer.step()
    torch.cuda.synchronize()
    for _ in range(args.blocks):
        start = time.perf_counter()
        for _ in range(args.steps):
            loss = trainer.step()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        print(json.dumps({"way": way, "sequences_per_second": args.steps * args.batch / seconds, "loss": loss.item()}),
              flush=True)


def main():
    args = parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/gpu/torch_peer.py: this PyTorch sees no GPU")
    torch.manual_seed(1)
    if args.ceilings:
        print(json.dumps(ceilings()), flush=True)
        return
    if args.nccl:
        print(json.dumps(all_reduce(args.nccl)), flush=True)
        return
    trainer = Trainer(args)
    if args.way == "compiled":
        trainer.run = torch.compile(trainer.model)
    time_blocks(args, trainer, args.way)


main()

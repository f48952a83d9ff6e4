"""The peer on a GPU at inference: BERT's encoder and pooler in PyTorch as a careful user writes it, in fp16 with flash attention.

Prints one JSON line for each shape: eager, or compiled with CUDA graphs (torch.compile, mode reduce-overhead). Inputs lie on
the device; every pass is waited for.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "training"))
import torch_models  # noqa: E402

WARMUP, REPEATS = 20, 200


class FlashAttention(torch_models.Attention):
    """Every sequence is full, so there is no mask."""

    def forward(self, x, mask):
        batch, length, hidden = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        context = F.scaled_dot_product_attention(query, key, value)
        return self.output(context.transpose(1, 2).reshape(batch, length, hidden))


def times_of(model, batch, length):
    ids = torch.randint(0, torch_models.VOCABULARY, (batch, length), device="cuda")
    types = torch.zeros_like(ids)
    milliseconds = []
    for i in range(WARMUP + REPEATS):
        start = time.perf_counter()
        model(ids, types)
        torch.cuda.synchronize()
        if i >= WARMUP:
            milliseconds.append(1e3 * (time.perf_counter() - start))
    return sorted(milliseconds)


def tell(way, model, batch, length):
    milliseconds = times_of(model, batch, length)
    median = statistics.median(milliseconds)
    print(json.dumps({"way": way, "batch": batch, "length": length, "median_ms": median,
                      "p90_ms": milliseconds[int(0.9 * REPEATS) - 1], "p99_ms": milliseconds[int(0.99 * REPEATS) - 1],
                      "sequences_per_second": 1e3 * batch / median, "torch": torch.__version__}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("layers", "hidden", "heads"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--shape", action="append", required=True)
    parser.add_argument("--way", choices=("eager", "compiled"), default="eager")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/gpu/torch_inference.py: this PyTorch sees no GPU")
    torch.manual_seed(1)
    torch_models.Attention = FlashAttention
    shapes = [tuple(map(int, shape.split("x"))) for shape in args.shape]
    with torch.inference_mode():
        model = torch_models.BertEncoder(args).cuda().half().eval()
        for shape in shapes:
            run = model
            if args.way == "compiled":
                torch._dynamo.reset()
                run = torch.compile(model, mode="reduce-overhead", dynamic=False)
            tell(args.way, run, *shape)


main()

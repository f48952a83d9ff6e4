"""Training throughput, inference, and what NCCL costs, on this machine's first GPU beside PyTorch, eager and compiled.

measure.py BUILD_DIR [--json FILE] [--blocks N] [--models NAME ...]; bench/gpu/run calls it.
First what the device can do at best (copies, one large bf16 product), then BERT-Large and GPT-2 in bf16 with dropout:
sequences/s, tokens/s, and the share of that product's rate (model FLOP utilisation: matrix products of forward and
backward, recomputation not counted). The programs have the device one after another, for its whole memory; a figure is
the median of a program's blocks. At 384, SQuAD's length, two predicted tokens a sequence stand for its span head.
Inference: see inference.py.
"""
import argparse
import pathlib
import statistics
import sys
import time

import inference
from report import Report, lines_of

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 480
BERT_LARGE = {"family": "bert", "layers": 24, "hidden": 1024, "heads": 16, "intermediate": 4096, "vocab": 30528,
              "positions": 512}
GPT2_XL = {"family": "gpt", "layers": 48, "hidden": 1600, "heads": 25, "intermediate": 6400, "vocab": 50304,
           "positions": 1024}
MODELS = {
    "BERT-Large 128": {**BERT_LARGE, "length": 128, "masked": 20, "batch": 128, "steps": 10},
    "BERT-Large 384": {**BERT_LARGE, "length": 384, "masked": 2, "batch": 40, "steps": 10},
    "BERT-Large 512": {**BERT_LARGE, "length": 512, "masked": 76, "batch": 32, "steps": 10},
    "GPT-2 1558M": {**GPT2_XL, "length": 1024, "batch": 8, "steps": 4},
}


# What this project set out to reach on one H200: sequences/s.
GOALS = {"BERT-Large 128": 1970, "BERT-Large 512": 465, "GPT-2 1558M": 48_400 / 1024}


def torch_peer(*arguments):
    return lines_of(sys.executable, HERE / "torch_peer.py", *arguments)


def flags(options):
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def speeds_of(blocks, side):
    """The median, in sequences/s, of each of a program's ways to compute."""
    by_way = {}
    for block in blocks:
        by_way.setdefault(block.get("way", side), []).append(block["sequences_per_second"])
    return {way: statistics.median(speeds) for way, speeds in by_way.items()}


def measure_training(report, build, name, options, best):
    about, *blocks = lines_of(build / "bin" / "bench_training", "--gpu", "--precision", "bf16", "--dropout", 0.1,
                              *flags(options))
    speeds = speeds_of(blocks, "Podium") | speeds_of(torch_peer(*flags(options)), "")
    flops = about["flops_per_step"] / options["batch"]
    for side, speed in speeds.items():
        share = speed * flops / best["bf16_flops"]
        ratio = speeds["Podium"] / speed
        goal = GOALS.get(name) if side == "Podium" else None
        told = f"   goal {goal:,.1f}: {'reached' if speed >= goal else 'MISSED'}" if goal else ""
        print(f"{name:16}{side:10}{speed:10.1f}{speed * options['length']:11.0f}{share:7.1%}{ratio:8.2f}{told}",
              flush=True)
        report.figure(f"{name} training, bf16, {side}", unit="sequences/s", value=speed, model_flop_utilisation=share,
                      model=options, goal=goal)


def measure_nccl(report, build):
    ours = lines_of(build / "bin" / "bench_nccl")[0]
    peer = torch_peer("--nccl", ours["bytes"])[0]
    print(f"\nNCCL {ours['nccl']} with one rank, {ours['bytes'] * 1e-9:.2f} GB of gradients in buckets (a copy of them takes "
          f"{ours['copy_seconds'] * 1e3:.2f} ms):")
    for side, figures in (("Podium", ours), ("PyTorch", peer)):
        print(f"{side:16}{figures['all_reduce_seconds'] * 1e3:8.2f} ms, {figures['enqueue_seconds_per_call'] * 1e6:6.1f} us "
              "a call to enqueue", flush=True)
        report.figure(f"NCCL with one rank, {side}", **figures)


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu/run", description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--training-only", action="store_true", help="without inference")
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    begin = time.monotonic()
    report = Report(args.json)
    best = torch_peer("--ceilings")[0]
    report.figure("GPU ceilings", **best)
    print(f"{best['device']}: copies {best['copy_bytes_per_second'] * 1e-12:.2f} TB/s, bf16 products "
          f"{best['bf16_flops'] * 1e-12:.0f} TFLOP/s; PyTorch {best['torch']}")
    report.part("NCCL", measure_nccl, args.build)
    if not args.training_only:
        report.part("inference", inference.measure, args.build, inference.MODELS)
    print(f"\n{'':16}{'':10}{'seq/s':>10}{'tokens/s':>11}{'MFU':>7}{'ratio':>8}", flush=True)
    for name in args.models:
        if time.monotonic() - begin > LIMIT_SECONDS - 120:
            print(f"{name}: left out, for time")
            continue
        report.part(name, measure_training, args.build, name, {**MODELS[name], "blocks": args.blocks}, best)
    sys.exit(report.failed)


main()

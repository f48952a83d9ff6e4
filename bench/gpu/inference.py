"""Latency and throughput of BERT for inference beside PyTorch, eager and compiled with CUDA graphs, in at most 2.5 minutes.

inference.py BUILD_DIR [--json FILE] [--models NAME ...] [--cpu]; bench/gpu/run calls it, too.
Both compute hidden states and the pooled output with random weights from inputs in the device's memory, and wait for every
pass; a figure is the median of its passes. PyTorch computes in fp16. 2:4 sparse weights are pruned without training on.
With --cpu only Podium's side runs, on the CPU with a tiny model: a check of this script, not a measurement.
"""
import argparse
import pathlib
import sys
import time

import report

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 150
SHAPES = ["1x128", "1x384", "64x128"]
WAYS = [["fp16"], ["int8"], ["fp8"], ["fp16", "--sparse"], ["int8", "--sparse"]]
MODELS = {
    "BERT-Large": {"preset": "bert-large", "layers": 24, "hidden": 1024, "heads": 16},
    "BERT-base": {"preset": "bert-base", "layers": 12, "hidden": 768, "heads": 12},
}
TINY = {"BERT-tiny": {"preset": "bert-tiny", "layers": 2, "hidden": 128, "heads": 2}}
# What this project set out to reach on one H200: milliseconds.
GOALS = {("BERT-Large", "1x128", "fp16"): 0.80, ("BERT-Large", "1x128", "int8"): 0.60, ("BERT-Large", "1x128", "fp8"): 0.60}


def shape_flags():
    return [word for shape in SHAPES for word in ("--shape", shape)]


def podium_times(build, model, way, cpu):
    """Median milliseconds by shape."""
    worker = [build / "bin" / "podium-worker", "latency", model["preset"], "--json", "--precision", *way, *shape_flags()]
    where = ["--repeats", 3, "--warmup", 1] if cpu else ["--gpu", "--repeats", 200]
    return {f"{line['batch']}x{line['length']}": line for line in report.lines_of(*worker, *where)}


def peer_times(model, seconds):
    """Median milliseconds by way and shape."""
    sizes = [word for key in ("layers", "hidden", "heads") for word in (f"--{key}", model[key])]
    lines = report.lines_of(sys.executable, HERE / "torch_inference.py", *sizes, *shape_flags(), "--seconds", seconds)
    return {(line["way"], f"{line['batch']}x{line['length']}"): line for line in lines}


def tell(told, name, shape, way, line, peers):
    goal = GOALS.get((name, shape, way))
    ratios = {peer: peers[peer, shape]["median_ms"] / line["median_ms"] for peer in ("eager", "compiled") if (peer, shape) in peers}
    note = f"   goal {goal:.2f} ms: {'reached' if line['median_ms'] <= goal else 'MISSED'}" if goal else ""
    print(f"{name:11}{shape:>7} {way:16}{line['median_ms']:9.3f}{line['p99_ms']:9.3f}{line['sequences_per_second']:10.1f}"
          + "".join(f"{ratios[peer]:10.2f}" if peer in ratios else f"{'':10}" for peer in ("eager", "compiled")) + note, flush=True)
    told.figure(f"{name} inference, {shape}, {way}", unit="ms", value=line["median_ms"], goal=goal, ratios=ratios, **line)


def measure(told, build, models, cpu=False):
    begin = time.monotonic()
    print(f"\n{'inference':18} {'':16}{'ms':>9}{'p99':>9}{'seq/s':>10}{'x eager':>10}{'x compiled':>11}", flush=True)
    for i, (name, model) in enumerate(models.items()):
        left = LIMIT_SECONDS - (time.monotonic() - begin)
        peers = {} if cpu else peer_times(model, left / (len(models) - i) / 2)
        for (way, shape), line in peers.items():
            tell(told, name, shape, f"PyTorch {way}", line, peers)
        for way in WAYS:
            if time.monotonic() - begin > LIMIT_SECONDS - 15:
                print(f"{name} {' '.join(way)}: left out, for time")
                continue
            for shape, line in podium_times(build, model, way, cpu).items():
                tell(told, name, shape, " ".join(way).replace("--", ""), line, peers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    told = report.Report(args.json)
    models = TINY if args.cpu else {name: MODELS[name] for name in args.models}
    told.part("inference", measure, args.build, models, args.cpu)
    sys.exit(told.failed)


if __name__ == "__main__":
    main()

"""The parts of bench/gpu/run in their order, each a program of its own with a time: Podium before its peers, goals first."""
import pathlib
from dataclasses import dataclass
from typing import Callable

import models

HERE = pathlib.Path(__file__).resolve().parent
WHOLE_SECONDS = 540  # what the parts' seconds are made for: a machine is often lent for ten minutes a command


@dataclass
class Part:
    name: str
    command: list
    take: Callable  # (line) -> figures
    seconds: float  # it is expected to need; with less left it is not begun
    patience: float = 2  # as many times that it may take, if so much is left


def flags(options):
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def training_taker(name, way, options, side):
    """From a program's blocks to their median so far: what was last said stands."""
    speeds, flops = [], 0

    def take(line):
        nonlocal flops
        flops = line.get("flops_per_step", flops)
        if "sequences_per_second" not in line:
            return
        speeds.append(line["sequences_per_second"])
        if len(speeds) < options["blocks"]:
            return
        speed = sorted(speeds)[len(speeds) // 2]
        figure = {"what": "training", "name": name, "way": way, "side": side, "value": speed, "unit": "sequences/s",
                  "tokens_per_second": speed * options["length"], "blocks": speeds, "model": options}
        if flops:
            figure["flops_per_second"] = speed * flops / options["batch"]
        yield figure

    return take


def block_taker(name, way, options, side):
    """Each block as it comes, then the figure."""
    median = training_taker(name, way, options, side)

    def take(line):
        if "sequences_per_second" in line:
            yield {"what": "block", "name": name, "way": way, "side": side, **line}
        yield from median(line)

    return take


def inference_taker(name, way, side):
    def take(line):
        shape = f"{line['batch']}x{line['length']}"
        if "error" in line:  # of results beside the CPU's
            yield {"what": "check", "name": name, "shape": shape, "way": way, "side": side, **line}
        else:
            yield {"what": "inference", "name": name, "shape": shape, "way": way, "side": side,
                   "value": line["median_ms"], "unit": "ms", **line}

    return take


def nccl_taker(side):
    def take(line):
        yield {"what": "NCCL", "name": "one rank", "side": side, "value": 1e3 * line["all_reduce_seconds"], "unit": "ms",
               **line}

    return take


def shape_flags():
    return [word for shape in models.SHAPES for word in ("--shape", shape)]


class Plan:
    def __init__(self, build, blocks, cpu):
        self.bin = build / "bin"
        self.cpu = cpu
        self.training = {name: {**options, "blocks": blocks}
                         for name, options in (models.TINY_TRAINING if cpu else models.TRAINING).items()}
        self.inference = models.TINY_INFERENCE if cpu else models.INFERENCE

    def train(self, name, seconds, way=""):
        """As a job does; the way "timed products" is that of one with training.timed_products."""
        options = self.training[name]
        where = ["--threads", 2] if self.cpu else ["--gpu", "--precision", "bf16"]
        command = [self.bin / "bench_training", *where, "--dropout", 0.1, *flags(options)]
        part = f"Podium {name} training"
        if way:
            command.append("--" + way.replace(" ", "-"))
            part += f", {way}"
        return Part(part, command, block_taker(name, way, options, "Podium"), seconds)

    def infer(self, name, way, seconds):
        precision, *sparse = way.split()
        command = [self.bin / "podium-worker", "latency", self.inference[name]["preset"], "--json", "--check", "--precision",
                   precision, *(f"--{word}" for word in sparse), *shape_flags()]
        where = ["--repeats", 3, "--warmup", 1, "--threads", 2] if self.cpu else ["--gpu", "--repeats", 200]
        return Part(f"Podium {name} inference, {way}", command + where, inference_taker(name, way, "Podium"), seconds)

    def podium(self):
        if self.cpu:
            return [*(self.train(name, 60) for name in self.training),
                    *(self.infer(name, way, 60) for name in self.inference for way in models.WAYS)]
        goals = [self.train("BERT-Large 512", 25), self.train("BERT-Large 128", 25), self.train("GPT-2 1558M", 45),
                 *(self.infer("BERT-Large", way, 18) for way in models.WAYS[:3])]
        timed = [self.train(name, seconds, "timed products") for name, seconds in zip(models.TRAINING_GOALS, (28, 28, 50))]
        return [*goals, *timed, self.train("BERT-Large 384", 25),
                Part("Podium NCCL", [self.bin / "bench_nccl"], nccl_taker("Podium"), 12),
                *(self.infer("BERT-Large", way, 18) for way in models.WAYS[3:]),
                *(self.infer("BERT-base", way, 9) for way in models.WAYS)]

    def peers(self, python):
        def train(name, way, seconds):
            options = self.training[name]
            return Part(f"PyTorch {way} {name} training", [python, HERE / "torch_peer.py", "--way", way, *flags(options)],
                        block_taker(name, "", options, f"PyTorch {way}"), seconds)

        def infer(name, way, seconds):
            sizes = flags({key: self.inference[name][key] for key in ("layers", "hidden", "heads")})
            command = [python, HERE / "torch_inference.py", "--way", way, *sizes, *shape_flags()]
            return Part(f"PyTorch {way} {name} inference", command, inference_taker(name, "fp16", f"PyTorch {way}"), seconds)

        def ceilings(line):
            yield {"what": "ceilings", **line}

        nccl = [python, HERE / "torch_peer.py", "--nccl", 335_174_458 * 4]  # bench_nccl's: BERT-Large with both heads
        return [Part("ceilings of the device", [python, HERE / "torch_peer.py", "--ceilings"], ceilings, 12),
                *(train(name, "eager", seconds) for name, seconds in zip(self.training, (16, 16, 25, 16))),
                infer("BERT-Large", "eager", 12), infer("BERT-base", "eager", 8),
                Part("PyTorch NCCL", nccl, nccl_taker("PyTorch"), 12),
                train("BERT-Large 512", "compiled", 45), train("BERT-Large 128", "compiled", 45),
                infer("BERT-Large", "compiled", 45), train("GPT-2 1558M", "compiled", 80),
                train("BERT-Large 384", "compiled", 50), infer("BERT-base", "compiled", 30)]

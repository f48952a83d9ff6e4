"""The peer: pre-training in PyTorch on the batches that Podium trains on, from the weights that it begins with.

Runs in lockstep (bench/lockstep.py): a block is so many steps, and its result their losses and sequences/s. The model is
that of bench/training, which is written for speed.
"""
import argparse
import json
import pathlib
import sys
import time

import torch
from torch import nn

BENCH = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(BENCH / "training"), str(BENCH.parent / "tests" / "worker" / "parity")]
import safetensors_file
from torch_models import Bert

IGNORED = -100


def copy_weights(model, folder):
    """Hugging Face's names, in the order of the model's parts."""
    tensors, _ = safetensors_file.read(folder / "model.safetensors")
    left = set(tensors)

    def take(*names):
        left.difference_update(names)
        return torch.cat([tensors[name] for name in names])

    def dense(part, *names):
        part.weight.copy_(take(*(name + ".weight" for name in names)))
        part.bias.copy_(take(*(name + ".bias" for name in names)))
    for part, name in ((model.word, "word"), (model.position, "position"), (model.token_type, "token_type")):
        part.weight.copy_(take(f"bert.embeddings.{name}_embeddings.weight"))
    dense(model.norm, "bert.embeddings.LayerNorm")
    for i, layer in enumerate(model.layers):
        name = f"bert.encoder.layer.{i}."
        dense(layer.attention.query_key_value, *(f"{name}attention.self.{part}" for part in ("query", "key", "value")))
        dense(layer.attention.output, name + "attention.output.dense")
        dense(layer.attention_norm, name + "attention.output.LayerNorm")
        dense(layer.feed_forward.expand, name + "intermediate.dense")
        dense(layer.feed_forward.contract, name + "output.dense")
        dense(layer.output_norm, name + "output.LayerNorm")
    dense(model.transform, "cls.predictions.transform.dense")
    dense(model.transform_norm, "cls.predictions.transform.LayerNorm")
    model.decoder_bias.copy_(take("cls.predictions.bias"))
    dense(model.pooler, "bert.pooler.dense")
    dense(model.next_sentence, "cls.seq_relationship")
    if left:
        raise SystemExit(f"torch_training.py: the model has no place for {', '.join(sorted(left))}")


def batch_of(batches, step):
    labels = batches["labels"][step].flatten().long()
    positions = (labels != IGNORED).nonzero().flatten()
    padding = batches["attention_mask"][step][:, None, None, :] == 0
    return {
        "ids": batches["input_ids"][step].long(), "types": batches["token_type_ids"][step].long(),
        "mask": torch.zeros(padding.shape).masked_fill(padding, float("-inf")), "positions": positions,
        "labels": labels[positions], "next_sentence": batches["next_sentence_label"][step].long(),
    }


class Training:
    def __init__(self, folder, spec):
        config, training = json.loads((folder / "config.json").read_text()), spec["training"]
        self.model = Bert(argparse.Namespace(
            layers=config["num_hidden_layers"], hidden=config["hidden_size"], heads=config["num_attention_heads"],
            intermediate=config["intermediate_size"], vocab=config["vocab_size"],
            positions=config["max_position_embeddings"], dropout=0.0))
        with torch.no_grad():
            copy_weights(self.model, folder)
        self.precision, self.optimizer_spec, self.schedule = (training[key] for key in ("precision", "optimizer", "schedule"))
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        rest = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": self.optimizer_spec["weight_decay"]},
             {"params": rest, "weight_decay": 0.0}], eps=self.optimizer_spec["epsilon"], foreach=True)

    def rate(self, step):
        """Up to its peak at the end of the warm-up and down to zero with the last step; steps count from 1."""
        steps = self.schedule["steps"]
        warmup = round(self.schedule["warmup"] * steps)
        return self.optimizer_spec["lr"] * min(step / warmup, (steps - step) / (steps - warmup))

    def step(self, number, batch):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            loss = self.model(batch)
        self.model.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.optimizer_spec["clip"])
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(number)
        self.optimizer.step()
        return loss.item()


def parse_args():
    parser = argparse.ArgumentParser()
    for name in ("model", "batches", "spec"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=20, help="of a block")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--lockstep", action="store_true", required=True)
    return parser.parse_args()


def main():
    args = parse_args()
    torch.set_num_threads(args.threads)
    batches, _ = safetensors_file.read(args.batches)
    training = Training(args.model, json.loads(args.spec.read_text()))
    print(json.dumps({"torch": torch.__version__}), flush=True)
    done = 0
    while sys.stdin.readline():
        block = [(number, batch_of(batches, number - 1)) for number in range(done + 1, done + args.steps + 1)]
        begin = time.perf_counter()
        losses = [training.step(number, batch) for number, batch in block]
        seconds = time.perf_counter() - begin
        done += args.steps
        sequences = sum(len(batch["ids"]) for _, batch in block)
        print(json.dumps({"losses": losses, "sequences_per_second": sequences / seconds}), flush=True)


main()

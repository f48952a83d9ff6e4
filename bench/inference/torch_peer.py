"""PyTorch's BERT in fp32 on the CPU: encoder and pooler, as a careful user writes them for inference.

Every line on standard input is a batch, "1x128 5", and a number of passes, whose milliseconds, and those of all threads'
processor time, are told as JSON.
"""
import argparse
import json
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "training"))
import torch_models  # noqa: E402

NO_MASK = 0.0  # every sequence is full


def passes(model, shape, count):
    sequences, length = map(int, shape.split("x"))
    ids = torch.randint(torch_models.VOCABULARY, (sequences, length))
    types = torch.zeros_like(ids)
    told = {"milliseconds": [], "processor_milliseconds": []}
    for _ in range(count):
        start, before = time.perf_counter(), time.process_time()
        model(ids, types, NO_MASK)
        told["processor_milliseconds"].append(1e3 * (time.process_time() - before))
        told["milliseconds"].append(1e3 * (time.perf_counter() - start))
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("layers", "hidden", "heads", "threads"):
        parser.add_argument("--" + name, type=int, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    with torch.inference_mode():
        model = torch_models.BertEncoder(args).eval()
        print(json.dumps({"ready": True, "version": torch.__version__}), flush=True)
        for line in sys.stdin:
            shape, count = line.split()
            print(json.dumps(passes(model, shape, int(count))), flush=True)


main()

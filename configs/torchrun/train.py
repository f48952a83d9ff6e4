"""Data-parallel PyTorch under Podium: configs/torchrun.yaml runs it. It learns y = 3x + 1 on every device of the job,
tells its loss, and goes on from its checkpoint when it is started again."""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--lr", type=float, default=0.1)
options = parser.parse_args()

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
torch.manual_seed(rank)


def tell(type, **fields):
    """One line to Podium, from one process."""
    if rank == 0:
        with open(os.environ["PODIUM_EVENTS"], "a") as events:
            events.write(json.dumps({"type": type, "t": int(time.time() * 1000), **fields}) + "\n")


model = torch.nn.Linear(1, 1).to(device)
path = os.path.join(os.environ["PODIUM_CHECKPOINTS"], "model.pt")
first = 0
if os.path.exists(path):
    saved = torch.load(path, map_location=device)
    model.load_state_dict(saved["model"])
    first = saved["step"]
model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=options.lr)

tell("started", step=first, steps=options.steps)
for step in range(first + 1, options.steps + 1):
    x = torch.rand(32, 1, device=device)
    loss = torch.nn.functional.mse_loss(model(x), 3 * x + 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0 or step == options.steps:
        dist.all_reduce(loss)
        tell("metrics", step=step, values={"train/loss": loss.item() / world})
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "step": step}, path + ".new")
            os.replace(path + ".new", path)
        tell("checkpoint", step=step, path="model.pt")
print(f"rank {rank} of {world}: loss {loss.item() / world:.4f}", flush=True)
dist.destroy_process_group()

"""AdamW and LAMB in PyTorch, in double precision: the yardstick of optimizer_reference_test.cc.

Usage: optimizer_reference.py FOLDER. Reads what the test wrote there (case.json, weights.f32 and, for each step,
gradients) and writes updated.f32, laid out like weights.f32. AdamW is torch.optim.AdamW after clip_grad_norm_;
LAMB is what NVIDIA's apex computes (fused_lamb.py, multi_tensor_lamb.cu; decoupled decay, gradient averaging, bias
correction, use_nvlamb off), written out tensor by tensor. Exits with 77 where PyTorch is missing.
"""
import json
import pathlib
import sys

try:
    import numpy
    import torch
except ImportError as error:
    print(error)
    sys.exit(77)


class Lamb(torch.optim.Optimizer):
    def __init__(self, groups, lr, betas, eps, max_grad_norm):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})
        self.max_grad_norm = max_grad_norm

    @torch.no_grad()
    def step(self):
        every = [p for group in self.param_groups for p in group["params"]]
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(p.grad) for p in every]))
        clip = max(norm.item() / self.max_grad_norm, 1.0)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            group["step"] = group.get("step", 0) + 1
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                gradient = p.grad / clip
                state["m"] = beta1 * state["m"] + (1 - beta1) * gradient
                state["v"] = beta2 * state["v"] + (1 - beta2) * gradient ** 2
                m = state["m"] / (1 - beta1 ** group["step"])
                v = state["v"] / (1 - beta2 ** group["step"])
                update = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * p
                rate = group["lr"]
                if group["weight_decay"] != 0 and p.norm() > 0 and update.norm() > 0:
                    rate *= (p.norm() / update.norm()).item()
                p.sub_(rate * update)


def main(folder):
    case = json.loads((folder / "case.json").read_text())
    spec = case["optimizer"]
    flat = numpy.fromfile(folder / "weights.f32", dtype=numpy.float32)
    places = [(offset, shape) for offset, shape, _ in case["parameters"]]

    def cut(values, offset, shape):
        part = values[offset:offset + int(numpy.prod(shape))].reshape(shape)
        return torch.tensor(part, dtype=torch.float64)

    weights = [torch.nn.Parameter(cut(flat, *place)) for place in places]
    decays = [decay for _, _, decay in case["parameters"]]
    groups = [{"params": [w for w, d in zip(weights, decays) if d == wanted],
               "weight_decay": spec["weight_decay"] if wanted else 0.0} for wanted in (True, False)]
    common = {"lr": 0.0, "betas": (spec["beta1"], spec["beta2"]), "eps": spec["epsilon"]}
    if spec["name"] == "lamb":
        optimizer = Lamb(groups, max_grad_norm=spec["clip"], **common)
    else:
        optimizer = torch.optim.AdamW(groups, **common)

    for step, rate in enumerate(case["rates"]):
        gradients = numpy.fromfile(folder / f"gradients-{step}.f32", dtype=numpy.float32)
        for weight, place in zip(weights, places):
            weight.grad = cut(gradients, *place)
        if spec["name"] != "lamb":
            torch.nn.utils.clip_grad_norm_(weights, spec["clip"])
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()

    updated = numpy.zeros_like(flat)
    for weight, (offset, shape) in zip(weights, places):
        updated[offset:offset + int(numpy.prod(shape))] = weight.detach().numpy().ravel()
    updated.tofile(folder / "updated.f32")


main(pathlib.Path(sys.argv[1]))

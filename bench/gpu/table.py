"""The figures that bench/gpu/run kept, of one run or several, as a table with goals, ratios and shares.

table.py FILE...       lines that are no figures, such as one that was cut off, are left out
A training figure's share is that of the device's best bf16 product (model FLOP utilisation: matrix products of forward and
backward, recomputation not counted). A ratio is how many times as fast as that peer Podium is.
"""
import json
import pathlib
import sys

import models

PEERS = {"eager": "PyTorch eager", "compiled": "PyTorch compiled"}


def key_of(figure):
    """Of what both sides measure; inference's peer computes in fp16, which stands beside every way of Podium's."""
    return (figure["what"], figure.get("name"), figure.get("shape"))


def ratio(figure, sides, side):
    peer = sides.get((key_of(figure), side))
    if figure["side"] != "Podium" or not peer:
        return ""
    faster = figure["value"] / peer["value"] if figure["what"] == "training" else peer["value"] / figure["value"]
    return f"{faster:.2f}"


def verdict(figure):
    goal = models.goal_of(figure)
    return "" if goal is None else f"goal {goal:,.2f}: {'reached' if models.reaches(figure, goal) else 'MISSED'}"


def share(figure, sides, best):
    """Both sides have the same products to compute, which Podium counts."""
    counted = sides.get((key_of(figure), "Podium"), {})
    if not best or "flops_per_second" not in counted:
        return ""
    return f"{figure['value'] * counted['flops_per_second'] / counted['value'] / best:.1%}"


def row(figure, sides, best):
    about = " ".join(str(figure[key]) for key in ("name", "shape", "way") if figure.get(key))
    ratios = "".join(f"{ratio(figure, sides, side):>12}" for side in PEERS.values())
    return (f"{figure['what']:11}{about:32}{figure['side']:18}{figure['value']:12,.3f} {figure['unit']:12}"
            f"{share(figure, sides, best):>7}{ratios}  {verdict(figure)}")


def table(figures):
    measured = [figure for figure in figures if "value" in figure]
    sides = {(key_of(figure), figure["side"]): figure for figure in measured}
    ceilings = next((figure for figure in figures if figure["what"] == "ceilings"), {})
    head = f"{'':61}{'':12} {'':12}{'share':>7}" + "".join(f"{'x ' + name:>12}" for name in PEERS)
    rows = [row(figure, sides, ceilings.get("bf16_flops")).rstrip() for figure in measured]
    wrong = [f"{figure['name']}: {figure['why']}" for figure in figures if figure["what"] == "failure"]
    return [head, *rows, *wrong]


def read(path):
    figures = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            figures.append(json.loads(line))
        except ValueError:
            print(f"{path}: left out, no JSON: {line[:60]}", file=sys.stderr)
    return figures


if __name__ == "__main__":
    print("\n".join(table([figure for path in sys.argv[1:] for figure in read(pathlib.Path(path))])))

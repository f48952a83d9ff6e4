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


def checks_of(figures):
    """Whether results were found right, by the place of their time, behind which a run's check comes."""
    latest, passed = {}, {}
    for place, figure in enumerate(figures):
        key = tuple(figure.get(word) for word in ("name", "shape", "way", "side"))
        if figure["what"] == "inference":
            latest[key] = place
        elif figure["what"] == "check" and key in latest:
            passed[latest[key]] = figure["passed"]
    return passed


def verdict(figure, passed):
    """Beside the goal. `passed`: whether a time's results were found right, without which it reaches none; None: unknown."""
    goal = models.goal_of(figure)
    about = "" if goal is None else f"goal {goal:,.2f}: "
    if figure["what"] == "inference" and figure["side"] == "Podium" and not passed:
        return about + ("not checked" if passed is None else "check FAILED")
    return about and about + ("reached" if models.reaches(figure, goal) else "MISSED")


def share(figure, sides, best):
    """Both sides have the same products to compute, which Podium counts."""
    counted = sides.get((key_of(figure), "Podium"), {})
    if not best or "flops_per_second" not in counted:
        return ""
    return f"{figure['value'] * counted['flops_per_second'] / counted['value'] / best:.1%}"


def row(figure, sides, passed, best):
    about = " ".join(str(figure[key]) for key in ("name", "shape", "way") if figure.get(key))
    ratios = "".join(f"{ratio(figure, sides, side):>12}" for side in PEERS.values())
    return (f"{figure['what']:11}{about:32}{figure['side']:18}{figure['value']:12,.3f} {figure['unit']:12}"
            f"{share(figure, sides, best):>7}{ratios}  {verdict(figure, passed)}")


def table(figures):
    measured = [figure for figure in figures if "value" in figure]
    sides = {(key_of(figure), figure["side"]): figure for figure in measured}
    ceilings = next((figure for figure in figures if figure["what"] == "ceilings"), {})
    head = f"{'':61}{'':12} {'':12}{'share':>7}" + "".join(f"{'x ' + name:>12}" for name in PEERS)
    passed = checks_of(figures)
    rows = [row(figure, sides, passed.get(place), ceilings.get("bf16_flops")).rstrip()
            for place, figure in enumerate(figures) if "value" in figure]
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

"""Prints the figures of bench/run as a table: one line a figure, the peer beside it and whether the goal is reached."""

import json
import sys


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def goal(figure):
    sign = "≥" if figure["better"] == "higher" else "≤"
    if figure.get("goal_ratio"):
        return f"{sign} {figure['goal_ratio']} × peer"
    return f"{sign} {number(figure['goal'])}" if figure.get("goal") else ""


rows = [("figure", "value", "peer", "peer's value", "ratio", "goal", "")]
for line in open(sys.argv[1], encoding="utf-8"):
    figure = json.loads(line)
    unit = figure["unit"]
    rows.append(
        (
            figure["name"],
            f"{number(figure['value'])} {unit}",
            figure.get("peer", ""),
            f"{number(figure['peer_value'])} {unit}" if "peer" in figure else "",
            f"{figure['ratio']:.2f}" if "ratio" in figure else "",
            goal(figure),
            ("reached" if figure["reached"] else "MISSED") if goal(figure) else "",
        )
    )
widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
for row in rows:
    print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())

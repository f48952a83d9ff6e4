"""Training throughput, inference, and what NCCL costs, on this machine's first GPU; then the same of PyTorch, eager and compiled.

measure.py BUILD_DIR [--json FILE] [--podium-only | --peers-only] [--peers PYTHON] [--parts WORD ...] [--limit SECONDS]
bench/gpu/run calls it. Every part is a program of its own, which has the device to itself and a time; what it says is kept as
it comes. A part that fails, or for which too little time is left, ends no other. Exits with 1 where one failed.
BERT-Large and GPT-2 train in bf16 with dropout; a figure is the median of a program's blocks.
With --cpu only Podium's side runs, on the CPU with tiny models: a check of this script, not a measurement.
"""
import argparse
import pathlib
import signal
import sys
import time
from contextlib import closing

from plan import WHOLE_SECONDS, Plan
from report import Failed, Report, lines_of
from table import table, verdict


def print_plan(parts, limit):
    print(f"The plan, within {limit / 60:.3g} minutes; what would end later is run if time is left:")
    begin = 0.0
    for part in parts:
        late = "" if begin + part.seconds <= limit else "   if time is left"
        print(f"  {begin / 60:5.2f} min, for {part.seconds:5.3g} s: {part.name}{late}")
        begin += part.seconds
    print(flush=True)


def tell(report, part, figure):
    report.figure(**figure)
    if "value" in figure:
        about = f"{part.name} {figure.get('shape', '')}: {figure['value']:,.3f} {figure['unit']}"
        unchecked = figure["what"] == "inference" and figure["side"] == "Podium"  # its check comes after all times
        print(f"{about}   {'check follows' if unchecked else verdict(figure, None)}".rstrip(), flush=True)
    elif figure["what"] == "check" and not figure["passed"]:
        report.fail(f"{part.name} {figure['shape']}", f"differs from the CPU by {figure['error']:.2g}, "
                    f"more than {figure['tolerance']:.2g} of its norm: the time above is that of wrong results")


def run_part(report, part, left):
    took = 0
    try:
        with closing(lines_of(part.command, min(part.seconds * part.patience, left))) as lines:
            for line in lines:
                for figure in part.take(line):
                    tell(report, part, figure)
                    took += 1
    except Failed as failure:
        report.fail(part.name, failure)
        return
    except (KeyError, TypeError, ValueError) as error:
        report.fail(part.name, f"a line that is not understood: {error!r}")
        return
    if took == 0:
        report.fail(part.name, "said nothing that is a figure")


def run_all(report, parts, limit):
    begin = time.monotonic()
    for part in parts:
        left = limit - (time.monotonic() - begin)
        if left < part.seconds:
            print(f"{part.name}: left out, for time", flush=True)
            report.figure(what="left out", name=part.name)
        else:
            run_part(report, part, left)
    print(f"\nIn {time.monotonic() - begin:.0f} s:")
    print("\n".join(table(report.figures)), flush=True)


def chosen(args):
    plan = Plan(args.build, args.blocks, args.cpu)
    parts = [] if args.peers_only else plan.podium()
    if args.peers and not args.podium_only and not args.cpu:
        parts += plan.peers(args.peers)
    parts = [part for part in parts if not args.parts or any(word.lower() in part.name.lower() for word in args.parts)]
    for part in parts:
        part.seconds *= args.limit / WHOLE_SECONDS
    return parts


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu/run", description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=pathlib.Path, help="keep the figures there, a line each, as they come")
    parser.add_argument("--blocks", type=int, default=3)
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--podium-only", action="store_true")
    side.add_argument("--peers-only", action="store_true")
    parser.add_argument("--peers", metavar="PYTHON", help="a python that has PyTorch; none: Podium alone is measured")
    parser.add_argument("--parts", nargs="+", metavar="WORD", help="only parts with one of these in their names")
    parser.add_argument("--limit", type=float, default=WHOLE_SECONDS, metavar="SECONDS",
                        help="for all; every part's share of it stays the same (default: %(default)s)")
    parser.add_argument("--plan", action="store_true", help="say what would be run, and run nothing")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    parts = chosen(args)
    if not parts:
        sys.exit("bench/gpu/run: no part has such a name, or its python has no PyTorch; --plan lists the parts")
    print_plan(parts, args.limit)
    if args.plan:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench/gpu/run: ended by SIGTERM"))
    report = Report(args.json)
    run_all(report, parts, args.limit)
    sys.exit(report.failed)


if __name__ == "__main__":
    main()

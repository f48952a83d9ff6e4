"""bench/gpu/run with made-up programs: the order of its parts, what it keeps when something goes wrong, and its time."""
import json
import pathlib
import signal
import sys
import time
import unittest
from unittest import mock

from made_up import ROOT, TIMES, Machine

sys.path.insert(0, str(ROOT / "bench" / "gpu"))
import measure  # noqa: E402
import plan  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402

GOALS = {("training", "BERT-Large 512"), ("training", "BERT-Large 128"), ("training", "GPT-2 1558M"),
         *(("inference", "BERT-Large", "1x128", way) for way in ("fp16", "int8", "fp8"))}


def figures_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def measured(figures, side=""):
    return {(f["what"], f["name"], *((f["shape"], f["way"]) if "shape" in f else ())) for f in figures
            if "value" in f and f["side"].startswith(side)}


class Bench(unittest.TestCase):
    def setUp(self):
        self.machine = Machine()
        self.addCleanup(self.machine.close)
        self.json = self.machine.folder / "kept" / "figures.jsonl"

    def run_bench(self, *arguments, **options):
        code, said = self.machine.run("bench/gpu/run", "--json", self.json, *arguments, **options)
        return code, said, figures_in(self.json)

    def test_podium_goes_first_and_its_goals_before_all_else_and_compiled_peers_last(self):
        code, said, figures = self.run_bench()
        self.assertEqual(code, 0, said)
        order = [(f["side"].startswith("PyTorch") + f["side"].endswith("compiled")) for f in figures if "side" in f]
        self.assertEqual(order, sorted(order))
        self.assertEqual({2}, set(order[-3:]))
        first = [call for call in self.machine.calls() if call.split()[0] in ("bench_training", "podium-worker")][:6]
        for call, words in zip(first, ("--length 512", "--length 128", "--family gpt", "fp16", "int8", "fp8")):
            self.assertIn(words, call)
        self.assertLessEqual(GOALS, measured(figures, "Podium"))
        self.assertEqual(sum(f["what"] == "block" and f["side"] == "Podium" for f in figures), 21)
        timed = [f["name"] for f in figures if f["what"] == "training" and f["way"] == "timed products"]
        self.assertEqual(timed, ["BERT-Large 512", "BERT-Large 128", "GPT-2 1558M"])
        self.assertEqual(sum("--timed-products" in call for call in self.machine.calls()), 3)

    def test_a_figure_is_the_median_beside_goal_peers_and_ceiling(self):
        _, said, figures = self.run_bench()
        speed = next(f for f in figures if f["what"] == "training" and f["name"] == "BERT-Large 128")
        self.assertEqual(speed["value"], 100)
        row = next(line for line in said.splitlines() if line.startswith("training   BERT-Large 128"))
        self.assertIn("0.4%", row)  # 100 / 128 * 4e12 of 8e14
        self.assertEqual(row.count(" 1.00"), 2, row)
        self.assertIn("goal 1,970.00: MISSED", row)
        self.assertRegex(said, r"inference +BERT-Large 1x128 fp16 .*goal 0.80: reached")

    def test_without_pytorch_podium_is_measured_alone(self):
        code, said, figures = self.run_bench(torch=False)
        self.assertEqual(code, 0, said)
        self.assertLessEqual(GOALS, measured(figures, "Podium"))
        self.assertFalse(measured(figures, "PyTorch"))
        self.assertIn("Podium is measured alone", said)

    def test_each_side_can_have_a_run_of_its_own_and_one_table(self):
        code, said, podium = self.run_bench("--podium-only")
        self.assertEqual((code, measured(podium, "PyTorch")), (0, set()), said)
        code, said, peers = self.run_bench("--peers-only")
        self.assertEqual((code, measured(peers, "Podium")), (0, set()), said)
        both = "\n".join(table.table(podium + peers))
        self.assertRegex(both, r"training +BERT-Large 128 +Podium .* 0\.4% +1\.00 +1\.00")

    def test_no_line_and_no_program_that_fails_ends_another(self):
        when = """
          *--ceilings*) echo 'Traceback (most recent call last):'; exit 1 ;;
          *length*512*masked*) echo 'cuBLASLt says hello'; echo '[1, 2]' ;;
          bench_nccl*) kill -SEGV $$ ;;
          *'--precision int8'*) echo '{"median_ms": 1}'; exit 0 ;;
          *'--precision fp8'*) exit 0 ;;"""
        code, said, figures = self.run_bench(when=when)
        self.assertEqual(code, 1)
        self.assertIn("cuBLASLt says hello", said)
        failures = {f["name"]: f["why"] for f in figures if f["what"] == "failure"}
        self.assertEqual(len(failures), 8, failures)
        self.assertIn("ended with 1", failures["ceilings of the device"])
        self.assertIn("ended with -11", failures["Podium NCCL"])
        self.assertIn("not understood: KeyError('batch')", failures["Podium BERT-Large inference, int8"])
        self.assertEqual(failures["Podium BERT-Large inference, fp8"], "said nothing that is a figure")
        self.assertLessEqual({goal for goal in GOALS if goal[-1] not in ("int8", "fp8")}, measured(figures, "Podium"))
        self.assertIn(("training", "GPT-2 1558M"), measured(figures, "PyTorch compiled"))

    def test_a_program_that_is_missing_ends_no_other(self):
        (self.machine.build / "bin" / "bench_training").unlink()
        code, said, figures = self.run_bench("--podium-only")
        self.assertEqual(code, 1)
        self.assertIn("does not start: No such file", said)
        self.assertIn(("inference", "BERT-Large", "1x128", "fp16"), measured(figures))

    def test_a_program_that_hangs_is_ended_and_its_lines_are_kept(self):
        when = """*length*512*masked*) echo '{"flops_per_step": 4e12}'; echo '{"sequences_per_second": 7}'; sleep 1000 & sleep 1000 ;;"""
        code, said, figures = self.run_bench("--limit", 20, "--parts", "BERT-Large 512", "NCCL", when=when)
        self.assertEqual(code, 1)
        self.assertRegex(said, "Podium BERT-Large 512 training: ended after 2 s, its time")
        self.assertIn(7, [f.get("sequences_per_second") for f in figures])
        self.assertIn(("NCCL", "one rank"), measured(figures, "Podium"))

    def test_a_run_that_is_killed_keeps_what_it_had_and_leaves_nothing_running(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            self.machine.calls_file.write_text("")
            process = self.machine.start("bench/gpu/run", "--json", self.json,
                                         when=f"*gpt*) echo $$ >{self.machine.folder}/hanging; exec sleep 1000 ;;")
            hanging = self.machine.folder / "hanging"
            while not (hanging.exists() and hanging.read_text().strip()):
                time.sleep(0.01)
            process.send_signal(how)
            process.communicate()
            self.assertEqual(measured(figures_in(self.json)), {("training", "BERT-Large 512"), ("training", "BERT-Large 128")})
            child = int(hanging.read_text())
            while pathlib.Path(f"/proc/{child}").exists() and not self.is_dead(child):
                time.sleep(0.01)
            hanging.unlink()

    @staticmethod
    def is_dead(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] == "Z"
        except OSError:
            return True

    def test_figures_of_an_earlier_run_are_kept(self):
        for _ in range(3):
            self.run_bench("--parts", "NCCL", "--podium-only")
        for name in (self.json.name, self.json.name + ".1", self.json.name + ".2"):
            self.assertIn(("NCCL", "one rank"), measured(figures_in(self.json.with_name(name)), "Podium"))

    def test_times_of_wrong_results_are_called_so(self):
        when = f"""*'--precision int8'*) {TIMES}
          echo '{{"batch": 1, "length": 128, "error": 0.7, "tolerance": 0.1, "passed": false}}'; exit 1 ;;"""
        code, said, figures = self.run_bench("--parts", "Podium BERT-Large inference", when=when)
        self.assertEqual(code, 1)
        self.assertIn("inference, int8 1x128: differs from the CPU by 0.7", said)
        self.assertRegex(said, r"inference +BERT-Large 1x128 int8 .*goal 0.60: check FAILED")
        self.assertNotRegex(said, r"1x128 int8.*reached|, int8 1x128: 0.500 ms.*reached")
        later = [{**figure, "passed": True} if figure["what"] == "check" else figure for figure in figures]
        rows = [row for row in table.table(figures + later) if "BERT-Large 1x128 int8 " in row and "sparse" not in row]
        self.assertEqual([row.split("goal 0.60: ")[1] for row in rows], ["check FAILED", "reached"])

    def test_a_time_whose_check_never_came_reaches_no_goal(self):
        code, said, _ = self.run_bench("--parts", "BERT-Large inference, fp8", when=f"*'--precision fp8'*) {TIMES} exit 1 ;;")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"inference +BERT-Large 1x128 fp8 .*goal 0.60: not checked")

    def test_figures_that_were_cut_off_are_left_out_of_the_table(self):
        self.json.parent.mkdir()
        self.json.write_text('{"what": "NCCL", "name": "one rank", "side": "Podium", "value": 2, "unit": "ms"}\n{"what": "tr')
        self.assertEqual(len(table.read(self.json)), 1)


class Clock:
    """In place of time and of programs, which take as many times as long as they were expected to."""

    def __init__(self, slowness):
        self.now, self.slowness, self.begun = 0.0, slowness, []

    def run(self, parts, limit=plan.WHOLE_SECONDS):
        def lines_of(part_command, seconds):
            part = next(part for part in parts if part.command is part_command)
            self.begun.append(part.name)
            self.now += min(seconds, part.seconds * self.slowness)
            if part.seconds * self.slowness > seconds:
                raise report.Failed("too late")
            return iter(())

        def generator(*arguments):
            yield from lines_of(*arguments)

        with mock.patch("measure.lines_of", generator), mock.patch("measure.time.monotonic", lambda: self.now), \
                mock.patch("builtins.print"):
            measure.run_all(report.Report(None), parts, limit)


class Minutes(unittest.TestCase):
    def parts(self):
        whole = plan.Plan(pathlib.Path("/nowhere"), 3, cpu=False)
        return whole.podium(), whole.peers("python")

    def test_as_expected_all_of_podium_and_most_peers_fit_nine_minutes(self):
        podium, peers = self.parts()
        clock = Clock(1)
        clock.run(podium + peers)
        self.assertLessEqual(clock.now, 540)
        self.assertEqual(clock.begun[:len(podium)], [part.name for part in podium])
        self.assertIn("PyTorch compiled BERT-Large 512 training", clock.begun)

    def test_each_side_alone_fits_nine_minutes(self):
        for side in self.parts():
            clock = Clock(1)
            clock.run(side)
            self.assertLessEqual(clock.now, 540)
            self.assertEqual(len(clock.begun), len(side))

    def test_where_everything_hangs_the_goals_have_had_their_turn_and_the_end_is_kept(self):
        podium, peers = self.parts()
        clock = Clock(1000)
        clock.run(podium + peers)
        self.assertLessEqual(clock.now, 540)
        self.assertEqual(clock.begun[:6], [part.name for part in podium[:6]])


if __name__ == "__main__":
    unittest.main()

"""podium export against a real coordinator: every point of long and of sparse curves, read back by event_reader.py, by
Python's csv and by its json; what is refused, and that nothing half written is left."""

import csv
import json
import math
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "coordinator" / "api"))
sys.argv.insert(1, str(BIN / "podium-coordinator"))
from daemon import USER, WAIT, Agent, Daemon, chunk, spec, wait_for  # noqa: E402
from event_reader import EventFile  # noqa: E402

TIME = 1_700_000_000_000
PARAMETERS = "parameters: {lr: 0.001, deep: true, task: lm}\n"


def to_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.agent = Agent(cls.daemon, devices=5)
        cls.agent.orders()
        for name in ("first", "same", "same", "same-3", "many"):
            cls.daemon.submit(spec(name, 1, PARAMETERS))
        cls.launches = {launch["job"]: launch for launch in cls.agent.wait_for_order("start")}
        cls.agent.run(list(cls.launches.values()))
        cls.curves = {
            "train/loss": [(step, TIME + step, 1 / (step + 1)) for step in range(50_000)],
            "eval/loss": [(step**3, TIME + step, float(step % 7)) for step in range(1, 30_000)],
            "odd, \"one\"": [(-1, TIME, -0.5), (1, TIME + 1, math.nan), (2, TIME + 2, math.inf), (3, TIME + 3, -math.inf)],
        }
        cls.deliver(1, cls.curves)
        cls.deliver(2, {"train/loss": [(1, TIME, 0.5), (3, TIME + 9, 0.25)], "lr": [(2, TIME, 1e-3), (3, TIME + 5, 1e300)]})
        cls.deliver(3, {"train/loss": [(1, TIME, 0.125)]})
        cls.deliver(4, {"train/loss": [(1, TIME, 0.25)], "step": [(1, TIME, 1.0)]})

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    @classmethod
    def deliver(cls, job, curves):
        lines = []
        for key, points in curves.items():
            for step, time, value in points:
                text = value if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
                lines.append(json.dumps({"type": "metrics", "t": time, "step": step, "values": {key: text}}) + "\n")
        offset = 0
        for at in range(0, len(lines), 20_000):
            data = "".join(lines[at : at + 20_000]).encode()
            reply = cls.agent.deliver(chunk(cls.launches[job], "events", offset, data))
            assert reply.status == 200, reply.body
            offset += len(data)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-export-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PODIUM_TOKEN": USER,
                "PODIUM_COORDINATOR": f"http://127.0.0.1:{self.daemon.port}"}

    def start(self, *words):
        child = subprocess.Popen([BIN / "podium", *words], env=self.environment(), cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def podium(self, *words):
        return subprocess.run([BIN / "podium", *words], capture_output=True, text=True, env=self.environment(), cwd=self.folder,
                              stdin=subprocess.DEVNULL, timeout=WAIT)

    def export(self, *words):
        ran = self.podium("export", *words)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def same(self, read, wanted):
        """NaN is the same as NaN here."""
        self.assertEqual(len(read), len(wanted))
        for a, b in zip(read, wanted):
            self.assertTrue(a[:2] == b[:2] and (a[2] == b[2] or math.isnan(a[2]) and math.isnan(b[2])), (a, b))

    def test_tensorboard_has_every_point_and_what_the_job_was(self):
        told = json.loads(self.export("1", "--json"))["exported"]
        self.assertEqual(told, [{"job": 1, "run": "first", "metrics": 3, "points": 80_003, "path": "runs/first"}])
        (path,) = (self.folder / "runs" / "first").iterdir()
        self.assertRegex(path.name, r"^events\.out\.tfevents\.\d{10}\..")
        file = EventFile(path)
        self.assertEqual(file.version, "brain.Event:2")
        self.assertEqual(set(file.scalars), set(self.curves))
        for key, points in self.curves.items():
            read = [(step, round(1000 * time), value) for time, step, value in file.scalars[key]]
            self.same(read, [(step, time, to_float(value)) for step, time, value in points])
        self.assertEqual({key: file.parameters[f"parameters.{key}"] for key in ("lr", "deep", "task")},
                         {"lr": 0.001, "deep": True, "task": "lm"})
        self.assertEqual(file.parameters["resources.devices"], 1)
        self.assertIn('        "lr": 0.001', file.texts["spec"])

    def test_jobs_of_one_name_are_told_apart(self):
        self.export("2", "3", "1", "2", "--metric", "train/*", "--out", "logs")
        self.assertEqual({path.name for path in (self.folder / "logs").iterdir()}, {"same-2", "same-3", "first"})

    def test_names_of_folders_are_apart_from_each_other(self):
        self.export("2", "3", "4", "--metric", "train/*", "--out", "apart")
        self.assertEqual({path.name for path in (self.folder / "apart").iterdir()}, {"same-2", "same-3-3", "same-3"})

    def test_csv_and_json_lines_have_every_point_in_64_bits(self):
        said = self.export("1", "2", "--format", "csv", "--out", "all.csv")
        self.assertEqual(said, "job 1: 80,003 points of 3 metrics in all.csv\njob 2: 4 points of 2 metrics in all.csv\n")
        with open(self.folder / "all.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = [json.loads(line) for line in self.export("1", "2", "--format", "jsonl").splitlines()]
        self.assertEqual(len(lines), len(rows))
        for table in (rows, lines):
            self.assertEqual({(row["run"], int(row["job"])) for row in table}, {("first", 1), ("same", 2)})
            for key, points in self.curves.items():
                self.same([(int(row["step"]), int(row["time_ms"]), float(row["value"])) for row in table
                           if int(row["job"]) == 1 and row["metric"] == key], points)
        self.assertIn('"value":"NaN"', self.export("1", "--format", "jsonl", "--metric", "odd*"))
        self.assertIn(",lr,3,1700000000005,1e+300\n", (self.folder / "all.csv").read_text())

    def test_many_short_metrics_among_long_ones(self):
        curves = {f"m{n:02}": [(step, TIME + step, step + n / 64) for step in range(1 if n % 3 else 3)] for n in range(30)}
        curves["m04"] = [(step, TIME, float(step)) for step in range(1001)]
        curves["m20"] = [(step, TIME, float(step)) for step in range(25_000)]
        self.deliver(5, curves)
        rows = [json.loads(line) for line in self.export("5", "--format", "jsonl").splitlines()]
        found = {}
        for row in rows:
            found.setdefault(row["metric"], []).append((row["step"], row["time_ms"], row["value"]))
        self.assertEqual(found, curves)
        self.assertEqual(list(found), sorted(curves))

    def test_wide_csv_has_a_line_a_step(self):
        text = self.export("2", "3", "--format", "csv", "--wide")
        self.assertEqual(text, "run,job,step,time_ms,lr,train/loss\n"
                               f"same-2,2,1,{TIME},,0.5\nsame-2,2,2,{TIME},0.001,\nsame-2,2,3,{TIME + 9},1e+300,0.25\n"
                               f"same-3,3,1,{TIME},,0.125\n")
        rows = list(csv.DictReader(self.export("1", "--format", "csv", "--wide").splitlines()))
        for key, points in self.curves.items():
            self.same([(int(row["step"]), 0, float(row[key])) for row in rows if row[key]],
                      [(step, 0, value) for step, _, value in points])

    def refused(self, status, words, *command):
        ran = self.podium("export", *command)
        self.assertEqual(ran.returncode, status, ran.stdout)
        self.assertIn(words, ran.stderr)

    def test_what_is_refused_leaves_nothing(self):
        self.refused(4, "--metric matches none of lr, train/loss", "2", "--metric", "los")
        self.refused(4, "there is no job 99", "99")
        self.refused(2, "Debian has no packaged library", "1", "--format", "parquet")
        self.refused(2, 'did you mean "jsonl"', "1", "--format", "json")
        self.refused(2, "--wide is for --format csv", "1", "--wide")
        self.refused(4, "a metric step, which --wide has a column for already", "4", "--format", "csv", "--wide")
        self.refused(2, "--out FILE keeps them apart", "1", "--format", "csv", "--json")
        self.refused(2, "No such file or directory", "1", "--format", "csv", "--out", "no/such/folder.csv")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.export("2", "--format", "csv", "--out", "x.csv")
        before = (self.folder / "x.csv").read_bytes()
        self.refused(2, "x.csv exists, and nothing is overwritten", "1", "--format", "csv", "--out", "x.csv")
        self.assertEqual((self.folder / "x.csv").read_bytes(), before)
        self.export("2")
        self.refused(2, "runs/same exists", "1", "2", "--metric", "train/*", "--out", "runs")  # as "same" alone
        self.assertEqual([path.name for path in (self.folder / "runs").iterdir()], ["same"])

    def test_a_full_disk_leaves_nothing(self):
        limited = subprocess.run(["bash", "-c", f"ulimit -f 100; exec {BIN}/podium export 1 --format csv --out x.csv"],
                                 env=self.environment(),
                                 capture_output=True, text=True, cwd=self.folder, timeout=WAIT, preexec_fn=ignore_size_signal)
        self.assertEqual(limited.returncode, 5, limited.stderr)
        self.assertIn("File too large", limited.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_full_disk_leaves_no_folder_that_was_made(self):
        (self.folder / "there").mkdir()
        for out in ("runs", "there/a/b", "there/c/"):
            limited = subprocess.run(["bash", "-c", f"ulimit -f 1; exec {BIN}/podium export 1 --out {out}"], env=self.environment(),
                                     capture_output=True, text=True, cwd=self.folder, timeout=WAIT, preexec_fn=ignore_size_signal)
            self.assertEqual(limited.returncode, 5, limited.stderr)
        self.assertEqual([str(path.relative_to(self.folder)) for path in self.folder.rglob("*")], ["there"])

    def test_ctrl_c_leaves_nothing(self):
        child = self.start("export", "1", "--out", "logs")
        wait_for(lambda: any(path.is_file() for path in self.folder.rglob("*")), "a part of the file")
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(0.5)  # a request is under way
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(WAIT), 130)
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)
        self.assertEqual([path for path in self.folder.rglob("*") if path.is_file()], [])


def ignore_size_signal():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


if __name__ == "__main__":
    unittest.main()

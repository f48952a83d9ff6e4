"""podium import against a real coordinator: event files, CSV and JSON Lines in, the same points out; what is repeated, half
done, broken or refused."""

import csv
import http.server
import json
import math
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "coordinator" / "api"))
sys.argv.insert(1, str(BIN / "podium-coordinator"))
from daemon import USER, WAIT, Daemon, wait_for  # noqa: E402
from event_writer import TIME, event, field, hyperparameters, session_start, simple, tensor, texts  # noqa: E402


class Refusing(http.server.BaseHTTPRequestHandler):
    """What stands before a coordinator, and refuses parameters."""
    protocol_version = "HTTP/1.1"
    daemon = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if b'"params"' in body:
            return self.answer(400, b'{"error_code":"INVALID_PARAMETER_VALUE","message":"no parameters today"}')
        reply = self.daemon.request(self.command, self.path, body or None, USER, Content_Type="application/json")
        self.answer(reply.status, reply.body)

    do_GET = do_POST

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ImportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-import-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PODIUM_TOKEN": USER,
                "PODIUM_COORDINATOR": f"http://127.0.0.1:{self.daemon.port}"}

    def podium(self, *words):
        return subprocess.run([BIN / "podium", *words], capture_output=True, text=True, env=self.environment(),
                              cwd=self.folder, stdin=subprocess.DEVNULL, timeout=WAIT)

    def taken(self, *words):
        """{run: what became of it}, and the warnings."""
        ran = self.podium("import", *words, "--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        told = json.loads(ran.stdout)
        return {run["run"]: run for run in told["runs"]}, told["warnings"]

    def refused(self, status, words, *command):
        ran = self.podium("import", *command)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        self.assertIn(words, ran.stderr)

    def points(self, job, *options):
        """{metric: [(step, time, value)]} as the coordinator has them."""
        ran = self.podium("export", str(job), "--format", "csv", *options)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        points = {}
        for row in csv.DictReader(ran.stdout.splitlines()):
            points.setdefault(row["metric"], []).append((int(row["step"]), int(row["time_ms"]), float(row["value"])))
        return points

    def job(self, number):
        reply = self.daemon.get(f"/jobs/{number}", token=USER)
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def jobs(self):
        return len(self.daemon.get("/jobs?limit=1000", token=USER).json()["jobs"])

    def test_a_folder_of_event_files_is_a_run_each_folder(self):
        self.write("logs/train/events.out.tfevents.1.h", hyperparameters(lr=0.5) +
                   b"".join(simple("loss", step, 1 / step) for step in (1, 2, 3, 4)))
        self.write("logs/train/events.out.tfevents.2.h", session_start(4) +
                   b"".join(simple("loss", step, 2 / step) for step in (4, 5)))
        self.write("logs/eval/deep/events.out.tfevents.1.h.v2", b"".join(tensor("acc", step, step / 8) for step in (1, 2)))
        self.write("logs/events.out.tfevents.1.h", simple("epoch (1)", 1, 7) + event(1, field(1, b"image") + field(4, b"x")))
        runs, warnings = self.taken("tensorboard", "logs")
        self.assertEqual({name: (run["points"], run["metrics"], run["outcome"]) for name, run in runs.items()},
                         {"train": (5, 1, "imported"), "eval/deep": (2, 1, "imported"), "logs": (1, 1, "imported")})
        self.assertEqual(warnings, ["logs: what is no scalar is left out: image", "epoch (1) is the metric epoch _1_ here"])
        as_float = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
        train = [(step, TIME + step, as_float((1 if step < 4 else 2) / step)) for step in (1, 2, 3, 4, 5)]
        self.assertEqual(self.points(runs["train"]["job"]), {"loss": train})
        self.assertEqual(self.points(runs["eval/deep"]["job"]), {"acc": [(1, TIME + 1, 0.125), (2, TIME + 2, 0.25)]})
        job = self.job(runs["train"]["job"])
        self.assertEqual((job["name"], job["state"], job["tracked"]), ("train", "succeeded", True))
        self.assertEqual((job["started_ms"], job["ended_ms"]), (TIME + 1, TIME + 5))

    def test_what_is_taken_in_again_is_left_alone(self):
        self.write("x.csv", "run,metric,step,value,time_ms\na,loss,1,2,5\nb,loss,1,3,5\n")
        first, _ = self.taken("csv", "x.csv")
        jobs = self.jobs()
        again, _ = self.taken("csv", "x.csv")
        self.assertEqual({run["outcome"] for run in again.values()}, {"already imported"})
        self.assertEqual({name: run["job"] for name, run in again.items()}, {name: run["job"] for name, run in first.items()})
        self.assertEqual(self.jobs(), jobs)
        self.write("x.csv", "run,metric,step,value,time_ms\na,loss,1,2,5\nb,loss,1,3.5,5\n")
        changed, _ = self.taken("csv", "x.csv")
        self.assertEqual((changed["a"]["outcome"], changed["b"]["outcome"]), ("already imported", "imported"))
        twice, _ = self.taken("csv", "x.csv", "--again")
        self.assertEqual({run["outcome"] for run in twice.values()}, {"imported"})
        self.assertEqual(self.jobs(), jobs + 3)

    def test_exported_points_come_back_the_same(self):
        rows = [f"{name},{metric},{step},{TIME + 7 * step},{value}"
                for name in ("one", "two, \"2\"".replace('"', "").replace(",", ""))
                for metric in ("train/loss", "eval/acc") for step, value in
                enumerate([0.1, 1e300, -5e-30, "NaN", "Infinity", "-Infinity", *(1 / n for n in range(3, 3000))])]
        self.write("all.csv", "run,metric,step,time_ms,value\n" + "\n".join(rows) + "\n")
        runs, _ = self.taken("csv", "all.csv")
        numbers = [str(run["job"]) for run in runs.values()]
        for form, ending in (("csv", "csv"), ("jsonl", "jsonl"), ("tensorboard", "logs")):
            ran = self.podium("export", *numbers, "--format", form, "--out", f"out.{ending}")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            back, _ = self.taken(form, f"out.{ending}", "--again")
            self.assertEqual(set(back), set(runs))
            for name, run in runs.items():
                before, after = (self.points(each["job"]) for each in (run, back[name]))
                if form == "tensorboard":  # 32 bits of each
                    before = {key: [(step, at, struct.unpack("<f", struct.pack("<f", value))[0] if abs(value) < 1e38 or
                                     not math.isfinite(value) else math.copysign(math.inf, value))
                                    for step, at, value in points] for key, points in before.items()}
                self.assertEqual(repr(after), repr(before), form)

    def test_wide_tables_and_choices(self):
        self.write("w.csv", "step,time,train/loss,eval/loss,state\n1,10,2,,ready\n2,20,1,3,\n")
        self.refused(4, "w.csv:2: state is \"ready\", which is no number", "csv", "w.csv")
        runs, _ = self.taken("csv", "w.csv", "--metric", "*loss", "--run", "mine", "--experiment", "old")
        self.assertEqual(self.points(runs["mine"]["job"]), {"train/loss": [(1, 10_000, 2), (2, 20_000, 1)],
                                                           "eval/loss": [(2, 20_000, 3)]})
        self.write("w.jsonl", '{"step": 1, "timestamp": 10, "loss": 2}\n')
        runs, _ = self.taken("jsonl", "w.jsonl")
        self.assertEqual(self.points(runs["w"]["job"]), {"loss": [(1, 10_000, 2)]})

    def test_a_broken_file_is_taken_up_to_there(self):
        whole = b"".join(simple("loss", step, step) for step in range(1, 5))
        self.write("logs/a/events.out.tfevents.1.h", whole[:-3])
        runs, warnings = self.taken("tensorboard", "logs")
        self.assertEqual(runs["a"]["points"], 3)
        self.assertRegex(warnings[0], r"logs/a/events.out.tfevents.1.h, byte \d+: .* bytes; what comes before it is taken")

    def test_what_is_refused_leaves_nothing(self):
        jobs = self.jobs()
        self.write("bad.csv", "metric,step,value\nloss,1,2\nloss,2,x\n,3,1\n")
        self.refused(4, "bad.csv:3: loss is \"x\", which is no number", "csv", "bad.csv")
        self.write("same.csv", "step,a(,a)\n1,2,3\n")
        self.refused(4, "a( and a) would both be the metric a_", "csv", "same.csv")
        self.write("none.csv", "step,a\n")
        self.refused(4, "has no points", "csv", "none.csv")
        self.refused(2, "No such file", "csv", "nothing.csv")
        self.refused(2, "No such file", "tensorboard", "nothing")
        self.refused(2, "same.csv is not a folder", "tensorboard", "same.csv")
        os.mkfifo(self.folder / "pipe")
        for no_file in (".", "pipe"):
            self.refused(2, f"{no_file} is not a file, which is read twice", "jsonl", no_file)
        (self.folder / "empty").mkdir()
        self.refused(2, "has no event files", "tensorboard", "empty")
        self.assertEqual(self.jobs(), jobs)

    def test_a_run_whose_parameters_are_refused_is_told(self):
        Refusing.daemon = self.daemon
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.write("logs/refused/events.out.tfevents.1.h", hyperparameters(lr=0.5) + simple("loss", 1, 1))
        environment = self.environment() | {"PODIUM_COORDINATOR": f"http://127.0.0.1:{server.server_port}"}
        ran = subprocess.run([BIN / "podium", "import", "tensorboard", "logs"], capture_output=True, text=True,
                             env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, timeout=WAIT)
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertIn("no parameters today", ran.stderr)
        (job,) = self.daemon.get("/jobs?name=refused", token=USER).json()["jobs"]
        self.assertIn(f"refused is half imported as job {job['id']}, which is marked as failed", ran.stderr)
        self.assertEqual(job["state"], "failed")

    def test_limits_are_met_before_anything_is_written(self):
        jobs = self.jobs()
        self.write("a.csv", f"run,metric,step,value\na,loss,1,2\n{'n' * 251},loss,1,2\n")
        self.refused(4, "has more than 250 characters", "csv", "a.csv")
        self.write("b.csv", "step,a\n1,2\n")
        self.refused(4, "has more than 500 characters", "csv", "b.csv", "--experiment", "e" * 501)
        self.refused(4, "has control characters", "csv", "b.csv", "--run", "a\tb")
        self.write("many.csv", "run,metric,step,value\n" + "".join(f"r{n},loss,1,2\n" for n in range(10_001)))
        self.refused(4, "many.csv has more than 10000 runs, which one import takes", "csv", "many.csv")
        self.write("c.csv", "run,metric,step,value\na,loss,1,2\n" + "".join(f"b,m{n},1,2\n" for n in range(20_001)))
        self.refused(4, "the run b has 20001 metrics, and a run can have 20000; --metric chooses some", "csv", "c.csv")
        many = hyperparameters(**{f"p{n}": 1.0 for n in range(10_001)})
        self.write("d/a/events.out.tfevents.1.h", simple("loss", 1, 1))
        self.write("d/b/events.out.tfevents.1.h", many + simple("loss", 1, 1))
        self.refused(4, "the run b has 10001 parameters, and a run can have 10000", "tensorboard", "d")
        self.assertEqual(self.jobs(), jobs)
        runs, _ = self.taken("csv", "b.csv", "--run", "é" * 250, "--experiment", "é" * 500)
        self.assertEqual(self.job(runs["é" * 250]["job"])["state"], "succeeded")

    def test_parameters_that_are_too_long_are_told(self):
        self.write("long/a/events.out.tfevents.1.h", simple("loss", 1, 1) +
                   texts(longest="é" * 6000, longer="x" * 6001))
        runs, warnings = self.taken("tensorboard", "long")
        self.assertEqual(warnings, ["a: the parameter longer is left out: it has more than 6000 characters"])
        self.assertEqual(self.job(runs["a"]["job"])["state"], "succeeded")

    def test_parameters_of_one_name_are_told(self):
        self.write("same/a/events.out.tfevents.1.h", simple("loss", 1, 1) + hyperparameters(**{"a(": 1.0, "a)": 2.0}) +
                   hyperparameters(**{"a(": 3.0}))
        self.assertEqual(self.taken("tensorboard", "same")[1], ["a: the parameter a) is left out: a( is a_ here, too"])

    def test_text_that_is_no_utf8(self):
        jobs = self.jobs()
        name = b"bad\xff"
        self.write("good/a/events.out.tfevents.1.h", simple("loss", 1, 1) + texts(kind=b"a\xffb"))
        (self.folder / "bad").mkdir()
        shutil.copytree(self.folder / "good", self.folder / "bad" / os.fsdecode(name))
        self.refused(4, "the name of the run bad\N{REPLACEMENT CHARACTER}/a is no UTF-8", "tensorboard", "bad")
        self.assertEqual(self.jobs(), jobs)
        os.rename(self.folder / "good", self.folder / os.fsdecode(name))
        self.refused(4, "the name of the experiment bad\N{REPLACEMENT CHARACTER} is no UTF-8", "tensorboard", name)
        runs, _ = self.taken("tensorboard", name, "--experiment", "good")
        labels = self.job(runs["a"]["job"])["labels"]
        self.assertTrue(labels["podium.import.source"].endswith("/bad\N{REPLACEMENT CHARACTER}"), labels)
        mlflow = "/api/2.0/mlflow"
        experiment = self.daemon.request("GET", mlflow + "/experiments/get-by-name?experiment_name=good", token=USER).json()
        (run,) = self.daemon.request("POST", mlflow + "/runs/search",
                                     {"experiment_ids": [experiment["experiment"]["experiment_id"]]}, USER).json()["runs"]
        self.assertEqual(run["data"]["params"], [{"key": "kind", "value": "a\N{REPLACEMENT CHARACTER}b"}])

    def test_what_runs_of_folders_are_called(self):
        self.write("lr0.001/events.out.tfevents.1.h", simple("loss", 1, 1))
        self.assertEqual(set(self.taken("tensorboard", "lr0.001")[0]), {"lr0.001"})
        self.write("runs/events.out.tfevents.1.h", simple("loss", 1, 1))
        self.write("runs/runs/events.out.tfevents.1.h", simple("loss", 1, 2))
        self.refused(2, "runs and its folder runs would both be the run runs", "tensorboard", "runs")
        self.assertEqual(set(self.taken("tensorboard", "runs", "--run", "above")[0]), {"above", "runs"})

    def test_links_to_folders_are_told(self):
        self.write("there/events.out.tfevents.1.h", simple("loss", 1, 1))
        self.write("links/a/events.out.tfevents.1.h", simple("loss", 1, 2))
        (self.folder / "links" / "b").symlink_to("../there")
        (self.folder / "links" / "gone").symlink_to("nowhere")
        runs, warnings = self.taken("tensorboard", "links")
        self.assertEqual(set(runs), {"a"})
        self.assertEqual(warnings, ["links/b is a link to a folder, and is left out; import what it names"])

    def test_a_signal_ends_the_reading_before_the_first_request(self):
        slow = self.folder / "slow.csv"
        slow.write_text("step,loss\n" + "".join(f"{step},2\n" for step in range(2_000_000)))
        child = subprocess.Popen([BIN / "podium", "import", "csv", "slow.csv"], env=self.environment(), cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        files = pathlib.Path(f"/proc/{child.pid}/fd")
        wait_for(lambda: any(file.resolve() == slow.resolve() for file in files.iterdir()), "the file to be read")
        child.terminate()
        self.assertEqual(child.wait(WAIT), -signal.SIGTERM)

    def test_half_an_import_is_marked_and_goes_on(self):
        self.write("big.csv", "step,loss\n" + "".join(f"{step},{1 / step}\n" for step in range(1, 400_000)))
        child = subprocess.Popen([BIN / "podium", "import", "csv", "big.csv"], env=self.environment(), cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.addCleanup(child.stderr.close)
        newest = lambda: self.daemon.get("/jobs?limit=1", token=USER).json()["jobs"][0]
        wait_for(lambda: newest()["name"] == "big" and newest()["progress"], "points of the run")
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
        self.assertEqual(child.wait(WAIT), 130, said)
        number = newest()["id"]
        self.assertIn(f"big is half imported as job {number}, which is marked as failed", said)
        self.assertEqual(self.job(number)["state"], "failed")
        runs, _ = self.taken("csv", "big.csv")
        self.assertEqual((runs["big"]["outcome"], runs["big"]["job"]), ("continued", number))
        self.assertEqual(self.job(number)["state"], "succeeded")
        self.assertEqual([(step, value) for step, _, value in self.points(number)["loss"]],
                         [(step, 1 / step) for step in range(1, 400_000)])

    def test_it_goes_on_over_a_restart_of_the_coordinator(self):
        self.write("over.csv", "step,loss\n" + "".join(f"{step},{step}\n" for step in range(1, 300_000)))
        child = subprocess.Popen([BIN / "podium", "import", "csv", "over.csv"], env=self.environment(), cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        time.sleep(0.3)
        port = self.daemon.port
        self.daemon.kill()
        self.daemon.options = ("--listen", f"127.0.0.1:{port}", *self.daemon.options[2:])
        self.daemon.start()
        self.assertEqual(child.wait(WAIT), 0)
        (job,) = self.daemon.get("/jobs?name=over", token=USER).json()["jobs"]
        self.assertEqual(len(self.points(job["id"])["loss"]), 299_999)


if __name__ == "__main__":
    unittest.main()

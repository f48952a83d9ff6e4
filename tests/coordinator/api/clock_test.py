"""The coordinator under a wall clock that somebody sets: a library before libc moves that clock alone.

    clock_test.py PODIUM_COORDINATOR SET_CLOCK_LIBRARY
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

LIBRARY = sys.argv.pop(2)

from daemon import AGENT, BINARY, MEASURED, Agent, Daemon, chunk, spec, wait_for  # noqa: E402

YEAR = 365 * 24 * 3600


def reached(now_ms):
    """What a task tells that reaches its target then, by its own clock."""
    lines = [
        {"type": "metrics", "t": now_ms, "step": 1, "values": {"train/loss": 1.0}},
        {"type": "target", "t": now_ms, "step": 1, "metric": "train/loss", "value": 1.0},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class Clock(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.offset = pathlib.Path(folder.name, "offset")
        self.set(0)
        with self.moved_clock():
            self.daemon = self.enterContext(Daemon())

    @contextlib.contextmanager
    def moved_clock(self):
        """What is started within has a wall clock that self.set moves."""
        os.environ.update(LD_PRELOAD=LIBRARY, PODIUM_TEST_CLOCK=str(self.offset))
        yield
        del os.environ["LD_PRELOAD"]

    def set(self, seconds):
        draft = self.offset.with_suffix(".new")
        draft.write_text(str(seconds * 1000))
        draft.rename(self.offset)

    def test_steps_of_the_wall_clock_fail_no_walltime_and_lose_no_node(self):
        job = self.daemon.submit(spec()).json()["jobs"][0]["id"]
        agent = Agent(self.daemon)
        agent.run(agent.wait_for_order("start"))
        for seconds in (2 * 3600, 9, YEAR, -YEAR, 0):
            self.set(seconds)
            ticked = time.monotonic() + 6  # the coordinator looks at its clock every five seconds
            while time.monotonic() < ticked:
                agent.tell()
                time.sleep(0.5)
            self.assertEqual(self.daemon.get(f"/jobs/{job}").json()["state"], "running", seconds)
            self.assertEqual(self.daemon.get("/nodes/node-1").json()["state"], "up", seconds)
        history = [event["type"] for event in self.daemon.get(f"/jobs/{job}/events").json()["events"]]
        self.assertEqual(history.count("attempt_created"), 1)
        self.assertIn("this machine's clock is", self.daemon.read_log())

    def test_a_restart_never_goes_back_behind_the_log(self):
        self.set(3600)
        self.daemon.terminate()
        with self.moved_clock():
            self.daemon.start()
        first = self.daemon.submit(spec()).json()["jobs"][0]
        self.set(0)
        self.daemon.terminate()
        self.daemon.start()
        second = self.daemon.submit(spec()).json()["jobs"][0]
        self.assertGreaterEqual(second["submitted_ms"], first["submitted_ms"])

    def restart_at(self, seconds):
        """A coordinator that was killed comes back under a wall clock that was set."""
        self.set(seconds)
        self.daemon.kill()
        with self.moved_clock():
            self.daemon.start()

    def excluded(self, restarts):
        """Why a run that saw such restarts sets no record."""
        job = self.daemon.submit(spec(extra="target: {metric: train/loss, at_most: 9}\n")).json()["jobs"][0]["id"]
        agent = Agent(self.daemon)
        agent.ahead = 0  # it tells its clock
        [launch] = agent.wait_for_order("start")
        agent.run([launch])
        for seconds in restarts:
            self.restart_at(seconds)
            agent.tell()
        time.sleep(1)  # more than clocks are known to
        agent.deliver(chunk(launch, "events", 0, reached(int(time.time() * 1000))))
        agent.finish()
        [benchmark] = self.daemon.get("/board").json()["benchmarks"]
        runs = self.daemon.get("/board/" + benchmark["id"]).json()["all"]
        return next(run["excluded"] for run in runs if run["job"] == job)

    def test_a_run_that_saw_the_clock_leap_sets_no_record(self):
        leapt = "the cluster's clock was set forward by 1h while it ran"
        self.assertNotIn("clock", str(self.excluded([0])))
        self.assertIn(leapt, self.excluded([3600]))
        self.assertNotIn("clock", str(self.excluded([3600])))
        self.assertIn("the machine's clock is 1h ahead of the cluster's time;", self.daemon.read_log())

    def test_a_measured_run_knows_how_often_the_clock_was_set(self):
        agent = Agent(self.daemon)

        def clock_of_second_attempt(between):
            self.daemon.submit(MEASURED)
            agent.run(agent.wait_for_order("start"))
            between()
            agent.finish(code=1)
            [launch] = agent.wait_for_order("start")
            agent.run([launch])
            agent.finish()
            return launch["clock"]

        self.assertEqual(clock_of_second_attempt(lambda: self.restart_at(3600)), {"steps": 1})
        self.assertEqual(clock_of_second_attempt(lambda: self.restart_at(3600)), {"steps": 1}, "the same as before it")
        self.assertEqual(clock_of_second_attempt(lambda: self.restart_at(7200)), {"steps": 2})

    def expect_right_times(self, job, before_ms):
        """Of a job that reached its target at once, on a node whose clock says something else."""
        wait_for(lambda: self.daemon.get(f"/jobs/{job}").json()["time_to_train_seconds"] is not None, "the target")
        after_ms = time.time() * 1000
        seen = self.daemon.get(f"/jobs/{job}").json()
        self.assertGreaterEqual(seen["time_to_train_seconds"], 0)
        self.assertLess(seen["time_to_train_seconds"], (after_ms - before_ms) / 1000 + 1)
        [series] = self.daemon.get(f"/jobs/{job}/series?key=train/loss").json()["series"]
        for _, time_ms, _ in series["points"]:
            self.assertGreater(time_ms, before_ms - 1000)
            self.assertLess(time_ms, after_ms + 1000)

    def test_a_node_whose_clock_is_off_tells_the_right_time_to_train(self):
        target = spec(extra="target: {metric: train/loss, at_most: 9}\n")
        for seconds in (-3600, 3600):
            before_ms = time.time() * 1000
            job = self.daemon.submit(target).json()["jobs"][0]["id"]
            agent = Agent(self.daemon)
            agent.ahead = seconds
            [launch] = agent.wait_for_order("start")
            agent.run([launch])
            agent.deliver(chunk(launch, "events", 0, reached(int((time.time() + seconds) * 1000))))
            agent.finish()
            self.expect_right_times(job, before_ms)
            clock = self.daemon.get("/nodes/node-1").json()["clock"]
            self.assertTrue(clock["off"])
            self.assertLess(abs(clock["ahead_ms"] - seconds * 1000), 1000)
        self.assertIn("the clock of node-1 is 1h", self.daemon.read_log())

    def test_a_real_node_whose_clock_is_an_hour_behind(self):
        folder = self.offset.parent
        self.daemon.terminate()
        self.daemon.start()  # with the machine's own clock
        (folder / "token").write_text(AGENT)
        (folder / "data").mkdir()
        self.set(-3600)
        command = [BINARY.parent / "podium-agent", "--name", "late", "--token-file", folder / "token", "--home",
                   folder / "home", "--shared", folder / "shared", "--data", folder / "data", "--coordinator",
                   f"http://127.0.0.1:{self.daemon.port}"]
        with self.moved_clock(), open(folder / "agent.log", "wb") as log:
            agent = subprocess.Popen(command, stderr=log)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.kill)
        script = (
            f"export LD_PRELOAD={LIBRARY} PODIUM_TEST_CLOCK={self.offset}\n"
            "now=$(date +%s%3N)\n"
            'echo "{\\"type\\":\\"metrics\\",\\"t\\":$now,\\"step\\":1,\\"values\\":{\\"train/loss\\":1}}" >> $PODIUM_EVENTS\n'
            'echo "{\\"type\\":\\"target\\",\\"t\\":$now,\\"step\\":1,\\"metric\\":\\"train/loss\\",\\"value\\":1}"'
            " >> $PODIUM_EVENTS\n"
        )
        (folder / "data" / "job.sh").write_text(script)
        before_ms = time.time() * 1000
        job = self.daemon.submit(
            f"version: 1\nname: late\ncommand: [sh, {folder}/data/job.sh]\n"
            "resources: {devices: 1, kind: cpu, walltime: 1h}\ntarget: {metric: train/loss, at_most: 9}\n"
        ).json()["jobs"][0]["id"]
        wait_for(lambda: self.daemon.get(f"/jobs/{job}").json()["state"] == "succeeded", "the job to succeed")
        self.expect_right_times(job, before_ms)
        self.assertLess(abs(self.daemon.get("/nodes/late").json()["clock"]["ahead_ms"] + 3_600_000), 1000)


if __name__ == "__main__":
    unittest.main()

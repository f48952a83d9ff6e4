"""A database that was lost, or an older copy of it restored, with a real agent whose tasks it does not know.

    restore_test.py PODIUM_COORDINATOR
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from daemon import AGENT, BINARY, USER, Daemon, wait_for


def spec_of(name, script, devices=1):
    return (f"version: 1\nname: {name}\ncommand: [sh, -c, \"echo mine > $PODIUM_CHECKPOINTS/{name}; {script}\"]\n"
            f"resources: {{devices: {devices}, kind: cpu, walltime: 1h}}\n")


class Restored(unittest.TestCase):
    options = ("--lease", "10s")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.daemon = self.enterContext(Daemon(*self.options))
        (self.folder / "token").write_text(AGENT)
        (self.folder / "data").mkdir()
        self.start_agent()

    def start_agent(self, name="node-1", shared="shared"):
        command = [BINARY.parent / "podium-agent", "--name", name, "--token-file", self.folder / "token", "--home",
                   self.folder / f"home-{name}", "--shared", self.folder / shared, "--data", self.folder / "data",
                   "--cpu-slots", "3", "--coordinator", f"http://127.0.0.1:{self.daemon.port}", "--stop-tasks-on-exit"]
        with open(self.folder / "agent.log", "ab") as log:
            agent = subprocess.Popen(command, stderr=log)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.terminate)
        return agent

    def restart(self, *more):
        """On the same port, for the agent comes back to it."""
        self.daemon.options = ("--listen", f"127.0.0.1:{self.daemon.port}", *self.options, *more)
        self.daemon.start()

    def copy_database(self):
        copy = self.folder / "copy"
        copy.mkdir()
        for file in self.daemon.home.glob("podium.db*"):
            shutil.copy(file, copy)

    def restore_database(self):
        for file in self.daemon.home.glob("podium.db*"):
            file.unlink()
        (self.daemon.home / "highest-job").unlink(missing_ok=True)  # as where the whole home is a copy
        for file in (self.folder / "copy").iterdir():
            shutil.copy(file, self.daemon.home)

    def submit(self, name, script="sleep 1000", **more):
        return self.daemon.submit(spec_of(name, script, **more)).json()["jobs"][0]["id"]

    def wait_for_state(self, job, state):
        wait_for(lambda: self.job(job)["state"] == state, f"job {job} to be {state}")

    def wait_until_forgotten(self, job):
        wait_for(lambda: f"task {job}.1.0: forgotten" in (self.folder / "agent.log").read_text(), "its agent to forget it")

    def running(self, job):
        """Its process, once it has written its file."""
        self.wait_for_state(job, "running")
        wait_for(lambda: list(self.folder.glob(f"shared/*/jobs/{job}/checkpoints/*")), "its file")
        return self.job(job)["attempts"][-1]["tasks"][0]["pid"]

    def job(self, job):
        return self.daemon.get(f"/jobs/{job}").json()

    def unknown(self):
        return self.daemon.get("/nodes/node-1").json()["unknown"]

    def wait_for_unknown(self, count):
        wait_for(lambda: self.daemon.get("/nodes").json()["nodes"] and
                 len((self.unknown() or {"tasks": []})["tasks"]) == count, f"{count} unknown tasks")
        return self.unknown()

    def adopt(self, **body):
        reply = self.daemon.request("POST", "/api/v1/nodes/node-1/adopt", body, USER)
        self.assertEqual(reply.status, 200, reply.body)

    def assert_lives(self, pid):
        os.kill(pid, 0)

    def wait_for_end(self, pid):
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), f"process {pid} to end")


class WithASharedFolder(Restored):
    def test_an_older_copy_gives_no_number_again_and_kills_nothing(self):
        first = self.submit("first")
        first_pid = self.running(first)
        self.daemon.terminate()
        self.copy_database()
        self.restart()
        second = self.submit("second")
        second_pid = self.running(second)
        self.daemon.terminate()
        self.restore_database()
        self.restart()

        parked = self.wait_for_unknown(1)
        self.assertEqual(parked["tasks"], [{"job": second, "attempt": 1, "rank": 0}])
        self.assertIsNone(parked["cluster"])
        self.daemon.terminate()
        self.restart()
        self.assertEqual(self.wait_for_unknown(1), parked, "also after another start")
        third = self.submit("third")
        self.assertGreater(third, second)
        self.assert_lives(first_pid)
        self.assert_lives(second_pid)
        self.assertEqual(self.job(first)["state"], "running")
        self.assertEqual(self.job(third)["state"], "queued", "the node gets no work while it is unsure")
        self.adopt(stop=True)
        self.wait_for_end(second_pid)
        self.running(third)
        files = list(self.folder.glob(f"shared/*/jobs/{third}/checkpoints/*"))
        self.assertEqual([file.name for file in files], ["third"], "nobody else's checkpoints")
        self.assert_lives(first_pid)

    def test_jobs_that_ended_after_the_copy_are_held_and_not_run_again(self):
        until_told = "until [ -e $PODIUM_DATA/go ]; do sleep 0.05; done"
        running = self.submit("running", until_told)
        self.running(running)
        queued = self.submit("queued", until_told, devices=3)
        self.daemon.terminate()
        self.copy_database()
        self.restart()
        (self.folder / "data" / "go").touch()
        later = self.submit("later", "true")
        for job in (running, queued, later):
            self.wait_for_state(job, "succeeded")
            self.wait_until_forgotten(job)
        self.daemon.terminate()
        self.restore_database()
        self.restart()

        self.assertGreater(self.submit("next", "true"), later, "however soon it is asked for")
        for job in (running, queued):
            wait_for(lambda job=job: self.job(job)["held"], f"job {job} to be held")
            self.assertEqual(self.job(job)["state"], "queued")
        self.assertIn("attempt 1 of it has ended on node-1, and this database, an older copy", self.job(running)["reason"])
        self.assertIn("it ended on node-1 after this database was copied", self.job(running)["attempts"][0]["reason"])
        why = self.daemon.get(f"/jobs/{queued}/why").json()["blockers"][0]
        self.assertEqual(why["code"], "held")
        self.assertIn("node-1 knows of an attempt of it that this database", why["sentence"])
        self.assertIn(f"podium release {queued} runs it again, podium cancel {queued} ends it", why["sentence"])
        for job in (running, queued):
            reply = self.daemon.request("POST", f"/api/v1/jobs/{job}/release", {}, USER)
            self.assertEqual(reply.status, 200, reply.body)
        for job in (running, queued):
            self.wait_for_state(job, "succeeded")
            self.assertEqual(self.job(job)["attempt"], 2)

    def test_a_lost_database_is_refused_and_a_new_cluster_parks_what_runs(self):
        job = self.submit("old")
        pid = self.running(job)
        old = self.daemon.get("/health").json()["cluster"]
        self.daemon.terminate()
        for file in self.daemon.home.glob("podium.db*"):
            file.unlink()
        with self.assertRaisesRegex(RuntimeError, "--begin-anew"):
            self.restart()
        self.restart("--begin-anew")
        new = self.daemon.get("/health").json()["cluster"]
        self.assertNotEqual(new, old)

        parked = self.wait_for_unknown(1)
        self.assertEqual(parked["cluster"], old)
        again = self.submit("new")
        self.assertEqual(again, job, "a new cluster counts from the beginning")
        self.assert_lives(pid)
        self.adopt()
        self.assertEqual(self.unknown()["adopted"], "keep")
        self.assert_lives(pid)
        self.adopt(stop=True)
        self.wait_for_end(pid)
        self.running(again)
        self.assertEqual([file.name for file in self.folder.glob(f"shared/{new}/jobs/{again}/checkpoints/*")], ["new"])
        self.assertEqual([file.name for file in self.folder.glob(f"shared/{old}/jobs/{job}/checkpoints/*")], ["old"])


class WithNothingShared(Restored):
    options = ("--lease", "10s", "--nothing-shared")

    def test_what_a_node_did_that_the_copy_does_not_list_is_not_done_again(self):
        """No fence tells of it, and a node that the copy lists reports first."""
        until_told = "until [ -e $PODIUM_DATA/go ]; do sleep 0.05; done"
        busy = self.submit("busy", until_told, devices=3)
        self.running(busy)
        ended = self.submit("ended", "true")
        lives = self.submit("lives")
        self.daemon.terminate()
        self.copy_database()
        self.restart()
        agent = self.start_agent("node-2", "shared-2")
        self.wait_for_state(ended, "succeeded")
        self.wait_until_forgotten(ended)
        self.wait_for_state(lives, "running")
        pid = self.job(lives)["attempts"][-1]["tasks"][0]["pid"]
        agent.send_signal(signal.SIGSTOP)
        self.addCleanup(agent.send_signal, signal.SIGCONT)
        self.daemon.terminate()
        self.restore_database()
        self.restart()

        (self.folder / "data" / "go").touch()
        self.wait_for_state(busy, "succeeded")
        why = self.daemon.get(f"/jobs/{ended}/why").json()["blockers"][0]
        self.assertIn("nodes that its database may not list", why["sentence"])
        agent.send_signal(signal.SIGCONT)
        for job in (ended, lives):
            wait_for(lambda job=job: self.job(job)["held"], f"job {job} to be held")
        self.wait_for_state(self.submit("next"), "running")
        self.assertEqual(self.job(lives)["state"], "queued")
        self.assertEqual(self.job(ended)["attempts"], [])
        self.assert_lives(pid)


if __name__ == "__main__":
    unittest.main()

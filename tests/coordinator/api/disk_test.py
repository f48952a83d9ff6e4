"""A coordinator whose disk is nearly full, refuses writes, or holds a damaged row: it stays up, tells what is wrong,
and goes on by itself."""

import resource
import sqlite3
import subprocess
import unittest

from daemon import Agent, Daemon, chunk, metric_lines, spec, wait_for


class DiskTest(unittest.TestCase):
    def start(self, *options):
        daemon = Daemon(*options)
        self.addCleanup(daemon.close)
        return daemon

    def started_job(self, daemon, agent):
        reply = daemon.submit(spec())
        self.assertEqual(reply.status, 201, reply.body)
        launch = agent.wait_for_order("start")[0]
        agent.run([launch])
        return launch

    def test_below_the_reserve_only_what_can_wait_is_refused(self):
        daemon = self.start()
        agent = Agent(daemon)
        agent.orders()
        launch = self.started_job(daemon, agent)
        daemon.terminate()
        daemon.options += ("--disk-reserve", "1000000TB")
        daemon.start()
        reply = daemon.submit(spec())
        self.assertEqual(reply.status, 503, reply.body)
        self.assertIn("nearly full", reply.json()["detail"])
        reply = agent.deliver(chunk(launch, "events", 0, metric_lines(1, 3)))
        self.assertEqual(reply.status, 507, reply.body)
        saved = b'{"type":"checkpoint","t":1004,"step":3,"path":"/x","bytes":1,"seconds":0.1}\n'
        self.assertEqual(agent.deliver(chunk(launch, "events", 0, metric_lines(1, 3) + saved)).status, 507)

        def is_noted():
            with sqlite3.connect(daemon.home / "podium.db") as database:
                return database.execute("SELECT 1 FROM events WHERE type = 'checkpoint_noted'").fetchone()

        wait_for(is_noted, "the checkpoint to be noted; else a restart seems to make no headway")
        agent.finish()
        wait_for(lambda: daemon.get(f"/jobs/{launch['job']}").json()["state"] == "succeeded", "the job's end")
        daemon.terminate()
        daemon.options = daemon.options[:-2]
        daemon.start()
        agent.orders()
        self.assertEqual(agent.deliver(chunk(launch, "events", 0, metric_lines(1, 3))).status, 200)
        self.assertEqual(daemon.submit(spec()).status, 201)

    def test_a_disk_that_takes_no_writes_loses_nothing_and_kills_nothing(self):
        daemon = self.start()
        before = daemon.submit(spec("before"))
        self.assertEqual(before.status, 201)
        pid = daemon.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        reply = daemon.submit(spec("during"), Idempotency_Key="during")
        self.assertEqual(reply.status, 503, reply.body)
        self.assertIn("cannot write to its disk", reply.json()["detail"])
        self.assertIsNone(daemon.process.poll(), "it stays up")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        wait_for(lambda: daemon.submit(spec("after")).status == 201, "the disk to be used again")
        # What was asked for meanwhile has happened once, whoever asks again.
        self.assertIn(daemon.submit(spec("during"), Idempotency_Key="during").status, (200, 201))
        names = [job["name"] for job in daemon.get("/jobs").json()["jobs"]]
        self.assertEqual(sorted(names), ["after", "before", "during"])
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.get("/jobs").json()["total"], 3)

    def test_a_start_on_a_full_disk_waits_for_room(self):
        daemon = self.start()
        self.assertEqual(daemon.submit(spec()).status, 201)
        daemon.kill()
        full = (100, resource.RLIM_INFINITY)
        # Not into a file, which would be full as well.
        with subprocess.Popen(daemon.process.args, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, full)) as process:
            self.assertIn("starting once the disk takes writes again", process.stderr.readline())
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            while "serves http" not in (line := process.stderr.readline()):
                self.assertNotEqual(line, "", "it ended")
            process.terminate()

    def test_it_stops_in_order_while_its_disk_takes_no_writes(self):
        daemon = self.start()
        self.assertEqual(daemon.submit(spec()).status, 201)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        self.assertEqual(daemon.submit(spec()).status, 503)
        self.assertEqual(daemon.terminate(), 0)
        daemon.start()
        self.assertEqual(daemon.get("/jobs").json()["total"], 1)

    def test_one_broken_spec_does_not_keep_orders_from_its_node(self):
        daemon = self.start()
        agent = Agent(daemon, devices=2)
        agent.orders()
        broken, whole = (daemon.submit(spec(name)).json()["jobs"][0]["id"] for name in ("broken", "whole"))
        wait_for(lambda: len(agent.orders()) == 2, "two orders")
        with sqlite3.connect(daemon.home / "podium.db") as database:
            database.execute("UPDATE jobs SET spec = '{' WHERE id = ?", (broken,))
        database.close()
        agent.orders_seen = 0
        launches = {task["launch"]["job"]: task["launch"] for task in agent.orders()}
        self.assertEqual(sorted(launches), [broken, whole])
        self.assertEqual(launches[whole]["spec"]["command"], ["/bin/true"])
        self.assertIn("submit it again", " ".join(launches[broken]["spec"]["command"]))
        self.assertIn("the spec of job %d cannot be read" % broken, daemon.read_log())

    def test_a_deleted_home_takes_no_submissions(self):
        daemon = self.start()
        (daemon.home / "podium.db").rename(daemon.home / "moved.db")
        reply = daemon.submit(spec())
        self.assertEqual(reply.status, 503, reply.body)
        self.assertIn("is gone or has been replaced", reply.json()["detail"])

    def test_what_a_killed_coordinator_left_half_written_is_removed(self):
        daemon = self.start()
        daemon.kill()
        (daemon.home / "code").mkdir(exist_ok=True)
        left = [daemon.home / "coordinator.address.tmp.4711", daemon.home / "cluster.id.tmp.1", daemon.home / "code" / "ab12.tmp.7"]
        kept = [daemon.home / "notes.tmp.txt", daemon.home / "tmp.1", daemon.home / "code" / "ab12"]
        for file in left + kept:
            file.touch()
        daemon.start()
        self.assertEqual([file for file in left if file.exists()], [])
        self.assertEqual([file for file in kept if not file.exists()], [])

    def test_an_address_file_that_cannot_be_written_does_not_keep_it_from_starting(self):
        daemon = self.start()
        port = daemon.port
        daemon.terminate()
        address = daemon.home / "coordinator.address"
        address.unlink()
        address.mkdir()
        (address / "in the way").touch()
        daemon.options = ("--listen", f"127.0.0.1:{port}")
        daemon.process = subprocess.Popen(
            [*daemon.process.args[:3], *daemon.options], stderr=daemon.log)

        def answers():
            try:
                return daemon.get("/health").status == 200
            except OSError:
                return False

        wait_for(answers, "the coordinator to answer")

    def test_a_damaged_event_ends_a_start_with_advice(self):
        daemon = self.start()
        self.assertEqual(daemon.submit(spec()).status, 201)
        daemon.terminate()
        with sqlite3.connect(daemon.home / "podium.db") as database:
            database.execute("UPDATE events SET body = '[' WHERE seq = 2")
        database.close()
        with self.assertRaisesRegex(RuntimeError, "event 2 cannot be read.*restore a backup"):
            daemon.start()
        self.assertEqual(daemon.process.returncode, 1)
        daemon.process.returncode = 0  # expected


if __name__ == "__main__":
    unittest.main()

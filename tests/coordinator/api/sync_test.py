"""The held sync, the exactly-once streams, and what survives kill -9."""

import ctypes
import json
import threading
import time
import unittest

from daemon import USER, Agent, Daemon, chunk, metric_lines, spec, wait_for


def zstd(data):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    packed = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = library.ZSTD_compress(packed, ctypes.c_size_t(len(packed)), data, ctypes.c_size_t(len(data)), 1)
    return packed.raw[:size]


class Held:
    """A sync on a thread of its own."""

    def __init__(self, agent):
        self.reply = None
        self.begin = time.monotonic()
        self.thread = threading.Thread(target=self.run, args=(agent,))
        self.thread.start()

    def run(self, agent):
        connection = agent.daemon.post_sync(agent)
        self.reply = json.loads(connection.getresponse().read())
        connection.close()
        self.seconds = time.monotonic() - self.begin

    def answer(self):
        self.thread.join(60)
        return self.reply


class SyncTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.agent = Agent(self.daemon)
        self.agent.orders()

    def tearDown(self):
        self.daemon.close()

    def submit(self, *arguments):
        reply = self.daemon.submit(spec(*arguments))
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()["jobs"][0]["id"]

    def job(self, job):
        return self.daemon.get(f"/jobs/{job}").json()

    def test_orders_leave_at_once(self):
        held = Held(self.agent)
        time.sleep(0.2)
        self.assertIsNone(held.reply)
        job = self.submit()
        orders = held.answer()
        self.assertEqual([task["launch"]["job"] for task in orders["tasks"]], [job])
        self.assertGreater(orders["orders"], self.agent.orders_seen)
        self.assertLess(held.seconds, 14)

    def test_a_newer_sync_ends_the_older(self):
        older = Held(self.agent)
        time.sleep(0.2)
        newer = Held(self.agent)
        self.assertEqual(older.answer()["orders"], self.agent.orders_seen)
        self.assertLess(older.seconds, 14)
        self.assertIsNone(newer.reply)
        self.submit()
        self.assertEqual(len(newer.answer()["tasks"]), 1)

    def test_a_second_agent_of_a_name_is_refused_and_disturbs_nobody(self):
        first, second = (Agent(self.daemon, "node-2") for _ in range(2))
        first.node["key"], second.node["key"] = "key-1", "key-2"
        first.orders()
        held = Held(first)
        time.sleep(0.2)
        for _ in range(3):
            reply = second.sync()
            self.assertEqual(reply.status, 409, reply.body)
            self.assertIn("node node-2 belongs to another agent", reply.json()["detail"])
            self.assertIn("--name", reply.json()["detail"])
        self.assertIsNone(held.reply)  # its hold goes on
        first.tell()
        self.assertEqual(held.answer()["orders"], first.orders_seen)

    def test_without_news_it_is_held_for_fifteen_seconds(self):
        held = Held(self.agent)
        self.assertEqual(held.answer()["orders"], self.agent.orders_seen)
        self.assertGreater(held.seconds, 14)

    def test_the_first_sync_after_an_interruption_is_answered_at_once(self):
        self.agent.interrupted = True
        interrupted = Held(self.agent)
        self.assertEqual(interrupted.answer()["orders"], self.agent.orders_seen)
        self.assertLess(interrupted.seconds, 14)

    def test_the_first_report_to_a_coordinator_that_has_started_tells_what_has_ended(self):
        """A restart can be over before an agent notices that its connection is another one."""
        self.agent.cluster = self.daemon.get("/health").json()["cluster"]
        self.daemon.terminate()
        self.daemon.options = ("--listen", f"127.0.0.1:{self.daemon.port}")
        self.daemon.start()
        refused = self.agent.sync()
        self.assertEqual(refused.status, 503, refused.body)
        self.assertIn("the coordinator has started since", refused.json()["detail"])
        self.agent.interrupted = True
        self.assertEqual(self.agent.sync().status, 200)
        self.agent.interrupted = False
        self.agent.tell()

    def test_a_stop_order_follows_a_cancel(self):
        job = self.submit()
        self.agent.run(self.agent.wait_for_order("start"))
        held = Held(self.agent)
        self.daemon.request("POST", f"/api/v1/jobs/{job}/cancel", token=USER)
        self.assertEqual([task["action"] for task in held.answer()["tasks"]], ["stop"])
        self.agent.finish()
        self.assertEqual(self.job(job)["state"], "cancelled")

    def test_a_job_that_was_cancelled_goes_on_under_its_number(self):
        job = self.submit()
        self.agent.run(self.agent.wait_for_order("start"))
        path = f"/api/v1/jobs/{job}"
        self.daemon.request("POST", path + "/cancel", token=USER)
        again = self.daemon.request("POST", path + "/requeue", token=USER)
        self.assertEqual(again.status, 409, "it is still being stopped")
        self.agent.finish()
        ended = self.job(job)
        self.assertEqual(ended["state"], "cancelled")
        again = self.daemon.request("POST", path + "/requeue", token=USER)
        self.assertEqual(again.status, 202, again.body)
        self.assertIn(again.json()["state"], ("queued", "starting"))
        self.assertIsNone(again.json()["ended_ms"])
        self.daemon.kill()
        self.daemon.start()
        [launch] = self.agent.wait_for_order("start")
        self.assertEqual((launch["job"], launch["attempt"]), (job, 2))
        self.assertEqual(launch.get("wait_ms", 0), 0, "its task was seen to end, so there is nothing to wait for")
        self.agent.run([launch])
        self.agent.finish()
        done = self.job(job)
        self.assertEqual(done["state"], "succeeded")
        self.assertEqual([attempt["number"] for attempt in done["attempts"]], [1, 2])
        self.assertEqual(done["started_ms"], ended["started_ms"], "its time-to-train counts from its first start")
        types = [event["type"] for event in self.daemon.get(f"/jobs/{job}/events").json()["events"]]
        self.assertIn("job_recalled", types)
        again = self.daemon.request("POST", path + "/requeue", token=USER)
        self.assertEqual(again.status, 409)
        self.assertIn(f"resume: {{job: {job}}}", again.json()["errors"][0]["message"])

    def test_streams_count_once(self):
        job = self.submit()
        [launch] = self.agent.wait_for_order("start")
        self.agent.run([launch])
        data = metric_lines(1, 1000)
        half = data.index(b"\n", len(data) // 2) - 7  # in the middle of a line
        first = chunk(launch, "events", 0, data[:half])
        whole = data.rindex(b"\n", 0, half) + 1  # events count by whole lines
        for _ in range(2):
            self.assertEqual(self.next_of(self.agent.deliver(first)), whole)
        gap = chunk(launch, "events", whole + 5, data[whole + 5 :])
        self.assertEqual(self.next_of(self.agent.deliver(gap)), whole)
        overlapping = zstd(chunk(launch, "events", whole - 100, data[whole - 100 :]))
        for _ in range(2):
            self.assertEqual(self.next_of(self.agent.deliver(overlapping, Content_Encoding="zstd")), len(data))
        [metric] = self.daemon.get(f"/jobs/{job}/metrics").json()["metrics"]
        self.assertEqual((metric["count"], metric["first_step"], metric["last_step"]), (1000, 1, 1000))
        series = self.daemon.get(f"/jobs/{job}/series?key=train/loss&points=2000").json()["series"]
        self.assertEqual([point[0] for point in series[0]["points"]], list(range(1, 1001)))

    def next_of(self, reply):
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()["streams"][0]["next"]

    def test_a_bomb_is_not_unpacked(self):
        bomb = zstd(b"\0" * (64 << 20))
        self.assertEqual(self.agent.deliver(bomb, Content_Encoding="zstd").status, 413)

    def test_kill_and_restart_lose_nothing(self):
        running = self.submit("running")
        [launch] = self.agent.wait_for_order("start")
        self.agent.run([launch])
        waiting = [self.submit(f"waiting-{i}") for i in range(20)]
        self.daemon.submit(spec("keyed"), Idempotency_Key="once")
        data = metric_lines(1, 100)
        self.agent.deliver(chunk(launch, "events", 0, data))
        self.daemon.kill()
        self.daemon.start()

        self.assertEqual(self.job(running)["state"], "running")
        for job in waiting:
            self.assertEqual(self.job(job)["state"], "queued")
        self.assertEqual(self.daemon.submit(spec("keyed"), Idempotency_Key="once").status, 200)
        self.agent.orders_seen = 0
        [again] = self.agent.orders()
        self.assertEqual(again["action"], "keep")  # it was reported: never start it again
        self.assertEqual(again["launch"]["master"], launch["master"])  # the secret with it
        self.assertEqual(self.next_of(self.agent.deliver(chunk(launch, "events", 0, data))), len(data))
        [metric] = self.daemon.get(f"/jobs/{running}/metrics").json()["metrics"]
        self.assertEqual(metric["count"], 100)
        self.agent.finish()
        self.assertEqual(self.job(running)["state"], "succeeded")
        next_job = self.agent.wait_for_order("start")[0]["job"]
        self.assertEqual(next_job, waiting[0])

    def test_kill_between_any_two_submissions(self):
        """Whatever was answered 201 is there after a kill, and a key is never used twice."""
        accepted = []
        stop = threading.Event()

        def submit_all():
            number = 0
            while not stop.is_set():
                try:
                    reply = self.daemon.submit(spec(f"s-{number}"), Idempotency_Key=f"key-{number}")
                    if reply.status in (200, 201):
                        accepted.append(reply.json()["jobs"][0]["id"])
                        number += 1
                except OSError:
                    time.sleep(0.01)  # killed; the same key again

        thread = threading.Thread(target=submit_all)
        thread.start()
        for kills in range(1, 4):
            wait_for(lambda: len(accepted) >= 20 * kills, "submissions")
            self.daemon.kill()
            self.daemon.start()
        stop.set()
        thread.join()
        listed = self.daemon.get("/jobs?name=s-&limit=1000").json()["jobs"]
        names = [job["name"] for job in listed]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(accepted), {job["id"] for job in listed})

    def test_one_key_from_many_clients_makes_one_experiment(self):
        replies = []

        def submit():
            replies.append(self.daemon.submit(spec("same"), Idempotency_Key="same"))

        threads = [threading.Thread(target=submit) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(reply.status for reply in replies), [200] * 7 + [201])
        self.assertEqual(len({reply.json()["experiment"]["id"] for reply in replies}), 1)


class StuckTest(unittest.TestCase):
    def test_a_rank_that_never_ends_holds_its_gang_no_longer_than_its_deadline(self):
        with Daemon("--stop-within", "31s") as daemon:
            well, stuck = Agent(daemon, "node-1"), Agent(daemon, "node-2")
            for agent in (well, stuck):
                agent.tell()
            wait_for(lambda: len(daemon.get("/nodes").json()["nodes"]) == 2, "both nodes")
            job = daemon.submit(spec("gang", devices=2)).json()["jobs"][0]["id"]
            for agent in (well, stuck):
                agent.run(agent.wait_for_order("start"))
            for _ in range(2):
                reply = daemon.request("POST", f"/api/v1/jobs/{job}/cancel", token=USER)
                self.assertEqual((reply.status, reply.json()["state"]), (202, "stopping"))
            self.assertIn("to end, at most until", reply.json()["reason"])
            well.finish()
            next_job = daemon.submit(spec("next")).json()["jobs"][0]["id"]
            [launch] = well.wait_for_order("start")
            self.assertEqual(launch["job"], next_job, "the gang's other device is free already")

            def ended():
                time.sleep(1)
                stuck.tell()
                return daemon.get(f"/jobs/{job}").json()["state"] == "cancelled"

            wait_for(ended, "the job to end without its rank")
            node = daemon.get("/nodes/node-2").json()
            self.assertIn(f"could not end rank 1 of job {job} (process 4000)", node["drain"]["reason"])


if __name__ == "__main__":
    unittest.main()

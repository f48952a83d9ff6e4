"""The live stream of a real daemon: order, resuming, resets and narrowing."""

import unittest

from daemon import USER, Agent, Daemon, spec


class LiveTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.agent = Agent(self.daemon)
        self.agent.orders()

    def tearDown(self):
        self.daemon.close()

    def submit(self, name):
        return self.daemon.submit(spec(name)).json()["jobs"][0]["id"]

    def test_it_resumes_where_it_was_cut(self):
        live = self.daemon.live()
        first = self.submit("first")
        last_id, _, _ = live.until(lambda name, data: name == "job" and data["id"] == first)
        live.close()
        second = self.submit("second")
        live = self.daemon.live(last_id)
        seen_id, _, _ = live.until(lambda name, data: name == "job" and data["id"] == second)
        self.assertGreater(seen_id, last_id)
        live.close()

    def test_it_begins_at_the_position_health_gives(self):
        position = self.daemon.get("/health").json()["live_id"]
        self.submit("unseen")
        live = self.daemon.live(position)
        _, name, _ = live.next()
        self.assertEqual(name, "reset")  # nobody listened, so the message was never made
        live.close()

    def test_of_two_readings_the_newer_is_known_by_its_revision(self):
        live = self.daemon.live()
        submitted = self.daemon.submit(spec("ordered")).json()["jobs"][0]
        job = submitted["id"]
        told_id, _, told = live.until(lambda name, data: name == "job" and data["id"] == job)
        detail = self.daemon.get(f"/jobs/{job}").json()
        listed = self.daemon.get("/jobs").json()["jobs"][0]
        held = self.daemon.request("POST", f"/api/v1/jobs/{job}/hold", token=USER).json()
        node = self.daemon.get("/nodes").json()["nodes"][0]
        body = {"reason": "x"}
        drained = self.daemon.request("POST", "/api/v1/nodes/node-1/drain", body, USER)
        readings = [detail, listed, held, node, drained.json(), self.daemon.get("/nodes/node-1").json()]
        self.assertLess(told["revision"], told_id, "it was read before it was told")
        for before, after in zip([{"revision": told_id}, *readings], readings):
            self.assertLess(before["revision"], after["revision"])
        live.until(lambda name, data: name == "node" and data["drain"] and data["revision"] > node["revision"])
        live.close()
        resumed = self.daemon.live(detail["revision"])
        self.assertTrue(resumed.until(lambda name, data: name == "job" and data["id"] == job)[2]["held"])
        resumed.close()

    def test_ids_of_another_life_are_reset(self):
        for last_id in (0, 5, 1 << 52):
            live = self.daemon.live(last_id)
            self.assertEqual(live.next()[1], "reset")
            live.close()
        live = self.daemon.live()
        job = self.submit("before")
        last_id, _, _ = live.until(lambda name, _: name == "job")
        live.close()
        self.daemon.kill()
        self.daemon.start()
        live = self.daemon.live(last_id)
        self.assertEqual(live.next()[1], "reset")
        live.close()
        self.assertEqual(self.daemon.get(f"/jobs/{job}").status, 200)

    def test_a_node_is_seen_when_it_has_reported_and_not_when_the_coordinator_started(self):
        before = self.daemon.get("/nodes/node-1").json()["last_seen_ms"]
        self.assertIsInstance(before, int)
        self.daemon.kill()
        self.daemon.start()
        for path in ("/nodes", "/nodes/node-1"):
            answer = self.daemon.get(path).json()
            node = answer["nodes"][0] if "nodes" in answer else answer
            self.assertEqual((node["state"], node["last_seen_ms"]), ("up", None))
        live = self.daemon.live()
        self.agent.interrupted = True
        self.agent.orders()
        told = live.until(lambda name, data: name == "node")[2]
        self.assertGreater(told["last_seen_ms"], before)
        self.assertGreater(self.daemon.get("/nodes/node-1").json()["last_seen_ms"], before)
        live.close()

    def test_nodes_are_told_of_when_they_change_and_for_nobody_elses_sake(self):
        for i in range(5):
            Agent(self.daemon, f"idle-{i}", devices=0).orders()
        live = self.daemon.live()
        job = self.submit("runs")
        told = []

        def node_with(holder):
            def wanted(name, data):
                if name == "node":
                    told.append(data["id"])
                return name == "node" and data["devices"][0]["job"] == holder
            return wanted

        live.until(node_with(job))
        self.agent.run(self.agent.wait_for_order("start"))
        self.agent.finish()
        live.until(node_with(None))
        self.assertEqual(set(told), {"node-1"})
        drained = self.daemon.request("POST", "/api/v1/nodes/idle-3/drain", {}, USER)
        self.assertEqual(drained.status, 200)
        self.assertEqual(live.until(lambda name, _: name == "node")[2]["id"], "idle-3")
        live.close()

    def test_what_is_never_on_disk_is_told_too(self):
        odd = Agent(self.daemon, "odd")
        odd.orders()
        live = self.daemon.live()
        odd.tasks = [{"job": 99, "attempt": 1, "rank": 0, "state": "running", "pid": 4000}]
        odd.tell()
        live.until(lambda name, data: name == "node" and data["unknown"] is not None)
        adopted = self.daemon.request("POST", "/api/v1/nodes/odd/adopt", {"stop": False}, USER)
        self.assertEqual(adopted.status, 200, adopted.body)
        live.until(lambda name, data: name == "node" and data["unknown"]["adopted"] == "keep")
        odd.tasks = []
        odd.tell()
        live.until(lambda name, data: name == "node" and data["unknown"] is None)
        live.close()

    def test_it_narrows_to_one_job(self):
        first = self.submit("first")
        live = self.daemon.live(query=f"?job={first}")
        second = self.submit("second")
        self.daemon.request("POST", f"/api/v1/jobs/{second}/cancel", token=USER)
        self.daemon.request("POST", f"/api/v1/jobs/{first}/cancel", token=USER)
        self.assertEqual(live.next()[2]["id"], first)
        live.close()

    def test_a_slow_reader_costs_the_others_nothing(self):
        slow = self.daemon.live()
        for i in range(300):
            self.submit(f"n-{i}")
        live = self.daemon.live()
        job = self.submit("last")
        live.until(lambda name, data: name == "job" and data["id"] == job)
        slow.until(lambda name, data: name == "reset" or (name == "job" and data["id"] == job))
        live.close()
        slow.close()


if __name__ == "__main__":
    unittest.main()

"""Energy and cost of jobs from a real daemon, beside sums of what the nodes of this test have reported."""

import subprocess
import time
import unittest

from daemon import BINARY, Agent, Daemon, chunk, metric_lines, spec, wait_for

GPU_WATTS, PRICE = 250.0, 3.6
DEVICES = [{"index": i, "kind": "gpu", "model": "NVIDIA Test", "uuid": f"GPU-{i}"} for i in range(2)]


class Node(Agent):
    """A node whose two GPUs draw the same power all the time, and whose processors draw 100 J from one report to the next."""

    def __init__(self, daemon, name="node-1", gpus=False):
        super().__init__(daemon, name, devices=2)
        self.package_joules = None
        if gpus:
            self.node["devices"] = DEVICES
            self.readings = [{"device": i, "power": GPU_WATTS} for i in range(2)]

    def report(self):
        if self.package_joules is None:
            return super().report()
        self.package_joules += 100
        return super().report() | {"package_joules": self.package_joules}


def gpu_spec(name, devices=2, extra=""):
    return spec(name, devices, extra).replace("kind: cpu", "kind: gpu")


class CostsTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--price", "gpu=1.80", "--price", f"gpu/nvidia test={PRICE}", "--price", "cpu=0.36",
                             "--currency", "EUR")

    def tearDown(self):
        self.daemon.close()

    def start(self, node, text):
        reply = self.daemon.submit(text)
        self.assertEqual(reply.status, 201, reply.body)
        job = reply.json()["jobs"][0]["id"]
        launches = node.wait_for_order("start")
        node.run(launches)
        return job, launches

    def ledger(self, job):
        return self.daemon.get(f"/jobs/{job}/ledger").json()

    def settled(self, job):
        """Of all nodes together it is written once a second."""
        time.sleep(2.5)
        return self.ledger(job)

    def train(self, node, reports):
        for _ in range(reports):
            time.sleep(0.3)
            node.tell()

    def test_a_gpu_job_drew_its_power_for_the_time_that_it_held_them(self):
        node = Node(self.daemon, gpus=True)
        node.orders()
        job, launches = self.start(node, gpu_spec("drawing", extra="target: {metric: score, at_least: 1}\n"))
        self.train(node, 5)
        self.assertEqual(node.deliver(chunk(launches[0], "events", 0, metric_lines(1, 1, "score"))).status, 200)
        self.train(node, 5)
        node.finish()
        wait_for(lambda: self.ledger(job)["energy"]["covered"] > 0.95, "the last reading to be on disk")
        ledger = self.ledger(job)
        held, energy, cost = ledger["held_device_ms"] / 1000, ledger["energy"], ledger["cost"]
        self.assertGreater(held, 2 * 3.0)
        self.assertAlmostEqual(energy["joules"], GPU_WATTS * held * energy["covered"], delta=1)
        self.assertGreater(energy["covered"], 0.95)
        self.assertEqual(energy["shared"], 0)
        self.assertIsNone(energy["samples"], "a program tells no samples")
        self.assertIsNone(energy["joules_per_sample"])
        self.assertAlmostEqual(cost["amount"], held / 3600 * PRICE, delta=1e-9)
        self.assertEqual(cost["currency"], "EUR")
        self.assertEqual([(part["kind"], part["model"], part["per_device_hour"]) for part in cost["parts"]],
                         [("gpu", "NVIDIA Test", PRICE)])

        detail = self.daemon.get(f"/jobs/{job}").json()
        self.assertIsNotNone(detail["target"]["reached_ms"])
        until = detail["target"]["reached_ms"]
        before = sum((min(piece["to_ms"], until) - piece["from_ms"]) * piece["devices"] for piece in ledger["pieces"]
                     if piece["attempt"] > 0 and piece["from_ms"] < until) / 1000
        self.assertAlmostEqual(cost["to_target"], before / 3600 * PRICE, delta=1e-9)
        self.assertAlmostEqual(energy["joules_to_target"], GPU_WATTS * before, delta=GPU_WATTS * 0.4)

        outcomes = {o["measure"]: o["values"] for o in self.daemon.get(f"/compare?job={job}").json()["outcomes"]}
        self.assertEqual(outcomes["energy"], [energy["joules"]])
        self.assertEqual(outcomes["cost"], [cost["amount"]])

    def test_a_kill_loses_what_was_not_measured_and_counts_nothing_twice(self):
        node = Node(self.daemon, gpus=True)
        node.orders()
        job, _ = self.start(node, gpu_spec("killed"))
        self.train(node, 4)
        before = self.settled(job)["energy"]["joules"]
        self.assertGreater(before, 0)
        self.daemon.kill()
        time.sleep(1.5)
        self.daemon.start()
        node.interrupted = True
        node.orders()
        node.interrupted = False
        after = self.ledger(job)["energy"]["joules"]
        self.assertGreaterEqual(after, before)
        self.assertLess(after, before + GPU_WATTS * 2 * 0.5, "what was on its way to the disk, and nothing guessed")
        self.train(node, 4)
        node.finish()
        ledger = self.settled(job)
        held, energy = ledger["held_device_ms"] / 1000, ledger["energy"]
        self.assertLess(energy["joules"], GPU_WATTS * (held - 2 * 4), "the time without a coordinator is absent")
        self.assertGreater(energy["joules"], GPU_WATTS * (held - 2 * 6.5))
        self.assertAlmostEqual(energy["joules"], GPU_WATTS * held * energy["covered"], delta=1)
        self.assertLess(energy["covered"], 0.95)
        outcomes = {o["measure"] for o in self.daemon.get(f"/compare?job={job}").json()["outcomes"]}
        self.assertNotIn("energy", outcomes, "half of a job's energy is not compared with all of another's")

    def test_packages_are_the_jobs_that_has_the_node_for_itself(self):
        node = Node(self.daemon)
        node.package_joules = 0
        node.orders()
        job, _ = self.start(node, spec("alone"))
        first = node.package_joules
        self.train(node, 3)
        energy = self.settled(job)["energy"]
        # tell() sends two reports and waits for one; what was measured last may be on its way to the disk.
        self.assertGreater(energy["joules"], node.package_joules - first - 300)
        self.assertLessEqual(energy["joules"], node.package_joules)
        reply = self.daemon.submit(spec("other")).json()["jobs"][0]["id"]
        alone = energy["joules"]
        launches = [launch for launch in node.wait_for_order("start")]
        mine = node.tasks
        node.run(launches)
        node.tasks = mine + node.tasks
        self.train(node, 2)  # what was measured before they shared is on disk
        settled = self.settled(job)["energy"]["joules"]
        self.train(node, 3)
        shared = self.settled(job)["energy"]
        self.assertEqual(shared["joules"], settled, "nobody can say whose it is")
        self.assertGreater(shared["shared"], 0)
        other = self.ledger(reply)["energy"]
        self.assertIsNone(other["joules"], "absent, not zero")
        self.assertGreater(other["shared"], 0)
        self.assertGreaterEqual(settled, alone)

    def test_what_cannot_be_measured_or_priced_is_absent(self):
        self.daemon.close()
        self.daemon = Daemon()
        node = Node(self.daemon)
        node.orders()
        job, _ = self.start(node, spec("plain"))
        self.train(node, 2)
        node.finish()
        ledger = self.ledger(job)
        self.assertIsNone(ledger["energy"])
        self.assertIsNone(ledger["cost"])
        outcomes = {o["measure"] for o in self.daemon.get(f"/compare?job={job}").json()["outcomes"]}
        self.assertEqual(outcomes & {"energy", "cost", "energy_to_target", "cost_to_target"}, set())

    def test_prices_that_make_no_sense_are_refused_with_advice(self):
        for options, words in ((("--price", "gpu:2"), "write KIND=AMOUNT"), (("--price", "gpu=2"), "--currency"),
                               (("--price", "gpu=2", "--price", "gpu=3", "--currency", "USD"), "given twice for gpu"),
                               (("--price", "gpu/nvidia h200=2", "--price", "gpu/NVIDIA H200=3", "--currency", "USD"),
                                "given twice for gpu/NVIDIA H200")):
            ended = subprocess.run([BINARY, "--home", "/proc/none", *options], capture_output=True, text=True)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(words, ended.stdout + ended.stderr)


if __name__ == "__main__":
    unittest.main()

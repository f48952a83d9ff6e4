"""GET /jobs/{id}/projection of a real daemon: what it foretells from half a curve is held against the curve's end."""

import json
import unittest

from daemon import Agent, Daemon, chunk, spec

PACE_MS = 2000  # of a step
EVERY = 50  # steps between evaluations


def loss(step):
    return 1.5 + 20 / (step + 100) ** 0.5


def truth_of(target):
    return (20 / (target - 1.5)) ** 2 - 100


def events(start_ms, evaluations):
    lines = [{"type": "started", "t": start_ms, "step": 0, "steps": 100_000}]
    for step in range(EVERY, EVERY * (evaluations + 1), EVERY):
        lines.append({"type": "metrics", "t": start_ms + step * PACE_MS, "step": step, "values": {"eval/loss": loss(step)}})
    return ("\n".join(map(json.dumps, lines)) + "\n").encode()


class ProjectionTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.agent = Agent(self.daemon)
        self.agent.orders()

    def tearDown(self):
        self.daemon.close()

    def run_job(self, target, evaluations):
        reply = self.daemon.submit(spec("train", extra=f"target: {{metric: eval/loss, at_most: {target}}}"))
        self.assertEqual(reply.status, 201, reply.body)
        job = reply.json()["jobs"][0]["id"]
        (launch,) = self.agent.wait_for_order("start")
        self.agent.run([launch])
        self.assertEqual(self.agent.deliver(chunk(launch, "events", 0, events(1000, evaluations))).status, 200)
        return job, self.daemon.get(f"/jobs/{job}/projection").json()

    def test_it_tells_step_and_time_of_the_target(self):
        target = 1.85
        truth = truth_of(target)
        _, told = self.run_job(target, int(truth / 2 / EVERY))
        self.assertEqual((told["metric"], told["doubt"]), ("eval/loss", ""))
        self.assertLess(abs(told["step"]["p50"] - truth), 0.1 * truth, told)
        self.assertLessEqual(told["step"]["p10"], truth)
        self.assertGreaterEqual(told["step"]["p90"], truth)
        self.assertGreater(told["reaches"], 0.9)
        steps, at_ms, low, middle, high = (*told["fan"][0][:1], told["time_ms"]["p50"], *told["fan"][0][1:])
        self.assertLessEqual(low, middle)
        self.assertLessEqual(middle, high)
        self.assertAlmostEqual(middle, loss(steps), delta=0.02)
        left = told["step"]["p50"] - int(truth / 2 / EVERY) * EVERY
        newest = told["time_ms"]["p50"] - left * PACE_MS
        self.assertAlmostEqual(told["ends_ms"], newest + (100_000 - steps) * PACE_MS, delta=PACE_MS)
        self.assertEqual(at_ms, told["time_ms"]["p50"])

    def test_it_says_why_it_cannot_tell(self):
        _, few = self.run_job(1.85, 3)
        self.assertEqual(few["doubt"], "its curve has 3 points; 6 are needed")
        self.assertEqual(few["step"], {"p10": None, "p50": None, "p90": None})
        self.agent.finish()

        job, done = self.run_job(loss(500), 20)
        self.assertEqual(done["doubt"], "it has reached its target")
        reached = self.daemon.get(f"/jobs/{job}").json()["target"]["reached_step"]
        self.assertEqual(reached, 500)


if __name__ == "__main__":
    unittest.main()

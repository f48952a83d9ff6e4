"""What a scheduled job logs over MLflow's API: it reaches the job's target and its sweep."""

import time
import unittest

from daemon import Agent, Daemon, spec, wait_for
from mlflow_daemon import Client


class JobsTest(unittest.TestCase):
    """Metrics that a scheduled job logs over MLflow's API count as those that it tells in its events."""

    BERT = ("version: 1\nname: job\nmodel: {preset: bert-tiny, vocab: 1000}\n"
            "data: {train: a.txt, tokenizer: {wordpiece: v.txt}}\n"
            "training: {optimizer: {lr: 1.0e-3}, schedule: {steps: 100}, batch: {global: 8, micro: 1}}\n"
            "evaluate: {every: 20 steps, data: b.txt}\nresources: {devices: 1, kind: cpu, walltime: 1h}\n")

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = Client(self.daemon)
        self.agent = Agent(self.daemon, devices=4)
        self.agent.orders()

    def start(self, text):
        """Runs the jobs of a spec; returns the runs of these."""
        jobs = [job["id"] for job in self.daemon.submit(text).json()["jobs"]]
        self.launches = self.agent.wait_for_order("start")
        self.agent.run(self.launches)
        wait_for(lambda: all(self.job(job)["state"] == "running" for job in jobs), "the jobs to run")
        cluster = self.client.start()[:16]
        return [cluster + f"{job:016x}" for job in jobs]

    def job(self, number):
        return self.daemon.get(f"/jobs/{number}").json()

    def test_a_logged_metric_reaches_the_target_and_tells_progress(self):
        benchmark = "target: {metric: eval/mlm_loss, at_most: 1}\n"
        [run] = self.start(self.BERT + benchmark)
        started = self.job(1)["started_ms"]
        wait_for(lambda: time.time() * 1000 > started + 100, "the times of the points")
        self.client.log(run, "eval/mlm_loss", 3, started + 1, step=20)
        self.assertEqual(self.job(1)["progress"]["step"], 20)
        self.assertIsNone(self.job(1)["target"]["reached_ms"])
        points = [{"key": key, "value": value, "timestamp": started + step, "step": step}
                  for step, value in ((40, 0.75), (60, 0.5)) for key in ("train/loss", "eval/mlm_loss")]
        self.client.post("runs/log-batch", run_id=run, metrics=points)
        self.client.log(run, "eval/mlm_loss", 0.25, started + 80, step=80)
        job = self.job(1)
        self.assertEqual(job["target"]["reached_step"], 40, job)
        self.assertAlmostEqual(job["time_to_train_seconds"], 0.04)
        self.assertEqual(job["progress"]["step"], 80)
        self.client.log(run, "test/accuracy", 0.5, started + 90)
        self.client.log(run, "system/cpu_utilization_percentage", 50, started + 90, step=5000)
        self.assertEqual(self.job(1)["progress"]["step"], 80, "neither a figure without a step nor MLflow's own samples")
        self.assertEqual(self.job(1)["attempts"][0]["last_step"], 80)
        told = [event["text"] for event in self.daemon.get("/jobs/1/events").json()["events"]]
        self.assertEqual([text for text in told if "reached its target" in text],
                         ["eval/mlm_loss reached its target with 0.75 at step 40"])

    def test_a_time_in_the_future_is_now(self):
        [run] = self.start(self.BERT + "target: {metric: eval/mlm_loss, at_most: 1}\n")
        self.client.log(run, "eval/mlm_loss", 0.5, 2**62, step=20)
        self.assertLess(self.job(1)["time_to_train_seconds"], 3600)

    def test_a_logged_metric_is_told_to_the_sweep_of_the_trial(self):
        runs = self.start(self.BERT + "sweep:\n  training.optimizer.lr: [1.0e-3, 1.0e-2]\n"
                                      "  asha: {metric: eval/mlm_loss, min_steps: 20, reduction: 2}\n")
        trial = lambda: self.daemon.get("/studies/1").json()["members"][0]["trial"]
        self.client.log(runs[0], "eval/mlm_loss", 7, 1, step=19)
        self.client.log(runs[0], "train/loss", 7, 1, step=20)
        self.assertEqual(trial()["reports"], [])
        self.client.log(runs[0], "eval/mlm_loss", 5, 1, step=20)
        self.client.log(runs[0], "eval/mlm_loss", 4, 1, step=21)
        self.assertEqual(trial()["reports"], [{"rung": 1, "step": 20, "value": 5.0}])
        wait_for(lambda: self.job(1)["state"] == "stopping", "the first to tell is paused")


if __name__ == "__main__":
    unittest.main()

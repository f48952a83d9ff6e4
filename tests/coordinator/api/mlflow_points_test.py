"""Points of MLflow's metrics: repeats, extremes, histories and limits."""

import threading
import unittest

from mlflow_daemon import INVALID, MISSING, MlflowTest


class MetricsTest(MlflowTest):
    def test_a_page_of_a_history_ends_at_32_mib(self):
        c = self.client
        run, key, count = c.start(), "m" * 250, 105_000
        for first in range(0, count, 1000):
            c.post("runs/log-batch", run_id=run,
                   metrics=[{"key": key, "value": 1, "timestamp": 1, "step": step} for step in range(first, first + 1000)])
        page = c.get("metrics/get-history", run_id=run, metric_key=key)
        self.assertLess(len(page["metrics"]), count)
        rest = c.get("metrics/get-history", run_id=run, metric_key=key, page_token=page["next_page_token"])
        self.assertEqual([p["step"] for p in page["metrics"] + rest["metrics"]], list(range(count)))

    def test_many_points_at_one_step(self):
        c = self.client
        run = c.start()
        for value, timestamp in ((1, 30), (2, 10), (3, 20), (5, 30), (4, 30), (5, 30), (2, 10)):
            c.log(run, "loss", value, timestamp)
        self.assertEqual(c.history(run, "loss"), [(0, 10, 2), (0, 20, 3), (0, 30, 1), (0, 30, 4), (0, 30, 5)])
        self.assertEqual(c.latest(run)["loss"], (0, 30, 5.0))
        c.log(run, "loss", 9, 1, step=-3)
        self.assertEqual(c.latest(run)["loss"], (0, 30, 5.0))
        c.log(run, "loss", 8, 1, step=7)
        self.assertEqual(c.latest(run)["loss"], (7, 1, 8.0))
        self.assertEqual(c.history(run, "loss")[0], (-3, 1, 9))
        summary = self.daemon.get(f"/jobs/{self.job_of(run)}/metrics").json()
        self.assertEqual(summary["metrics"][0]["max"], 9)

    def test_a_batch_of_repeats_in_any_order(self):
        c = self.client
        run = c.start()
        points = [(step, time, step * 10 + time) for step in (5, 1, 3) for time in (2, 1, 3)]
        as_metrics = [{"key": "m", "value": v, "timestamp": t, "step": s} for s, t, v in points]
        c.post("runs/log-batch", run_id=run, metrics=as_metrics)
        c.post("runs/log-batch", run_id=run, metrics=as_metrics[::-1])
        c.post("runs/log-batch", run_id=run, metrics=as_metrics[:2] + [{"key": "m", "value": 1, "timestamp": 9, "step": 3}])
        self.assertEqual(c.history(run, "m"), sorted(points + [(3, 9, 1)]))
        self.assertEqual(c.latest(run)["m"], (5, 3, 53.0))

    def test_values_and_numbers_at_their_extremes(self):
        c = self.client
        run = c.start()
        for step, value in enumerate(("NaN", "Infinity", "-Infinity", 1.7976931348623157e308, 5e-324, -0.0, 0.1)):
            c.log(run, "v", value, str(2**63 - 1), step=step)
        values = [value for _, _, value in c.history(run, "v")]
        self.assertEqual(values, ["NaN", "Infinity", "-Infinity", 1.7976931348623157e308, 5e-324, -0.0, 0.1])
        for number, step in enumerate((-(2**63), 2**63 - 1, "12")):
            c.log(run, "s", 1, 1, step=step)
            self.assertEqual(c.latest(run)["s"], ((-(2**63), 1, 1.0), (2**63 - 1, 1, 1.0))[number > 0])
        self.assertEqual([s for s, _, _ in c.history(run, "s")], [-(2**63), 12, 2**63 - 1])
        for fields in (dict(step=2**63), dict(step=1.5), dict(timestamp=-1), dict(value="one"), dict(value=None), dict(timestamp=None)):
            c.post("runs/log-metric", **{"run_id": run, "key": "s", "value": 1, "timestamp": 1, **fields}, **INVALID)
        c.log(run, "negative", 3, 1, step=-1)
        self.assertEqual(c.latest(run)["negative"], (-1, 1, 3.0))
        c.log(run, "negative", 4, 0, step=0)
        self.assertEqual(c.history(run, "negative"), [(-1, 1, 3), (0, 0, 4)])
        c.log(run, "nan", "NaN", 1)
        c.log(run, "nan", "NaN", 1)
        self.assertEqual(c.history(run, "nan"), [(0, 1, "NaN")])

    def test_history_in_pages(self):
        c = self.client
        run = c.start()
        points = sorted((i // 3, 100 - i % 3, float(i)) for i in range(1000))
        c.post("runs/log-batch", run_id=run, metrics=[{"key": "m", "value": v, "timestamp": t, "step": s} for s, t, v in points])
        got, token = [], None
        while True:
            page = c.get("metrics/get-history", run_id=run, metric_key="m", max_results=77, **({"page_token": token} if token else {}))
            self.assertLessEqual(len(page["metrics"]), 77)
            got += [(p["step"], p["timestamp"], p["value"]) for p in page["metrics"]]
            token = page.get("next_page_token")
            if not token:
                break
        self.assertEqual(got, points)
        self.assertEqual(c.history(run, "none"), [])
        c.get("metrics/get-history", run_id=run, metric_key="m", page_token="x", **INVALID)
        c.get("metrics/get-history", run_id=run, **INVALID)
        c.get("metrics/get-history", run_id="0" * 32, metric_key="m", **MISSING)

    def test_more_metrics_than_a_run_may_have(self):
        c = self.client
        run = c.start()
        for start in range(0, 20000, 1000):
            c.post("runs/log-batch", run_id=run, metrics=[{"key": f"m{i}", "value": 1, "timestamp": 1} for i in range(start, start + 1000)])
        message = c.post("runs/log-batch", run_id=run, metrics=[{"key": "m0", "value": 2, "timestamp": 2}, {"key": "more", "value": 1, "timestamp": 1}], **INVALID)["message"]
        self.assertIn("20000", message)
        self.assertEqual(c.history(run, "m0"), [(0, 1, 1)])
        c.log(run, "m0", 2, 2)
        self.assertEqual(len(c.latest(run)), 20000)

    def test_many_clients_at_once(self):
        c = self.client
        runs = [c.start() for _ in range(4)]

        def work(number):
            for step in range(50):
                c.log(runs[number % 4], f"m{number % 2}", number, number, step=step)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(4):
            both = {n for n in range(8) if n % 4 == number}
            self.assertEqual(c.history(runs[number], f"m{number % 2}"), [(s, n, n) for s in range(50) for n in sorted(both)])


if __name__ == "__main__":
    unittest.main()

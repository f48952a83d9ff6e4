"""The log of MLPerf that a job has written, and results that others published: both of a real coordinator.

    mlperf_test.py PODIUM_COORDINATOR
"""

import json
import unittest

from daemon import MEASURED, USER, Agent, Daemon, chunk, spec, wait_for

LINE = ':::MLLOG {"namespace":"","time_ms":%d,"event_type":"POINT_IN_TIME","key":"seed","value":1,"metadata":{}}\n'
ROW = {"benchmark": "mlperf-bert", "what": "BERT-Large to 0.72 masked-LM accuracy", "hardware": "1xanvil", "devices": 8, "batch": 448,
       "value": 18.752, "unit": "min", "runs": 3, "source": "MLPerf Training v2.0, ACME, closed division", "date": "2022-06"}


class Logs(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon())
        self.agent = Agent(self.daemon, devices=2)
        self.agent.orders()

    def log(self, job):
        return self.daemon.get(f"/jobs/{job}/mlperf")

    def start(self):
        launches = self.agent.wait_for_order("start")
        self.agent.run(launches)
        return launches

    def test_the_newest_attempt_that_tells_any_has_all_of_it(self):
        job = self.daemon.submit(spec("told", 2, "restarts: {max: 0}\n")).json()["jobs"][0]["id"]
        first = self.start()
        missing = self.log(job)
        self.assertEqual(missing.status, 404)
        self.assertIn("mlperf in its spec", missing.json()["detail"])
        one = (LINE % 1).encode()
        # A line may come in two parts, and those of other ranks and of standard error do not count.
        self.agent.deliver(chunk(first[0], "stdout", 0, b"loading\n" + one[:20]))
        self.agent.deliver(chunk(first[1], "stdout", 0, LINE.encode()) + chunk(first[0], "stderr", 0, LINE.encode()))
        self.assertEqual(self.log(job).status, 404)
        self.agent.deliver(chunk(first[0], "stdout", 28, one[20:] + b"done\n"))
        reply = self.log(job)
        self.assertEqual((reply.status, reply.type, reply.body), (200, "text/plain", one))
        self.assertEqual(reply.headers["Content-Disposition"], f'attachment; filename="job-{job}-mlperf.txt"')

        self.agent.finish(code=1)
        wait_for(lambda: self.daemon.get(f"/jobs/{job}").json()["state"] == "failed", "the job's end")
        self.assertEqual(self.daemon.request("POST", f"/api/v1/jobs/{job}/requeue", None, USER).status, 202)
        second = self.start()
        self.assertEqual(self.log(job).body, one)  # the second has told nothing yet
        both = one + (LINE % 2).encode()
        self.agent.deliver(chunk(second[0], "stdout", 0, both))
        self.assertEqual(self.log(job).body, both)

    def test_a_log_that_is_cut_is_none(self):
        mebibyte = 1 << 20
        lines = (LINE.encode() % 1) * (mebibyte // len(LINE % 1))
        noise = b"step\n" * (mebibyte // 5)
        for name, parts in (("long", [lines] * 17), ("late", [LINE.encode() % 1] + [noise] * 65)):
            job = self.daemon.submit(spec(name, 2)).json()["jobs"][0]["id"]
            launches = self.start()
            at = 0
            for part in parts:
                self.agent.deliver(chunk(launches[0], "stdout", at, part))
                at += len(part)
            reply = self.log(job)
            self.assertEqual(reply.status, 422, name)
            self.assertIn("cannot be told whole", reply.json()["detail"])
            self.agent.finish(code=0)

    def test_a_log_of_which_something_was_not_kept_is_none(self):
        noise = b"step\n" * ((1 << 20) // 5)
        with Daemon("--log-limit", "4MB") as daemon:
            agent = Agent(daemon)
            agent.orders()
            for name, begin, status, words in (("gap", LINE.encode() % 1, 422, "bytes of its output were not kept"),
                                               ("none", b"", 404, "has told no line of a log of MLPerf that is found here")):
                job = daemon.submit(spec(name)).json()["jobs"][0]["id"]
                launches = agent.wait_for_order("start")
                agent.run(launches)
                at = 0
                for part in [begin] + [noise] * 8:
                    self.assertEqual(agent.deliver(chunk(launches[0], "stdout", at, part)).status, 200)
                    at += len(part)
                agent.finish()

                def told():
                    reply = daemon.get(f"/jobs/{job}/mlperf")
                    return reply.status == status and words in reply.json()["detail"]

                wait_for(told, "the output that is dropped")

    def test_an_attempt_that_may_find_no_log_knows_the_first_start(self):
        for options, trained in ((("--nothing-shared",), True), (("--nothing-shared",), False), ((), True)):
            with Daemon(*options) as daemon:
                agent = Agent(daemon)
                agent.orders()
                job = daemon.submit(MEASURED).json()["jobs"][0]["id"]
                first = agent.wait_for_order("start")
                self.assertIsNone(first[0]["clock"])
                agent.run(first)
                wait_for(lambda: daemon.get(f"/jobs/{job}").json()["started_ms"], "the first start")
                started = daemon.get(f"/jobs/{job}").json()["started_ms"]
                if trained:
                    event = {"type": "started", "t": 1, "step": 0, "steps": 9, "parameters": 1, "device": "cpu:0"}
                    self.assertEqual(agent.deliver(chunk(first[0], "events", 0, json.dumps(event).encode() + b"\n")).status, 200)
                agent.finish(code=1)
                again = agent.wait_for_order("start")
                self.assertEqual(again[0]["clock"], {"first_start_ms": started, "first_steps": 0} if options and trained else None)

    def test_no_such_job(self):
        for job in ("9", "0", "x"):
            self.assertEqual(self.log(job).status, 404)
        self.assertEqual(self.daemon.get("/jobs/9/mlperf?what=1").status, 400)


class Published(unittest.TestCase):
    def post(self, daemon, *rows, token=USER):
        return daemon.request("POST", "/api/v1/published", {"records": list(rows)}, token)

    def rows(self, daemon):
        return [row for row in daemon.get("/published?benchmark=mlperf-bert").json()["published"] if "ACME" in row["source"]]

    def counts(self, reply):
        self.assertEqual(reply.status, 200, reply.body)
        return tuple(reply.json()[key] for key in ("added", "replaced", "unchanged"))

    def test_rows_stay_and_are_not_doubled(self):
        with Daemon() as daemon:
            self.assertEqual(self.counts(self.post(daemon, ROW)), (1, 0, 0))
            self.assertEqual(self.counts(self.post(daemon, ROW)), (0, 0, 1))
            (row,) = self.rows(daemon)
            self.assertEqual({key: row[key] for key in ROW}, ROW)
            self.assertEqual(row["file"], "published.json")
            self.assertEqual(self.counts(self.post(daemon, ROW | {"value": 18.7}, ROW | {"batch": 512})), (1, 1, 0))
            self.assertEqual([(row["batch"], row["value"]) for row in self.rows(daemon)], [(448, 18.7), (512, 18.752)])
            daemon.kill()
            daemon.start()
            self.assertEqual([(row["batch"], row["value"]) for row in self.rows(daemon)], [(448, 18.7), (512, 18.752)])
            self.assertEqual(self.counts(self.post(daemon, ROW | {"value": 18.7})), (0, 0, 1))
            self.assertEqual(daemon.get("/board").json()["benchmarks"], [])  # never among the records

    def test_a_figure_that_every_build_has_is_there_under_any_name(self):
        with Daemon() as daemon:
            shipped = daemon.get("/published?benchmark=mlperf-bert").json()["published"][0]
            row = {key: value for key, value in shipped.items() if value is not None and key != "file"} | {"hardware": "anvils"}
            self.assertEqual(self.counts(self.post(daemon, row)), (0, 0, 1))
            self.assertEqual(self.counts(self.post(daemon, row | {"value": row["value"] + 1})), (1, 0, 0))
            self.assertEqual(self.counts(self.post(daemon, row)), (0, 1, 0))  # of what was imported itself it is news

    def test_what_is_wrong_is_told_and_nothing_kept(self):
        with Daemon() as daemon:
            reply = self.post(daemon, ROW, ROW | {"unit": "parsec", "hardware": ""})
            self.assertEqual(reply.status, 400)
            messages = [error["message"] for error in reply.json()["errors"]]
            self.assertEqual(len(messages), 2, messages)
            self.assertTrue(all("records.1" in message for message in messages), messages)
            for body in ({}, {"records": []}, {"records": 1}, {"records": [ROW], "more": 1}, []):
                self.assertEqual(daemon.request("POST", "/api/v1/published", body, USER).status, 400, body)
            self.assertEqual(self.post(daemon, ROW, token="nobody's").status, 401)
            self.assertEqual(self.rows(daemon), [])
            self.assertFalse((daemon.home / "published.json").exists())

    def test_a_file_that_is_spoilt_is_told(self):
        with Daemon() as daemon:
            self.post(daemon, ROW)
            daemon.terminate()
            file = daemon.home / "published.json"
            document = json.loads(file.read_text())
            document["records"][0]["value"] = -1
            file.write_text(json.dumps(document))
            with self.assertRaises(RuntimeError) as caught:
                daemon.start()
            self.assertIn("records.0.value must be above 0, not -1", str(caught.exception))
            self.assertIn("correct the file, or remove it", str(caught.exception))
            file.unlink()
            daemon.start()


if __name__ == "__main__":
    unittest.main()

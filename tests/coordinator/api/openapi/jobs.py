"""The life of a job, what operators change of it, and what it is compared and repeated by."""

import json
import pathlib
import time

from daemon import USER, Agent, chunk, metric_lines, spec
from openapi.described import Described


class Jobs(Described):
    def test_1_the_life_of_a_job(self):
        source = {"repository": "git@host:specs", "commit": "abc", "path": "a.yaml", "dirty": True}
        body = {"spec": spec("life", 2), "file": "a.yaml", "source": source}
        answer = self.call("POST", "/experiments", 201, body, USER).json()
        job, experiment = answer["jobs"][0]["id"], answer["experiment"]["id"]
        self.assertEqual(answer["experiment"]["source"], source)
        path = f"/jobs/{job}"

        reply = self.agent.sync()
        launches = [task["launch"] for task in self.check("POST", "/nodes/{node}/sync", 200, reply).json()["tasks"]]
        self.assertEqual([launch["rank"] for launch in launches], [0, 1])
        for launch in launches:
            self.assertEqual(launch["spec"]["command"], ["/bin/true"])
            self.assertRegex(launch["master"]["secret"], "^[0-9a-f]{64}$")
        self.agent.run(launches)

        events = metric_lines(1, 50) + b'{"type":"metrics","t":2000,"step":51,"values":{"train/loss":"NaN"}}\n'
        events += b'{"type":"checkpoint","t":2000,"step":40,"path":"step-00000040","bytes":1000,"seconds":0.5}\n'
        streams = chunk(launches[0], "events", 0, events) + chunk(launches[0], "stderr", 0, b"hello\n")
        reply = self.check("POST", "/nodes/{node}/streams", 200, self.agent.deliver(streams))
        self.assertEqual(sorted(p["next"] for p in reply.json()["streams"]), [6, len(events)])

        running = self.call("GET", "/jobs/{job}", path=path).json()
        self.assertEqual(running["state"], "running")
        self.assertEqual(running["latest"], {"train/loss": "NaN"})
        self.assertEqual(running["source"], source)
        self.assertEqual(running["attempts"][0]["tasks"][1]["pid"], 4001)
        self.assertEqual(running["attempts"][0]["tasks"][1]["devices"], [1])
        self.assertIs(running["command"], True)
        node = self.call("GET", "/nodes/{node}", path="/nodes/node-1").json()
        self.assertEqual([device["job"] for device in node["devices"]], [job, job])
        self.call("GET", "/nodes")
        for i in range(3):
            self.assertEqual(Agent(self.daemon, f"page-{i}", devices=0).sync().status, 200)
        names, token = [], ""
        while token is not None:
            page = self.call("GET", "/nodes", path=f"/nodes?limit=2{token}").json()
            self.assertLessEqual(len(page["nodes"]), 2)
            self.assertEqual(page["total"], 4)
            names += [node["id"] for node in page["nodes"]]
            token = "&page_token=" + page["next_page_token"] if "next_page_token" in page else None
        self.assertEqual(names, ["node-1", "page-0", "page-1", "page-2"])
        for query in ("limit=0", "limit=1001", "page_token=a&page_token=b", "what=1"):
            self.call("GET", "/nodes", 400, path="/nodes?" + query)

        saved = self.call("GET", "/jobs/{job}/checkpoints", path=path + "/checkpoints").json()["checkpoints"]
        self.assertEqual([(c["step"], c["bytes"], c["attempt"]) for c in saved], [(40, 1000, 1)])
        self.assertRegex(saved[0]["path"], rf"/{job}/checkpoints/step-00000040$")
        self.assertEqual(self.call("GET", "/jobs/{job}", path=path).json()["checkpoint"], saved[0])
        self.check_ledgers(job)
        metrics = self.call("GET", "/jobs/{job}/metrics", path=path + "/metrics").json()["metrics"]
        self.assertEqual([(m["key"], m["count"], m["last_step"]) for m in metrics], [("train/loss", 51, 51)])
        series = self.call("GET", "/jobs/{job}/series", path=path + "/series?key=train/loss").json()["series"]
        self.assertEqual(series[0]["points"][1], [2, 1002, 0.5])
        self.assertEqual(series[0]["points"][50], [51, 2000, "NaN"])
        some = path + "/series?key=train/loss&first_step=50&last_step=50"
        self.assertEqual(len(self.call("GET", "/jobs/{job}/series", path=some).json()["series"][0]["points"]), 1)
        tracking = self.call("GET", "/jobs/{job}/tracking", path=path + "/tracking").json()
        self.assertTrue(all(text["submitted"] for text in tracking["params"] + tracking["tags"]), tracking)
        self.call("GET", "/jobs/{job}/tracking", 400, path=path + "/tracking?what=1")
        kept = "/api/2.0/mlflow-artifacts/artifacts/" + tracking["artifacts"] + "/folder/file"
        self.assertEqual(self.daemon.request("PUT", kept, b"12345", USER).status, 200)
        listed = self.call("GET", "/jobs/{job}/artifacts", path=path + "/artifacts?path=folder").json()["files"]
        self.assertEqual(listed, [{"name": "file", "folder": False, "bytes": 5}])
        self.call("GET", "/jobs/{job}/artifacts", 400, path=path + "/artifacts?path=../x")
        empty = self.call("GET", "/jobs/{job}/outputs", path=path + "/outputs").json()
        self.assertEqual((empty["available"], empty["outputs"]), (True, []))
        folder = pathlib.Path(self.shared.name) / empty["folder"] / "1/0"
        folder.mkdir(parents=True)
        (folder / "out").write_bytes(b"12345")
        listed = self.call("GET", "/jobs/{job}/outputs", path=path + "/outputs").json()["outputs"]
        self.assertEqual(listed, [{"rank": 0, "path": "out", "bytes": 5}])
        file, part = "/jobs/{job}/outputs/file", path + "/outputs/file?attempt=1&rank=0&path="
        self.assertEqual(self.call("GET", file, path=part + "out").body, b"12345")
        self.assertEqual(self.call("GET", file, 206, path=part + "out", Range="bytes=1-2").body, b"23")
        self.call("GET", file, 404, path=part + "none")
        doubt = self.call("GET", "/jobs/{job}/projection", path=path + "/projection").json()["doubt"]
        self.assertEqual(doubt, "it has no target")
        unknown = self.call("GET", "/jobs/{job}/series", 404, path=path + "/series?key=train/loss&key=train/los").json()
        self.assertEqual(unknown["detail"],
                         f'job {job} has no metric "train/los"; did you mean "train/loss"? It has train/loss')
        log = self.call("GET", "/jobs/{job}/logs", path=path + "/logs?stream=stderr&offset=2")
        self.assertEqual((log.body, log.headers["X-Podium-Next-Offset"]), (b"llo\n", "6"))
        new = {"stdout": [0, 0], "stderr": [2, 0]}
        log = self.call("POST", "/jobs/{job}/logs", 200, new, path=path + "/logs")
        header = {"rank": 0, "stream": "stderr", "offset": 2, "length": 4, "next": 6, "end": 6}
        self.assertEqual((json.loads(log.body.split(b"\n")[0]), log.body.split(b"\n", 1)[1]), (header, b"llo\n"))
        for tail in ({"tail_bytes": 4}, {"tail_lines": 1}):
            log = self.call("POST", "/jobs/{job}/logs", 200, tail | {"stderr": [-1, None]}, path=path + "/logs")
            self.assertTrue(log.body.endswith(b"hello\n"[-tail.get("tail_bytes", 6):]), log.body)
        for wrong in ({"stdout": 1}, {"stdout": [-2]}, {"what": 1}, {"tail_lines": -1}, [], {"attempt": 0}):
            self.call("POST", "/jobs/{job}/logs", 400, wrong, path=path + "/logs")
        for missing in ({"stdout": [0] * 3}, {"attempt": 2, "stdout": [0]}):
            self.call("POST", "/jobs/{job}/logs", 404, missing, path=path + "/logs")

        self.call("GET", "/jobs/{job}/mlperf", 404, path=path + "/mlperf")
        told = b':::MLLOG {"key": "seed"}\n'
        self.agent.deliver(chunk(launches[0], "stdout", 0, b"hello\n0: " + told + told[:9]))
        self.assertEqual(self.call("GET", "/jobs/{job}/mlperf", path=path + "/mlperf").body, b"0: " + told)

        self.agent.finish()
        done = self.call("GET", "/jobs/{job}", path=path).json()
        self.assertEqual((done["state"], done["attempts"][0]["end"]), ("succeeded", "succeeded"))
        self.assertEqual(done["attempts"][0]["tasks"][0]["exit"], {"code": 0, "signal": 0, "message": "", "cause": "program"})
        history = self.call("GET", "/jobs/{job}/events", path=path + "/events?limit=3").json()
        rest = f"{path}/events?page_token={history['next_page_token']}"
        history["events"] += self.call("GET", "/jobs/{job}/events", path=rest).json()["events"]
        self.assertEqual(history["events"][0]["type"], "job_queued")
        self.assertEqual([e["id"] for e in history["events"]], sorted({e["id"] for e in history["events"]}))
        self.call("POST", "/jobs/{job}/cancel", 409, token=USER, path=path + "/cancel")

        self.call("POST", "/nodes/{node}/drain", 200, {}, USER, "/nodes/node-1/drain")
        waiting = self.submit(spec("waiting", 2)).json()["jobs"][0]["id"]
        for operation, states in (("hold", {True}), ("release", {False}), ("requeue", {False}), ("cancel", {False})):
            wish = {"operation": operation, "jobs": [waiting, job, 10_000, waiting]}
            results = self.call("POST", "/jobs/operations", 200, wish, USER).json()["results"]
            self.assertEqual([result["id"] for result in results], [job, waiting, 10_000])
            self.assertEqual({result["job"]["held"] for result in results if "job" in result}, states)
            self.assertEqual([("refusal" in result) for result in results], [True, False, True])
        self.assertEqual(results[1]["job"]["state"], "cancelled")
        for wrong, places in (({"operation": "delete", "jobs": [1]}, ["/operation"]),
                              ({"operation": "hold", "jobs": []}, ["/jobs"]),
                              ({"operation": "hold", "jobs": [1, 0, "2"]}, ["/jobs/1", "/jobs/2"]),
                              ({"operatoin": "hold"}, ["/operation", "/jobs", "/operatoin"]),
                              ({"operation": "hold", "jobs": [1] * 1001}, ["/jobs"]), ([], [""])):
            refused = self.call("POST", "/jobs/operations", 400, wrong, USER).json()
            self.assertEqual([error["where"] for error in refused["errors"]], places)
        self.call("POST", "/jobs/operations", 401, {"operation": "hold", "jobs": [1]})
        named = self.call("GET", "/jobs", path="/jobs?experiment_name=waiting").json()["jobs"]
        self.assertEqual([each["id"] for each in named], [waiting])
        self.call("POST", "/nodes/{node}/resume", 200, {}, USER, "/nodes/node-1/resume")

        listed = self.call("GET", "/experiments/{experiment}", path=f"/experiments/{experiment}").json()
        self.assertEqual((listed["spec"], listed["jobs"]), (body["spec"], [job]))

    def check_ledgers(self, job):
        ledger = self.call("GET", "/jobs/{job}/ledger", path=f"/jobs/{job}/ledger").json()
        self.assertEqual(ledger["pieces"][-1]["kind"], "running", "a program that told no phases")
        self.assertIs(ledger["final"], False)
        for by in ("job", "account", "experiment", "node", "day"):
            table = self.call("GET", "/ledger", path=f"/ledger?by={by}&account=default").json()
            self.assertEqual(sum(row["held_device_ms"] for row in table["rows"]), table["all"]["held_device_ms"])
            self.assertGreater(table["all"]["held_device_ms"], 0)
        none = self.call("GET", "/ledger", path="/ledger?to_ms=1&limit=1&experiment=1&from_ms=0").json()
        self.assertEqual((none["rows"], none["all"]["jobs"], none["all"]["goodput"]), ([], 0, None))
        for query in ("by=week", "limit=0", "experiment=x", "from_ms=-1", "to_ms=0", "what=1"):
            self.call("GET", "/ledger", 400, path="/ledger?" + query)

    def test_1b_operators_change_jobs_that_wait(self):
        self.call("POST", "/nodes/{node}/drain", 200, {}, USER, path="/nodes/node-1/drain")
        first = self.submit(spec("first")).json()["jobs"][0]["id"]
        path = f"/jobs/{first}"
        held = self.call("POST", "/jobs/{job}/hold", 200, token=USER, path=path + "/hold").json()
        self.assertEqual((held["held"], held["reason"]), (True, f"is held; podium release {first} lets it start"))
        second = self.submit(spec("second", extra=f"after: [{{job: {first}}}]")).json()["jobs"][0]
        self.assertEqual(second["reason"], f"waits for job {first} to succeed")
        apart = self.call("GET", "/queue").json()["apart"]
        self.assertEqual([(job["job"], job["blocker"]) for job in apart["jobs"]],
                         [(first, "held"), (second["id"], "follows")])
        raised = self.call("POST", "/jobs/{job}/priority", 200, {"priority": 80}, USER, path=path + "/priority")
        self.assertEqual(raised.json()["priority"], 80)
        for body in ({"priority": 101}, {"priority": 1 << 60}):
            self.call("POST", "/jobs/{job}/priority", 422, body, USER, path=path + "/priority")
        for body in ({}, {"priority": "80"}, {"priority": 80, "x": 1}):
            self.call("POST", "/jobs/{job}/priority", 400, body, USER, path=path + "/priority")
        extended = self.call("POST", "/jobs/{job}/walltime", 200, {"walltime": "96h"}, USER, path=path + "/walltime")
        self.assertEqual(extended.json()["walltime_seconds"], 96 * 3600)
        self.call("POST", "/jobs/{job}/walltime", 422, {"walltime": "1h"}, USER, path=path + "/walltime")
        for body in ({}, {"walltime": 96}, {"walltime": "long"}, {"walltime": "96h", "x": 1}):
            self.call("POST", "/jobs/{job}/walltime", 400, body, USER, path=path + "/walltime")
        self.call("POST", "/jobs/{job}/requeue", 202, token=USER, path=path + "/requeue")
        self.call("POST", "/jobs/{job}/release", 200, token=USER, path=path + "/release")
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=path + "/cancel")
        cancelled = self.call("GET", "/jobs/{job}", path=f"/jobs/{second['id']}").json()
        self.assertEqual((cancelled["state"], cancelled["reason"]),
                         ("cancelled", f"job {first}, which it was to follow, was cancelled"))
        late = self.submit(spec("late", extra=f"after: [{{job: {first}}}]"), 422)
        self.assertIn("was cancelled", late.json()["errors"][0]["message"])
        late = self.submit(spec("late", extra=f"after: [{{job: {first}, when: any}}]")).json()["jobs"][0]["id"]
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{late}/cancel")
        self.call("POST", "/nodes/{node}/resume", 200, {}, USER, path="/nodes/node-1/resume")

    def test_1g_jobs_are_compared(self):
        jobs = [self.submit(spec(f"compared-{i}", extra=f"priority: {i}\n")).json()["jobs"][0]["id"] for i in (1, 2)]
        both = f"job={jobs[0]}&job={jobs[1]}"
        answer = self.call("GET", "/compare", path=f"/compare?{both}&base={jobs[1]}&all=1&metric=eval/*").json()
        self.assertEqual([field["values"] for field in answer["fields"] if field["key"] == "priority"], [[1, 2]])
        self.call("GET", "/compare", 400, path=f"/compare?{both}&base=999999")
        self.call("GET", "/compare", 404, path="/compare?job=999999")
        series = self.call("GET", "/series", path=f"/series?{both}&key=train/loss&points=10").json()
        self.assertEqual(series["lacking"], [{"job": job, "key": "train/loss"} for job in jobs])
        self.call("GET", "/series", 400, path=f"/series?{both}")
        self.call("GET", "/series", 404, path="/series?job=999999&key=a")
        for job in jobs:
            self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")

    def test_1h_a_study_is_shown_with_what_others_published(self):
        answer = self.submit(spec("study", extra="scaling: {devices: [1, 2]}\n")).json()
        study = answer["experiment"]["id"]
        self.assertEqual(self.call("GET", "/studies").json()["studies"][0]["id"], study)
        shown = self.call("GET", "/studies/{study}", path=f"/studies/{study}?published=mlperf-bert").json()
        self.assertEqual([member["job"] for member in shown["members"]], answer["experiment"]["jobs"])
        self.assertEqual(shown["published"], self.call("GET", "/published", path="/published?benchmark=mlperf-bert").json()["published"])
        self.call("GET", "/studies", 400, path="/studies?limit=0")
        self.call("GET", "/studies/{study}", 404, path="/studies/999999")
        self.call("GET", "/studies/{study}", 400, path=f"/studies/{study}?published=none")
        self.call("GET", "/published", 400, path="/published?benchmark=none")
        row = {"benchmark": "own", "what": "a race", "hardware": "anvil", "devices": 8, "value": 2, "unit": "h", "source": "me", "date": "2026"}
        kept = self.call("POST", "/published", 200, {"records": [row]}, USER).json()
        self.assertEqual(kept["published"], self.call("GET", "/published", path="/published?benchmark=own").json()["published"])
        self.call("POST", "/published", 400, {"records": [row | {"unit": "parsec"}]}, USER)
        for job in answer["experiment"]["jobs"]:
            self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")

    def test_1i_a_record_is_held_and_reproduced(self):
        agent = Agent(self.daemon, "records")
        agent.node["labels"] = {"for": "records"}
        agent.orders()
        text = spec("record", extra="target: {metric: loss, at_most: 1}\n").replace("1h}", "1h, nodes: {for: records}}")
        job = self.submit(text).json()["jobs"][0]["id"]
        launches = agent.wait_for_order("start")
        agent.run(launches)
        time.sleep(0.05)
        point = {"type": "metrics", "t": int(1000 * time.time()), "step": 1, "values": {"loss": 0.5}}
        told = chunk(launches[0], "events", 0, json.dumps(point).encode() + b"\n")
        self.assertEqual(agent.deliver(told).status, 200)
        agent.finish()
        (benchmark,) = self.call("GET", "/board").json()["benchmarks"]
        path = "/board/" + benchmark["id"]
        self.assertEqual([run["job"] for run in self.call("GET", "/board/{benchmark}", path=path).json()["all"]], [job])
        self.call("GET", "/board/{benchmark}", 404, path="/board/none")
        self.call("GET", "/board", 400, path="/board?limit=1")
        path = f"/jobs/{job}/reproduce"
        again = self.call("POST", "/jobs/{job}/reproduce", 201, {}, USER, path=path, Idempotency_Key="again").json()["job"]
        self.assertEqual(again["labels"]["reproduces"], str(job))
        self.call("POST", "/jobs/{job}/reproduce", 200, {}, USER, path=path, Idempotency_Key="again")
        for query, body in (("?dry_run=1", {}), ("", {"dry_run": True})):
            for operation in ("reproduce", "cancel", "hold", "release", "requeue"):
                self.call("POST", f"/jobs/{{job}}/{operation}", 400, body, USER, path=f"/jobs/{job}/{operation}{query}")
        for jobs in ("state=", "state=,"):
            self.call("GET", "/jobs", 400, path="/jobs?" + jobs)
        self.call("POST", "/jobs/{job}/reproduce", 404, {}, USER, path="/jobs/999999/reproduce")
        self.call("POST", "/jobs/{job}/reproduce", 401, {}, path=path)
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{again['id']}/cancel")

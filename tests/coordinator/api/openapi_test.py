"""schemas/openapi.yaml is true: every operation is called on a real daemon, and every answer, good or bad, is of the
status, the content type and the shape that the file promises."""

import hashlib
import json
import pathlib
import re
import sys
import time
import unittest
import urllib.parse

import jsonschema
import yaml

from daemon import AGENT, USER, Agent, Daemon, chunk, metric_lines, spec

DOCUMENT = yaml.safe_load(pathlib.Path(sys.argv.pop(1)).read_text())
NO_FILES = bytes.fromhex("28b52ffd" "60" "0003" "032000" "00")  # zstd of 1,024 times 0: a tar archive of nothing


def resolved(node):
    return resolved(lookup(node["$ref"])) if isinstance(node, dict) and "$ref" in node else node


def lookup(reference):
    node = DOCUMENT
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def check_schema(schema, value):
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": DOCUMENT["components"], **schema}
    jsonschema.Draft202012Validator(whole).validate(value)


class OpenapiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.called = set()
        cls.daemon = Daemon()
        cls.agent = Agent(cls.daemon, devices=2)
        cls.agent.orders()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def check(self, method, template, status, reply):
        """Holds `reply` to the description of the operation."""
        self.assertEqual(reply.status, status, reply.body)
        self.called.add((method, template, status))
        responses = DOCUMENT["paths"][template][method.lower()]["responses"]
        described = resolved(responses.get(str(status)) or responses["default"])
        if "content" not in described:
            self.assertEqual(reply.body, b"")
            return reply
        self.assertIn(reply.type, described["content"])
        schema = described["content"][reply.type]["schema"]
        if reply.type.endswith("json"):
            check_schema(schema, reply.json())
        for name, header in described.get("headers", {}).items():
            self.assertIn(name, reply.headers)
        if status >= 400:
            self.assertEqual(reply.json()["status"], status)
            self.assertEqual(reply.json()["request_id"], reply.headers["X-Request-Id"])
        return reply

    def call(self, method, template, status=200, body=None, token=None, path=None, **headers):
        reply = self.daemon.request(method, "/api/v1" + (path or template), body, token, **headers)
        return self.check(method, template, status, reply)

    def submit(self, text, status=201, **headers):
        return self.call("POST", "/experiments", status, {"spec": text, "file": "test.yaml"}, USER, **headers)

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

    def test_1c_code_comes_before_the_spec_that_needs_it(self):
        packed = NO_FILES
        text = spec("code") + "code: {folder: src}\n"
        refused = self.submit(text, 422).json()["errors"][0]
        self.assertIn("packed by \"podium submit\"", refused["message"])
        body = {"spec": text, "file": "test.yaml", "code": "0" * 64}
        self.assertIn("submit it from its folder again", self.call("POST", "/experiments", 422, body, USER).json()["detail"])
        self.call("POST", "/code", 415, packed, USER, Content_Type="text/plain")
        self.call("POST", "/code", 422, b"no archive", USER, Content_Type="application/zstd")
        for path in ("/dev/zero", "../podium.db", "."):
            self.call("POST", "/experiments", 400, body | {"code": path}, USER)
        self.call("POST", "/code", 401, packed, Content_Type="application/zstd")
        posted = self.call("POST", "/code", 201, packed, USER, Content_Type="application/zstd").json()
        self.assertEqual(posted, {"sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)})
        at = "/code/" + posted["sha256"]
        self.assertEqual(self.call("GET", "/code/{sha256}", path=at, token=AGENT).body, packed)
        self.call("GET", "/code/{sha256}", 404, path="/code/nothing")
        self.call("POST", "/nodes/{node}/drain", 200, {}, USER, "/nodes/node-1/drain")  # the job waits
        job = self.call("POST", "/experiments", 201, {**body, "code": posted["sha256"]}, USER).json()["jobs"][0]["id"]
        kept = self.call("GET", "/jobs/{job}", path=f"/jobs/{job}").json()["spec"]["code"]
        self.assertEqual(kept, {"folder": "src", "snapshot": posted["sha256"]})
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")
        file = self.daemon.home / "code" / posted["sha256"]
        file.rename(self.daemon.home / "elsewhere")
        gone = self.call("POST", "/jobs/{job}/requeue", 409, token=USER, path=f"/jobs/{job}/requeue").json()
        self.assertIn(f"the code of job {job} is no longer kept", gone["detail"])
        (self.daemon.home / "elsewhere").rename(file)
        self.call("POST", "/nodes/{node}/resume", 200, {}, USER, "/nodes/node-1/resume")

    def test_1d_code_of_git_comes_with_its_commit(self):
        text = spec("code") + "code: {git: v1.2}\n"
        errors = self.submit(text, 422).json()["errors"]
        self.assertEqual([(e["where"], e["pointer"]) for e in errors], [("test.yaml:6:13", "/code/git")])
        self.assertIn("submit it with that", errors[0]["message"])
        sha256 = self.call("POST", "/code", 201, NO_FILES, USER, Content_Type="application/zstd").json()["sha256"]
        body = {"spec": text, "file": "test.yaml", "code": sha256}
        self.call("POST", "/experiments", 422, body, USER)
        self.call("POST", "/experiments", 400, body | {"code_commit": "v1.2"}, USER)
        job = self.call("POST", "/experiments", 201, body | {"code_commit": "c" * 40}, USER).json()["jobs"][0]["id"]
        kept = self.call("GET", "/jobs/{job}", path=f"/jobs/{job}").json()["spec"]["code"]
        self.assertEqual(kept, {"folder": ".", "git": "v1.2", "commit": "c" * 40, "snapshot": sha256})
        keyed = {"token": USER, "Idempotency_Key": "code-of-git"}
        first = self.call("POST", "/experiments", 201, body | {"code_commit": "c" * 40}, **keyed).json()
        again = self.call("POST", "/experiments", 200, body | {"code_commit": "c" * 40}, **keyed).json()
        self.assertEqual(again["experiment"], first["experiment"])
        for other in ({"code_commit": "d" * 40}, {"code_commit": "c" * 40, "code": "0" * 64}):
            refused = self.call("POST", "/experiments", 409, body | other, **keyed).json()
            self.assertIn("which has another code", refused["detail"])
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{first['jobs'][0]['id']}/cancel")
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")

    def test_1e_several_specs_are_judged_at_once(self):
        wrong = spec("wrong", extra="lable: {}\nafter: [{job: 999999}]\n")
        specs = [{"spec": text, "file": f"{i}.yaml"} for i, text in enumerate((spec("good"), wrong, spec("big", 64)))]
        verdicts = self.call("POST", "/verdicts", 200, {"specs": specs}, USER).json()["verdicts"]
        self.assertEqual([verdict["valid"] for verdict in verdicts], [True, False, False])
        self.assertEqual([error["where"] for error in verdicts[1]["errors"]], ["1.yaml:6:1", "1.yaml:7:8"],
                         "what the scheduler has against it comes in the same round")
        self.assertIn("there is no job 999999", verdicts[1]["errors"][1]["message"])
        self.assertIn("asks for 64 cpu devices", verdicts[2]["errors"][0]["message"])
        both = self.submit(wrong, 422).json()["errors"]
        self.assertEqual([error["message"] for error in both], [error["message"] for error in verdicts[1]["errors"]])
        kind = spec("kind", 64).replace("kind: cpu", "kind: tpu")
        self.assertEqual(len(self.submit(kind, 422).json()["errors"]), 1, "of devices that are unknown nothing is said")
        for body in ({}, {"specs": []}, {"specs": [1]}, {"specs": specs, "more": 1}):
            self.call("POST", "/verdicts", 400, body, USER)
        self.call("POST", "/verdicts", 401, {"specs": specs})

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
        self.call("POST", "/jobs/{job}/reproduce", 404, {}, USER, path="/jobs/999999/reproduce")
        self.call("POST", "/jobs/{job}/reproduce", 401, {}, path=path)
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{again['id']}/cancel")

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
        for job in answer["experiment"]["jobs"]:
            self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")

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

    def test_1c_accounts_are_changed_and_charged(self):
        path = "/accounts/nlp%2Fbert"
        body = {"share": 3, "quota": {"cpu": 1}, "limit": {"cpu": 1}}
        orphan = self.call("POST", "/accounts/{account}", 422, body, USER, path=path).json()
        self.assertIn("make it first: podium accounts set nlp", orphan["errors"][0]["message"])
        unknown = self.submit(spec("unknown", extra="account: nlp"), 422).json()
        self.assertEqual(unknown["errors"][0]["message"], "there is no account nlp; an operator makes it: podium accounts set nlp")
        made = self.call("POST", "/accounts/{account}", 200, {}, USER, path="/accounts/nlp").json()
        self.assertEqual(made, {"account": "nlp", "share": 1, "quota": {}, "limit": {}, "usage": {}, "warnings": []})
        changed = self.call("POST", "/accounts/{account}", 200, body, USER, path=path).json()
        self.assertEqual(changed, {"account": "nlp/bert", **body, "usage": {}, "warnings": []})
        beyond = self.call("POST", "/accounts/{account}", 200, {"quota": {"gpu": 8}}, USER, path="/accounts/nlp").json()
        self.assertEqual(beyond["warnings"], ["account nlp is guaranteed 8 gpu devices, and the cluster has 0"])
        for bad in ({"quota": {"cpu": 2}}, {"quota": {"tpu": 1}}):
            self.call("POST", "/accounts/{account}", 422, bad, USER, path=path)
        lifted = self.call("POST", "/accounts/{account}", 200, {"quota": {"cpu": None}}, USER, path=path).json()
        self.assertEqual((lifted["share"], lifted["quota"], lifted["limit"]), (3, {}, {"cpu": 1}))
        one = self.call("GET", "/accounts/{account}", path=path).json()
        self.assertEqual((one["account"], one["share"], one["limit"]), ("nlp/bert", 3, {"cpu": 1}))
        self.call("GET", "/accounts/{account}", 404, path="/accounts/nobody")
        self.call("GET", "/queue", 400, path="/queue?kind=zzz")
        unknown = self.call("GET", "/jobs", 400, path="/jobs?state=running,foo").json()["detail"]
        self.assertIn('"foo" is no state of a job; they are queued, starting, running', unknown)
        for field, value, message in (("account", "nope", '"nope" is no account'), ("account", "nl", '"nl" is no account'),
                                      ("account", "nlp/bert/x", '"nlp/bert/x" is no account'),
                                      ("experiment", "999", "999 is the number of no experiment"),
                                      ("experiment_name", "nope", '"nope" is the name of no experiment')):
            refused = self.call("GET", "/jobs", 400, path=f"/jobs?{field}={value}").json()["errors"]
            expected = [(field, f'query parameter "{field}" {message}')]
            self.assertEqual([(error["where"], error["message"]) for error in refused], expected)
        both = self.call("GET", "/jobs", 400, path="/jobs?account=nlp&experiment=999&experiment_name=nope").json()["errors"]
        self.assertEqual([error["where"] for error in both], ["experiment", "experiment_name"])
        self.assertEqual(self.call("GET", "/jobs", path="/jobs?account=nlp/bert&name=nope").json()["total"], 0)
        by_label = [self.call("GET", "/jobs", path=f"/jobs?label=team{sign}test").json()["total"] for sign in ":="]
        self.assertEqual((by_label[0] > 0, by_label[0]), (True, by_label[1]))
        names = [a["account"] for a in self.call("GET", "/accounts").json()["accounts"]]
        self.assertEqual([n for n in names if n.startswith("nlp")], ["nlp", "nlp/bert"])
        for body in ([], {"sahre": 3}, {"share": "3"}, {"quota": 3}, {"limit": {"cpu": 1.5}}):
            self.call("POST", "/accounts/{account}", 400, body, USER, path=path)
        for body in ({"share": 0}, {"share": 1 << 60}, {"limit": {"cpu": -1}}):
            self.call("POST", "/accounts/{account}", 422, body, USER, path=path)
        self.call("POST", "/accounts/{account}", 422, {}, USER, path="/accounts/a%20b")
        study = spec("much", 2, extra="account: nlp/bert\nsweep: {labels.seed: [\"1\", \"2\", \"3\"]}")
        refused = self.submit(study, 422).json()["errors"]
        self.assertEqual(len(refused), 1, "three jobs, one mistake")
        self.assertIn("account nlp/bert may hold at most 1 (and so do 2 other jobs)", refused[0]["message"])
        self.assertEqual((refused[0]["where"], refused[0]["pointer"]), ("test.yaml:6:10", "/account"))
        checked = self.call("POST", "/validate", 422, {"spec": study, "file": "test.yaml"}, USER).json()["errors"]
        self.assertEqual(checked, refused)
        job = self.submit(spec("charged", extra="account: nlp/bert")).json()["jobs"][0]
        self.assertEqual(job["account"], "nlp/bert")
        of = lambda account: [j["id"] for j in self.call("GET", "/jobs", path="/jobs?account=" + account).json()["jobs"]]
        self.assertEqual((of("nlp"), of("nlp/bert")), ([job["id"]], [job["id"]]))
        used = self.call("DELETE", "/accounts/{account}", 409, token=USER, path=path).json()
        self.assertIn(f"job {job['id']} of it has not ended", used["detail"])
        self.call("DELETE", "/accounts/{account}", 409, token=USER, path="/accounts/nlp")
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job['id']}/cancel")
        self.call("POST", "/accounts/{account}", 200, {}, USER, path="/accounts/nlp%2Fgpt")
        self.call("DELETE", "/accounts/{account}", 204, token=USER, path="/accounts/nlp%2Fgpt")
        self.call("DELETE", "/accounts/{account}", 404, token=USER, path="/accounts/nlp%2Fgpt")

    def test_2_operators_and_nodes(self):
        def node(operation, body, status=200, name="node-1"):
            template = "/nodes/{node}/" + operation
            return self.call("POST", template, status, body, USER, f"/nodes/{name}/{operation}").json()

        until = 4_000_000_000_000
        drained = node("drain", {"reason": "new fans", "until_ms": until})
        self.assertEqual(drained["drain"], {"reason": "new fans", "from_ms": None, "until_ms": until})
        waiting = self.submit(spec("drained", 1)).json()["jobs"][0]["id"]
        self.assertEqual(self.call("GET", "/jobs/{job}", path=f"/jobs/{waiting}").json()["state"], "queued")
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{waiting}/cancel")
        self.assertIsNone(node("resume", {})["drain"])
        reserved = node("reserve", {"account": "nlp", "until_ms": until})
        kept = {"account": "nlp", "reason": "", "from_ms": None, "until_ms": until}
        self.assertEqual(reserved["reservation"], kept)
        self.assertIsNone(node("unreserve", {})["reservation"])
        labelled = node("labels", {"labels": {"partition": "nlp", "rack": "r3"}})
        self.assertEqual(labelled["labels"], labelled["operator_labels"])
        self.assertEqual(node("labels", {"labels": {"rack": None}})["operator_labels"], {"partition": "nlp"})
        self.assertEqual(node("labels", {"labels": {"partition": None}})["labels"], {})
        for operation, body in (
            ("drain", {"until_ms": "tomorrow"}),
            ("drain", {"why": "fans"}),
            ("resume", {"now": True}),
            ("reserve", {"until_ms": until}),
            ("reserve", {"account": 7}),
            ("unreserve", {"now": True}),
            ("labels", {}),
            ("labels", {"labels": {"a": 1}}),
            ("adopt", {"stop": 1}),
            ("adopt", {"all": True}),
        ):
            node(operation, body, 400)
        node("adopt", {}, 409)
        self.assertIn("over already", node("drain", {"until_ms": 1}, 422)["errors"][0]["message"])
        node("labels", {"labels": {"a b": "c"}}, 422)
        node("reserve", {"account": "a b"}, 422)
        node("reserve", {"account": "npl"}, 422)
        node("drain", {}, 404, "node-9")

    def test_2_tasks_of_another_cluster_are_adopted(self):
        path = "/nodes/node-1/adopt"
        self.agent.tasks = [{"job": 500, "attempt": 1, "rank": 0, "state": "running", "pid": 77}]
        self.agent.tell()
        adopted = self.call("POST", "/nodes/{node}/adopt", 200, {"stop": True}, USER, path).json()
        self.assertEqual(adopted["unknown"]["adopted"], "stop")
        self.agent.tasks = []
        self.agent.tell()

    def test_2_lists_page_and_filter(self):
        made = [self.submit(spec(f"page-{i}")).json()["jobs"][0]["id"] for i in range(5)]
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{made[2]}/cancel")
        seen, token = [], ""
        while token is not None:
            page = self.call("GET", "/jobs", path=f"/jobs?name=page-&limit=2{token}").json()
            self.assertEqual(page["total"], 5)
            seen += [job["id"] for job in page["jobs"]]
            token = f"&page_token={page['next_page_token']}" if "next_page_token" in page else None
        self.assertEqual(seen, made[::-1])
        found = self.call("GET", "/jobs", path="/jobs?name=page-&state=cancelled&label=team:test").json()["jobs"]
        self.assertEqual([job["id"] for job in found], [made[2]])
        oldest = self.call("GET", "/jobs", path="/jobs?name=page-&sort=id&limit=1").json()["jobs"]
        self.assertEqual(oldest[0]["id"], made[0])
        window = self.call("GET", "/jobs", path="/jobs?q=Page-+team:TE&sort=-name&limit=2&offset=1").json()
        self.assertEqual([job["name"] for job in window["jobs"]], ["page-3", "page-2"])
        self.assertEqual((window["total"], window["states"]["cancelled"]), (5, 1))
        rest = self.call("GET", "/jobs", path=f"/jobs?q=page-&sort=-name&page_token={window['next_page_token']}").json()
        self.assertEqual([job["name"] for job in rest["jobs"]], ["page-1", "page-0"])
        self.assertNotIn("next_page_token", rest)
        few = self.call("GET", "/jobs", path="/jobs?q=page-&state=cancelled").json()
        self.assertEqual((few["total"], sum(few["states"].values())), (1, 5))
        self.call("GET", "/jobs", 400, path="/jobs?sort=luck")
        self.call("GET", "/jobs", 400, path="/jobs?offset=1&page_token=2")
        first = self.call("GET", "/experiments", path="/experiments?limit=1").json()
        second = self.call("GET", "/experiments", path=f"/experiments?page_token={first['next_page_token']}").json()
        self.assertLess(second["experiments"][0]["id"], first["experiments"][0]["id"])
        waiting = self.submit(spec("waits", 2)).json()["jobs"][0]
        self.assertNotEqual(waiting["reason"], "")
        path = f"/jobs/{waiting['id']}/why"
        why = self.call("GET", "/jobs/{job}/why", path=path).json()
        self.assertEqual(why["blockers"][0]["sentence"], waiting["reason"])
        self.assertEqual((why["blockers"][0]["code"], why["blockers"][0]["needs"]), ("devices", 2))
        self.assertLessEqual(why["start"]["earliest_ms"], why["start"]["expected_ms"])
        self.assertLessEqual(why["start"]["expected_ms"], why["start"]["latest_ms"])
        ended = self.call("GET", "/jobs/{job}/why", path=f"/jobs/{made[2]}/why").json()
        self.assertEqual((ended["state"], ended["blockers"], ended["start"]), ("cancelled", [], None))
        [queue] = self.call("GET", "/queue").json()["queues"]
        self.assertEqual([job["position"] for job in queue["jobs"]], list(range(1, queue["total"] + 1)))
        [own] = [job for job in queue["jobs"] if job["job"] == waiting["id"]]
        self.assertEqual((own["account"], own["account_factors"], own["guaranteed_by"]), ("default", None, None))
        self.assertGreaterEqual(own["age_points"], 0)
        self.assertAlmostEqual(own["score"], own["priority"] + own["age_points"] - own["walltime_points"])
        self.assertEqual(self.call("GET", "/specs").json()["repositories"], [])
        self.assertEqual(self.call("GET", "/queue", path="/queue?kind=gpu").json()["queues"], [])
        self.assertEqual(len(self.call("GET", "/queue", path="/queue?limit=1").json()["queues"][0]["jobs"]), 1)

    def test_3_submitting_again_with_the_same_key(self):
        first = self.submit(spec("keyed"), Idempotency_Key="k1").json()
        again = self.submit(spec("keyed"), 200, Idempotency_Key="k1").json()
        self.assertEqual(again["experiment"], first["experiment"])

    def test_4_bad_specs_are_refused_whole(self):
        before = self.daemon.get("/jobs").json()["total"]
        bad = spec("bad") + "lable: {}\npriority: high\n"
        problem = self.submit(bad, 422).json()
        self.assertGreaterEqual(len(problem["errors"]), 2)
        for error in problem["errors"]:
            self.assertRegex(error["where"], r"^test.yaml:\d+:\d+$")
        self.call("POST", "/validate", 422, {"spec": bad}, USER)
        too_large = self.submit(spec("huge", 1000), 422).json()
        self.assertIn("1000", too_large["errors"][0]["message"])
        self.call("POST", "/validate", 422, {"spec": spec("huge", 1000)}, USER)
        valid = self.call("POST", "/validate", 200, {"spec": spec("fine")}, USER).json()
        self.assertEqual(valid["normalised"]["name"], "fine")
        self.assertEqual(self.daemon.get("/jobs").json()["total"], before)

    def test_5_mistakes_in_requests(self):
        for body in ("", "{", "[]", '{"spec": 1}', '{"spec": "a", "speck": "b"}', '{"spec": "a", "source": {"dirty": 1}}'):
            self.call("POST", "/experiments", 400, body, USER, Content_Type="application/json")
            self.call("POST", "/validate", 400, body, USER, Content_Type="application/json")
        self.call("POST", "/experiments", 415, "spec", USER, Content_Type="text/yaml")
        self.call("POST", "/experiments", 400, {"spec": spec()}, USER, Idempotency_Key="k" * 201)
        for query in ("limit=0", "limit=x", "limit=1&limit=2", "state=asleep", "label=x", "order=up", "what=1",
                      "page_token=-1", "experiment="):
            self.call("GET", "/jobs", 400, path="/jobs?" + query)
        both = self.call("GET", "/jobs", 400, path="/jobs?limit=0&order=up").json()
        self.assertEqual(len(both["errors"]), 2)
        for query in ("", "key=a&points=1", "key=a&points=20001", "key=a&first_step=-1", "key=a&first_step=2&last_step=1",
                      "&".join(["key=a"] * 65)):
            self.call("GET", "/jobs/{job}/series", 400, path="/jobs/1/series?" + query)
        for query in ("stream=events", "offset=1&tail=1", "rank=-1", "tail=9999999"):
            self.call("GET", "/jobs/{job}/logs", 400, path="/jobs/1/logs?" + query)
        self.call("GET", "/live", 400, path="/live?job=none")
        self.call("GET", "/live", 400, path="/live", Last_Event_ID="first")
        report = self.agent.report()
        sync = "/nodes/{node}/sync"
        for body in ("", "{}", report | {"version": 2}, report | {"tasks": [{"rank": 0}]}):
            self.call("POST", sync, 400, body, AGENT, "/nodes/node-1/sync", Content_Type="application/json")
        self.call("POST", sync, 400, report, AGENT, "/nodes/node-2/sync")
        self.call("POST", sync, 415, "x", AGENT, "/nodes/node-1/sync", Content_Type="text/plain")
        stranger = Agent(self.daemon, "node-9")
        self.check("POST", "/nodes/{node}/streams", 404, stranger.deliver(b""))
        many = Agent(self.daemon, "node-9", devices=40_000)
        refused = self.check("POST", sync, 400, many.sync()).json()
        self.assertEqual(refused["errors"][0]["message"], "40000 devices are too many; a node has at most 4096")
        for name in ("a%0d%0ab", "a%00b", "a%22b", "..a", "a b", "n" * 1000):
            odd = Agent(self.daemon, urllib.parse.unquote(name))
            reply = self.daemon.request("POST", f"/api/v1/nodes/{urllib.parse.quote(odd.name)}/sync", odd.report(), AGENT)
            self.check("POST", sync, 400, reply)
        for body in (b"nonsense", b'{"job":1}\n', chunk({"job": 1, "attempt": 1, "rank": 0}, "events", 0, b"abc")[:-1]):
            self.check("POST", "/nodes/{node}/streams", 400, self.agent.deliver(body))
        self.check("POST", "/nodes/{node}/streams", 400, self.agent.deliver(b"nonsense", Content_Encoding="zstd"))
        self.check("POST", "/nodes/{node}/streams", 415, self.agent.deliver(b"x", Content_Encoding="br"))
        self.check("POST", "/nodes/{node}/streams", 415, self.agent.deliver(b"x", Content_Type="text/plain"))

    def test_5b_one_key_makes_one_experiment_of_one_spec(self):
        first = self.submit(spec("keyed"), Idempotency_Key="one").json()
        self.assertEqual(self.submit(spec("keyed"), 200, Idempotency_Key="one").json()["experiment"], first["experiment"])
        other = self.submit(spec("other"), 409, Idempotency_Key="one").json()
        self.assertIn(f"was used for experiment {first['experiment']['id']}", other["detail"])
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{first['jobs'][0]['id']}/cancel")

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

    def test_6_what_does_not_exist(self):
        for name in ("999", "0", "-1", "x", "99999999999999999999"):
            self.call("GET", "/jobs/{job}", 404, path="/jobs/" + name)
            self.call("GET", "/experiments/{experiment}", 404, path="/experiments/" + name)
            self.call("POST", "/jobs/{job}/cancel", 404, token=USER, path=f"/jobs/{name}/cancel")
            for part in ("checkpoints", "events", "ledger", "metrics", "logs", "projection", "why"):
                self.call("GET", "/jobs/{job}/" + part, 404, path=f"/jobs/{name}/{part}")
            self.call("GET", "/jobs/{job}/series", 404, path=f"/jobs/{name}/series?key=a")
        self.call("GET", "/nodes/{node}", 404, path="/nodes/nobody")

    def test_7_the_service(self):
        self.assertEqual(self.call("GET", "/health").json()["token"], "nobody")
        self.assertEqual(self.call("GET", "/health", token=USER).json()["token"], "user")
        self.assertEqual(self.call("GET", "/health", token=AGENT).json()["token"], "agent")
        reply = self.call("GET", "/openapi.yaml")
        self.assertEqual(yaml.safe_load(reply.body), DOCUMENT)

    def test_8_the_live_stream(self):
        live = self.daemon.live()
        self.called.add(("GET", "/live", 200))
        self.agent.tasks = []
        self.agent.orders_seen = 0
        job = self.submit(spec("live")).json()["jobs"][0]["id"]
        _, _, data = live.until(lambda name, data: name == "job" and data["id"] == job)
        check_schema({"$ref": "#/components/schemas/Job"}, data)
        launches = [task["launch"] for task in self.agent.sync().json()["tasks"]]
        self.agent.deliver(chunk(launches[0], "events", 0, metric_lines(1, 3)))
        _, _, data = live.until(lambda name, _: name == "metrics")
        check_schema({"$ref": "#/components/schemas/MetricsMessage"}, data)
        Agent(self.daemon, "node-9").orders()
        _, _, data = live.until(lambda name, data: name == "node" and data["id"] == "node-9")
        check_schema({"$ref": "#/components/schemas/Node"}, data)
        self.daemon.request("POST", "/api/v1/accounts/live", {"share": 2}, USER)
        _, _, data = live.until(lambda name, _: name == "account")
        self.assertEqual(data, {"account": "live"})
        live.close()

    def test_9_nothing_was_left_out(self):
        described = {
            (method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in item if method != "parameters"
        }
        self.assertEqual({(method, path) for method, path, _ in self.called}, described)
        for method, path in described:
            operation = DOCUMENT["paths"][path][method.lower()]
            promised = {int(status) for status in operation["responses"] if status != "default"}
            seen = {status for m, p, status in self.called if (m, p) == (method, path)}
            self.assertLessEqual(promised, seen, f"{method} {path}")
            names = set(re.findall(r"\{(\w+)\}", path))
            parameters = [resolved(p) for p in operation.get("parameters", [])]
            self.assertEqual(names, {p["name"] for p in parameters if p["in"] == "path"}, path)


if __name__ == "__main__":
    unittest.main()

"""Mistakes in requests, what does not exist, and the service itself."""

import urllib.parse

import yaml

from daemon import AGENT, USER, Agent, chunk, metric_lines, spec
from openapi.described import check_schema, Described, DOCUMENT


class Service(Described):
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

    def test_6_what_does_not_exist(self):
        for name in ("999", "0", "-1", "x", "99999999999999999999"):
            self.call("GET", "/jobs/{job}", 404, path="/jobs/" + name)
            self.call("GET", "/experiments/{experiment}", 404, path="/experiments/" + name)
            self.call("POST", "/jobs/{job}/cancel", 404, token=USER, path=f"/jobs/{name}/cancel")
            for part in ("artifacts", "checkpoints", "events", "ledger", "metrics", "logs", "projection", "tracking", "why"):
                self.call("GET", "/jobs/{job}/" + part, 404, path=f"/jobs/{name}/{part}")
            self.call("GET", "/jobs/{job}/series", 404, path=f"/jobs/{name}/series?key=a")
        self.call("GET", "/nodes/{node}", 404, path="/nodes/nobody")

    def test_7_the_service(self):
        self.assertEqual(self.call("GET", "/health").json()["token"], "nobody")
        self.assertEqual(self.call("GET", "/health", token=USER).json()["token"], "user")
        self.assertEqual(self.call("GET", "/health", token=AGENT).json()["token"], "agent")
        reply = self.call("GET", "/openapi.yaml")
        self.assertEqual(yaml.safe_load(reply.body), DOCUMENT)
        compile(self.call("GET", "/podium.py").body, "podium.py", "exec")

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

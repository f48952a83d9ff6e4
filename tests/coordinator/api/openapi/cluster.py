"""Accounts, nodes and what is listed of a cluster."""

from daemon import USER, spec
from openapi.described import Described


class Cluster(Described):
    def test_1d_how_long_what_is_kept(self):
        job = self.submit(spec("kept")).json()["jobs"][0]["id"]
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")
        path = "/retention/kept"
        body = {"points_seconds": 86400, "logs_seconds": "forever"}
        rule = self.call("POST", "/retention/{experiment}", 200, body, USER, path=path).json()
        self.assertEqual((rule["points_seconds"], rule["logs_seconds"], rule["history_seconds"]), (86400, "forever", None))
        self.assertEqual(self.call("GET", "/retention").json()["rules"], [rule])
        self.call("GET", "/retention/due")
        self.call("GET", "/retention/due", path="/retention/due?within_seconds=3000000000&limit=1")
        self.call("GET", "/retention/due", 400, path="/retention/due?points_seconds=5")
        self.call("POST", "/retention/{experiment}", 400, {"points_seconds": 1.5}, USER, path=path)
        self.call("DELETE", "/retention/{experiment}", 204, token=USER, path=path)
        self.call("DELETE", "/retention/{experiment}", 404, token=USER, path=path)

    def test_1f_webhooks(self):
        (told,) = self.call("GET", "/webhooks").json()["webhooks"]
        self.assertEqual((told["name"], told["address"], told["events"], told["waiting"]), ("ops", "http://127.0.0.1:1", ["node.lost"], 0))
        tried = self.call("POST", "/webhooks/{webhook}/test", token=USER, path="/webhooks/ops/test").json()
        self.assertEqual((tried["delivered"], tried["status"]), (False, None))
        self.assertIn("cannot connect", tried["error"])
        self.call("POST", "/webhooks/{webhook}/test", 404, token=USER, path="/webhooks/nothing/test")

    def test_1e_services(self):
        text = "version: 1\nname: answers\ntask: serve\nmodel: {init: models/bert}\nreplicas: {min: 1, max: 2}\nresources: {devices: 1, kind: cpu}\n"
        self.submit(text)
        told = self.call("GET", "/services").json()["services"]
        self.assertEqual([one["name"] for one in told], ["answers"])
        self.assertEqual(self.call("GET", "/services/{service}", path="/services/answers").json(), told[0])
        self.call("GET", "/services/{service}", 404, path="/services/nothing")
        self.call("DELETE", "/services/{service}", 404, token=USER, path="/services/nothing")
        self.call("DELETE", "/services/{service}", 202, token=USER, path="/services/answers")
        self.agent.orders_seen = 0
        self.agent.orders()

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
        for field, value, message in (("account", "nope", '"nope" is no account'), ("experiment", "999", "999 is the number of no experiment")):
            refused = self.call("GET", "/ledger", 400, path=f"/ledger?by=day&{field}={value}").json()["errors"]
            self.assertEqual([error["message"] for error in refused], [f'query parameter "{field}" {message}'])
        self.assertEqual(self.call("GET", "/ledger", path="/ledger?account=nlp/bert").json()["rows"], [])
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

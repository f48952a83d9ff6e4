"""What deploy/ has for Prometheus and Grafana, held against the real programs: a Prometheus scrapes a real coordinator by the
example configuration and evaluates every expression of the dashboard and of the alerts."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

SOURCE = pathlib.Path(sys.argv.pop(2))
sys.path.insert(0, str(SOURCE / "tests" / "coordinator" / "api"))
import yaml  # noqa: E402
from daemon import BINARY, USER, Agent, Daemon, chunk, wait_for  # noqa: E402
from prometheus_programs import check_metrics, find  # noqa: E402
from services_test import Node, service  # noqa: E402
from webhooks_test import Receiver, config, hook  # noqa: E402

PROMETHEUS, PROMTOOL = find("prometheus"), find("promtool")
if not PROMETHEUS or not PROMTOOL:
    print("skipped: neither prometheus nor promtool is here (deploy/install-packages --tests)")
    sys.exit(77)

RULES = SOURCE / "deploy" / "prometheus"
RULES_OF = yaml.safe_load((RULES / "alerts.yml").read_text())["groups"][0]
DASHBOARD = json.loads((SOURCE / "deploy" / "grafana" / "podium.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
NAME = re.compile(r"\b(?:podium|process)_[a-z0-9_]+\b")
TRAINING = """version: 1
name: trained
model: {preset: bert-tiny, vocab: 1000}
data: {train: a.txt, tokenizer: {wordpiece: v.txt}}
training: {optimizer: {lr: 1.0e-3}, schedule: {steps: 100}, batch: {global: 8, micro: 1}}
evaluate: {every: 50 steps, data: b.txt}
resources: {devices: 1, kind: cpu, walltime: 1h}
target: {metric: eval/mlm_loss, at_most: 1}
"""
READING = {"device": 0, "utilisation": 0.5, "memory_used": 1e9, "power": 300, "temperature": 61, "ecc_corrected": 2,
           "ecc_uncorrected": 1, "xid_errors": 1, "last_xid": 79}


def expressions():
    """Of the dashboard, as Grafana would send them with all coordinators chosen."""
    for panel in PANELS:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m")


def training_events():
    now = int(1000 * time.time())
    lines = [{"type": "started", "t": now - 500, "step": 0, "steps": 100},
             {"type": "metrics", "t": now, "step": 50, "values": {"eval/mlm_loss": 0.5}},
             {"type": "target", "t": now, "step": 50, "metric": "eval/mlm_loss", "value": 0.5},
             {"type": "finished", "t": now, "step": 100}]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class Cluster:
    """A coordinator that has something of everything: a trained job, a drained node with readings, a queue, a service, a
    webhook."""

    def __init__(self):
        self.receiver = Receiver()
        self.daemon = Daemon("--services", "127.0.0.1:0", "--node-unknown-after", "5m", "--node-lost-after", "10m",
                             webhooks=config(hook(self.receiver)))
        trainer = Agent(self.daemon, "trainer")
        trainer.orders()
        self.daemon.submit(TRAINING)
        launch = trainer.wait_for_order("start")[0]
        trainer.run([launch])
        assert trainer.deliver(chunk(launch, "events", 0, training_events())).status == 200
        trainer.finish()
        trainer.readings = [READING]
        trainer.tell()
        self.daemon.request("POST", "/api/v1/nodes/trainer/drain", {"reason": "fans"}, USER)
        self.node = Node(self.daemon, devices=2)
        self.daemon.submit(service(replicas="1"))
        self.daemon.submit(TRAINING.replace("devices: 1", "devices: 2"))
        wait_for(lambda: self.daemon.get("/services").json()["services"][0]["ready"] == 1, "the replica to be ready")
        address = (self.daemon.home / "services.address").read_text().strip()
        urllib.request.urlopen(urllib.request.Request(f"{address}/answers/fill-mask", b"{}", {"Content-Type": "application/json"})).close()

    def page(self):
        return self.daemon.request("GET", "/metrics", token=USER).body

    def close(self):
        self.daemon.process.terminate()  # lets the node's held sync go
        self.node.close()
        self.daemon.process.wait()
        self.daemon.close()
        self.receiver.close()


class Prometheus:
    def __init__(self, coordinator):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-prometheus-"))
        config = yaml.safe_load((RULES / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "1s"}
        config["rule_files"] = [str(RULES / "alerts.yml")]
        (scrape,) = config["scrape_configs"]
        scrape["scheme"] = "http"
        del scrape["tls_config"]
        scrape["authorization"]["credentials_file"] = str(coordinator.home / "user.token")
        scrape["static_configs"][0]["targets"] = [f"127.0.0.1:{coordinator.port}"]
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [PROMETHEUS, f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def get(self, path, **query):
        address = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=60) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it starts
                raise
            return json.load(error)

    def scrapes(self):
        try:
            found = self.get("query", query="count_over_time(podium_turns_total[5m])")["data"]["result"]
        except urllib.error.URLError:
            return 0  # it starts
        return int(found[0]["value"][1]) if found else 0

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)


class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.prometheus = Prometheus(cls.cluster.daemon)
        cls.addClassCleanup(cls.prometheus.close)
        wait_for(lambda: cls.prometheus.scrapes() >= 3, "Prometheus to scrape the coordinator")

    def test_promtool_finds_nothing_wrong_with_the_metrics(self):
        self.assertEqual(check_metrics(self.cluster.page()), "")
        self.assertIn("counter metrics should have", check_metrics(b"# HELP a b\n# TYPE a counter\na 1\n"))

    def test_every_expression_of_the_dashboard_finds_something(self):
        wrong = {}
        for panel, expression in expressions():
            answer = self.prometheus.get("query", query=expression)
            if answer["status"] != "success" or answer.get("warnings") or not answer["data"]["result"]:
                wrong[panel] = (expression, answer)
        self.assertEqual(wrong, {})

    def test_every_metric_that_is_asked_for_is_served(self):
        served = set(re.findall(r"^([a-z0-9_]+)", self.cluster.page().decode(), re.M))
        for text in [expression for _, expression in expressions()] + [rule["expr"] for rule in RULES_OF["rules"]]:
            names = set(NAME.findall(text))
            self.assertTrue(names or text.startswith("up{"), text)
            self.assertEqual(names - served, set(), text)

    def test_the_commands_that_alerts_name_are_there(self):
        values = {"node": "trainer", "service": "answers", "webhook": "ops"}
        address = {"PODIUM_COORDINATOR": f"http://127.0.0.1:{self.cluster.daemon.port}", "PODIUM_HOME": str(self.cluster.daemon.home)}
        texts = "".join(rule["annotations"]["description"] for rule in RULES_OF["rules"])
        commands = set(re.findall(r"`(podium [^`]*)`", texts))
        self.assertGreater(len(commands), 5)
        for command in commands:
            words = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda label: values[label[1]], command).split()
            ran = subprocess.run([BINARY.parent / words[0], *words[1:]], capture_output=True, text=True, env=os.environ | address)
            self.assertEqual(ran.returncode, 0, (command, ran.stderr))

    def test_the_rules_are_evaluated_and_a_sound_cluster_is_quiet(self):
        def healths():
            groups = self.prometheus.get("rules")["data"]["groups"]
            return {rule["name"]: (rule["health"], rule["state"]) for rule in groups[0]["rules"]}
        wait_for(lambda: "unknown" not in [health for health, _ in healths().values()], "the rules to be evaluated")
        quiet = {name: told for name, told in healths().items() if name not in ("PodiumDiskNearlyFull",)}  # that of this machine
        self.assertEqual(set(quiet.values()), {("ok", "inactive")}, quiet)


class FilesTest(unittest.TestCase):
    def promtool(self, *arguments):
        ran = subprocess.run([PROMTOOL, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_the_rules_fire_where_they_must_and_nowhere_else(self):
        self.promtool("check", "rules", RULES / "alerts.yml")
        self.promtool("test", "rules", RULES / "alerts_test.yml")
        fired = {case["alertname"] for test in yaml.safe_load((RULES / "alerts_test.yml").read_text())["tests"]
                 for case in test["alert_rule_test"] if case.get("exp_alerts")}
        self.assertEqual(fired, {rule["alert"] for rule in RULES_OF["rules"]})

    def test_the_example_configuration_is_one(self):
        self.promtool("check", "config", "--syntax-only", RULES / "prometheus.yml")

    def test_the_dashboard_hangs_together(self):
        self.assertEqual(len({panel["id"] for panel in DASHBOARD["panels"]}), len(DASHBOARD["panels"]))
        taken = set()
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            taken |= cells
        variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]} | {"__rate_interval"}
        for panel in PANELS:
            text = json.dumps(panel)
            self.assertEqual(panel["datasource"], {"type": "prometheus", "uid": "${datasource}"}, panel["title"])
            self.assertLessEqual(set(re.findall(r"\$\{?(\w+)", text)), variables, panel["title"])


if __name__ == "__main__":
    unittest.main()

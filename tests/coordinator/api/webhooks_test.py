"""Webhooks of a real coordinator, held by real receivers: what arrives, when it arrives again, and what keeps nothing else up."""

import hashlib
import hmac
import http.server
import json
import pathlib
import ssl
import subprocess
import threading
import time
import unittest

import jsonschema
from daemon import USER, WAIT, Agent, Daemon, chunk, metric_lines, spec, wait_for

SECRET = "a-secret-of-these-tests"
SCHEMA = json.loads((pathlib.Path(__file__).parents[3] / "schemas" / "webhook.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
OVER = threading.Event()  # ends the silence of receivers that do not answer


class Receiver(http.server.ThreadingHTTPServer):
    """Takes notices, and answers as `answer(notice, number)` says: with a status, a redirect's address or, None, not at all."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer=lambda notice, number: 200, port=0, body=b"ok"):
        self.answer, self.body = answer, body
        self.taken, self.lock = [], threading.Lock()
        super().__init__(("127.0.0.1", port), Requests)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/a-path-that-is-secret"

    def notices(self):
        with self.lock:
            return [notice for notice, _ in self.taken]

    def types(self):
        return [notice["type"] for notice in self.notices()]

    def accepted(self):
        with self.lock:
            return [notice for notice, status in self.taken if status == 200]

    def handle_error(self, *_):
        pass  # the coordinator was killed, or has given up

    def close(self):
        self.shutdown()
        self.server_close()


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # answers in one piece

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = self.headers["X-Podium-Timestamp"].encode() + b"." + body
        signature = "sha256=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        notice = json.loads(body)
        right = (hmac.compare_digest(signature, self.headers["X-Podium-Signature"]),
                 self.headers["X-Podium-Delivery"] == notice["id"], self.headers["X-Podium-Event"] == notice["type"],
                 self.path == "/a-path-that-is-secret", abs(time.time() - int(self.headers["X-Podium-Timestamp"])) < 60)
        VALIDATOR.validate(notice)
        with self.server.lock:
            number = len(self.server.taken)
            status = self.server.answer(notice, number) if all(right) else 401
            self.server.taken.append((notice, status))
        if status is None:
            OVER.wait(WAIT)
            self.close_connection = True
            return
        redirect = status if isinstance(status, str) else None
        self.send_response(307 if redirect else status)
        if redirect:
            self.send_header("Location", redirect)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)


def config(*hooks):
    return "version: 1\nwebhooks:\n" + "".join(f"  - {json.dumps(hook)}\n" for hook in hooks)


def hook(receiver, name="ops", **more):
    return {"name": name, "url": receiver if isinstance(receiver, str) else receiver.url, "secret": SECRET, **more}


class WebhooksTest(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        OVER.set()

    def receiver(self, *arguments, **options):
        receiver = Receiver(*arguments, **options)
        self.addCleanup(receiver.close)
        return receiver

    def start(self, *hooks):
        self.daemon = Daemon(webhooks=config(*hooks))
        self.addCleanup(self.daemon.close)

    def submit(self, name="job", extra=""):
        reply = self.daemon.submit(spec(name, extra=extra))
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()["jobs"][0]["id"]

    def told(self, name="ops"):
        return {one["name"]: one for one in self.daemon.get("/webhooks").json()["webhooks"]}[name]

    def metrics(self):
        lines = self.daemon.request("GET", "/metrics").body.decode().splitlines()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("podium_webhook")}

    def test_a_job_is_told_from_its_submission_to_its_end(self):
        receiver, ends = self.receiver(), self.receiver()
        self.start(hook(receiver), hook(ends, "ends", events=["job.ended"]))
        agent = Agent(self.daemon)
        agent.orders()
        job = self.submit("tiny", "target: {metric: train/loss, at_most: 0.5}\nrestarts: {max: 3}\n")
        launch = agent.wait_for_order("start")[0]
        agent.run([launch])
        self.assertEqual(agent.deliver(chunk(launch, "events", 0, metric_lines(1, 3))).status, 200)
        wait_for(lambda: len(receiver.types()) == 3, "the target to be told")
        agent.finish(1)
        agent.run([next(launch for launch in agent.wait_for_order("start") if launch["attempt"] == 2)])
        agent.finish()
        wait_for(lambda: ends.types(), "the end to be told")
        wait_for(lambda: len(receiver.types()) == 6, "all to be told")
        types = ["job.submitted", "job.started", "job.target_reached", "job.restarted", "job.started", "job.ended"]
        self.assertEqual(receiver.types(), types)
        submitted, started, target, restarted, again, ended = receiver.notices()
        self.assertEqual(len({notice["id"] for notice in receiver.notices()}), 6)
        self.assertEqual({notice["cluster"] for notice in receiver.notices()}, {self.daemon.get("/health").json()["cluster"]})
        view = self.daemon.get(f"/jobs/{job}").json()
        self.assertEqual(submitted["job"], {"id": job, "name": "tiny", "experiment": view["experiment"], "experiment_name": "tiny",
                                            "account": "default", "kind": "cpu", "devices": 1, "attempt": 0, "state": "queued"})
        self.assertEqual((started["job"]["state"], started["job"]["attempt"]), ("running", 1))
        self.assertEqual(target["target"], {"metric": "train/loss", "value": 0.5, "step": 2})
        self.assertEqual(target["job"]["time_to_train_seconds"], view["time_to_train_seconds"])
        self.assertEqual((restarted["cause"], restarted["job"]["attempt"], again["job"]["attempt"]), ("failure", 1, 2))
        self.assertEqual((ended["job"]["state"], ended["at_ms"]), ("succeeded", view["ended_ms"]))
        self.assertEqual(ends.notices(), [ended], "the same notice, under the same id")
        told = self.told()
        self.assertEqual((told["delivered"], told["waiting"], told["failing"], told["error"]), (6, 0, False, ""))
        self.assertEqual(self.metrics()['podium_webhook_attempts_total{webhook="ops",outcome="delivered"}'], 6)

    def test_what_fails_is_sent_again_under_its_id_before_what_follows_it(self):
        refused = set()
        def once(notice, number):
            if notice["job"]["name"] == "bad" and notice["id"] not in refused:
                refused.add(notice["id"])
                return 500
            return 200
        receiver = self.receiver(once)
        self.start(hook(receiver))
        bad, good = self.submit("bad"), self.submit("good")
        for job in (bad, good):
            self.daemon.request("POST", f"/api/v1/jobs/{job}/cancel", token=USER)
        wait_for(lambda: len(receiver.accepted()) == 4, "all to be taken")
        of_bad = [notice for notice in receiver.notices() if notice["job"]["id"] == bad]
        self.assertEqual([notice["type"] for notice in of_bad], ["job.submitted", "job.submitted", "job.ended", "job.ended"])
        self.assertEqual(of_bad[0], of_bad[1])
        self.assertEqual(of_bad[2], of_bad[3])
        told = self.told()
        self.assertEqual((told["delivered"], told["failed"], told["failing"]), (4, 2, False))
        self.assertEqual(told["error"], "the receiver answered 500")
        self.assertIn("does not take notices", self.daemon.read_log())
        self.assertIn("takes notices again", self.daemon.read_log())

    def test_one_that_never_answers_delays_no_other_and_not_the_coordinator(self):
        deaf, well = self.receiver(lambda notice, number: None), self.receiver()
        self.start(hook(deaf, "deaf", timeout="1s"), hook(well))
        jobs = [self.submit(f"job-{i}") for i in range(20)]
        wait_for(lambda: len(well.accepted()) == 20, "the other to have all")
        self.assertEqual([notice["job"]["id"] for notice in sorted(well.accepted(), key=lambda one: one["at_ms"])], jobs)
        wait_for(lambda: self.told("deaf")["failing"], "the silence to be told")
        told = self.told("deaf")
        self.assertEqual((told["delivered"], told["waiting"]), (0, 20))
        self.assertIn("no answer in time", told["error"])
        self.assertEqual(self.metrics()['podium_webhook_queue_notices{webhook="deaf"}'], 20)

    def test_nothing_is_lost_by_a_kill_and_comes_under_its_id(self):
        receiver = self.receiver(lambda notice, number: 503)
        self.start(hook(receiver))
        job = self.submit("survivor")
        wait_for(receiver.notices, "the first attempt")
        first = receiver.notices()[0]
        self.daemon.kill()
        receiver.answer = lambda notice, number: 200
        self.daemon.start()
        wait_for(receiver.accepted, "the notice after the restart")
        self.assertEqual(receiver.accepted()[0], first)
        wait_for(lambda: self.told()["waiting"] == 0, "the queue to be empty")
        self.daemon.kill()
        self.daemon.start()
        self.daemon.request("POST", f"/api/v1/jobs/{job}/cancel", token=USER)
        wait_for(lambda: receiver.types()[-1] == "job.ended", "the next notice")
        once = {notice["id"]: notice["type"] for notice in receiver.accepted()}
        self.assertEqual(list(once.values()), ["job.submitted", "job.ended"], "after a kill one may come twice, under its id")

    def test_a_full_queue_loses_its_oldest_and_says_so(self):
        receiver = self.receiver(lambda notice, number: 500)
        self.start(hook(receiver, queue=5))
        jobs = [self.submit(f"job-{i}") for i in range(9)]
        wait_for(lambda: (self.told()["lost"], self.told()["waiting"]) == (4, 5), "the oldest to be lost")
        self.assertEqual(self.metrics()['podium_webhook_dropped_total{webhook="ops",reason="queue_full"}'], 4)
        self.assertRegex(self.daemon.read_log(), 'webhook "ops" has not taken 5 notices.* 1 oldest are dropped')
        receiver.answer = lambda notice, number: 200
        wait_for(lambda: len(receiver.accepted()) == 5, "the rest to be taken")
        self.assertEqual(sorted(notice["job"]["id"] for notice in receiver.accepted()), jobs[4:])

    def test_ten_thousand_at_once(self):
        receiver, deaf = self.receiver(), self.receiver(lambda notice, number: None)
        self.start(hook(receiver, events=["job.submitted"]), hook(deaf, "deaf", events=["job.submitted"]))
        values = list(range(100))
        sweep = spec("many", extra=f"parameters: {{a: 0, b: 0}}\nsweep: {{parameters.a: {values}, parameters.b: {values[:10]}}}\n")
        sweep = sweep.replace("command: [/bin/true]", 'command: [/bin/true, "{a}", "{b}"]')
        begin = time.monotonic()
        slowest = 0
        for _ in range(10):
            self.assertEqual(self.daemon.submit(sweep).status, 201)
            asked = time.monotonic()
            self.assertEqual(self.daemon.get("/health").status, 200)
            slowest = max(slowest, time.monotonic() - asked)
        submitted = time.monotonic() - begin
        wait_for(lambda: len(receiver.taken) == 10_000, "10,000 notices")
        print(f"10,000 jobs submitted in {submitted:.1f} s, the slowest /health {1000 * slowest:.0f} ms,"
              f" all told after {time.monotonic() - begin:.1f} s")
        self.assertEqual(sorted(notice["job"]["id"] for notice in receiver.accepted()), list(range(1, 10_001)))
        wait_for(lambda: self.told()["waiting"] == 0, "the queue to be empty")
        self.assertEqual((self.told()["delivered"], self.told("deaf")["waiting"]), (10_000, 10_000))

    def test_redirects_are_not_followed(self):
        elsewhere = self.receiver()
        receiver = self.receiver(lambda notice, number: elsewhere.url)
        self.start(hook(receiver))
        self.submit()
        wait_for(lambda: self.told()["failing"], "the redirect to fail")
        self.assertIn("the receiver answered 307: redirects are not followed", self.told()["error"])
        self.assertEqual(elsewhere.taken, [])

    def test_a_long_answer_is_not_read_whole(self):
        receiver = self.receiver(body=b"x" * (50 << 20))
        self.start(hook(receiver))
        self.submit()
        wait_for(lambda: self.told()["delivered"] == 1, "the notice to be taken")
        receiver.answer = lambda notice, number: 500
        self.submit()
        wait_for(lambda: self.told()["failing"], "the failure")
        self.assertEqual(self.told()["error"], "the receiver answered 500")

    def test_secrets_are_never_shown(self):
        receiver = self.receiver(lambda notice, number: 500)
        nobody = "http://127.0.0.1:1/a-path-that-is-secret"
        self.start(hook(receiver), hook(nobody, "nobody"))
        self.submit()
        wait_for(lambda: self.told()["failing"] and self.told("nobody")["failing"], "both to fail")
        shown = self.daemon.get("/webhooks").body.decode() + self.daemon.read_log() + self.daemon.request("GET", "/metrics").body.decode()
        shown += self.daemon.request("POST", "/api/v1/webhooks/nobody/test", token=USER).body.decode()
        self.assertEqual(self.told("nobody")["address"], "http://127.0.0.1:1")
        self.assertIn("webhooks.yaml can be read by other users", shown)
        for secret in (SECRET, "a-path-that-is-secret"):
            self.assertNotIn(secret, shown)

    def test_a_test_is_sent_once_and_says_what_was_answered(self):
        receiver = self.receiver(lambda notice, number: 204 if number == 0 else 500)
        self.start(hook(receiver, events=["node.lost"]))
        tried = lambda: self.daemon.request("POST", "/api/v1/webhooks/ops/test", token=USER).json()
        self.assertEqual(tried(), {"name": "ops", "delivered": True, "status": 204, "error": ""})
        self.assertEqual(tried(), {"name": "ops", "delivered": False, "status": 500, "error": "the receiver answered 500"})
        self.assertEqual(receiver.types(), ["test", "test"])
        self.assertEqual(self.daemon.request("POST", "/api/v1/webhooks/ops/test").status, 401)

    def test_a_test_that_is_taken_ends_the_waits(self):
        receiver = self.receiver(lambda notice, number: 500)
        self.start(hook(receiver))
        self.submit()
        wait_for(lambda: self.told()["failed"] == 3, "waits of some seconds")
        receiver.answer = lambda notice, number: 200
        self.daemon.request("POST", "/api/v1/webhooks/ops/test", token=USER)
        wait_for(lambda: self.told()["delivered"] == 1, "the notice to be taken")
        self.assertEqual(receiver.types()[-2:], ["test", "job.submitted"])

    def test_what_waits_for_a_webhook_that_is_gone_is_dropped(self):
        receiver = self.receiver(lambda notice, number: 500)
        self.start(hook(receiver), hook(receiver, "other"))
        self.submit()
        wait_for(lambda: self.told()["failing"], "an attempt")
        self.daemon.kill()
        (self.daemon.home / "webhooks.yaml").write_text(config(hook(receiver, "other")))
        self.daemon.start()
        self.assertIn('webhook "ops" is configured no longer; the 1 notices', self.daemon.read_log())
        self.assertEqual([one["name"] for one in self.daemon.get("/webhooks").json()["webhooks"]], ["other"])
        self.assertEqual(self.told("other")["waiting"], 1)

    def test_a_certificate_is_verified(self):
        def certify(name):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=receiver",
                            "-addext", "subjectAltName=" + name, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                           check=True, capture_output=True)
            return str(folder / "cert.pem")
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        folder = self.daemon.home
        receiver = self.receiver()
        authority = certify("IP:127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority, folder / "key.pem")
        receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
        address = receiver.url.replace("http:", "https:")
        self.daemon.kill()
        (folder / "webhooks.yaml").write_text(config(hook(address, "unknown"), hook(address, ca=authority),
                                                     hook(address.replace("127.0.0.1", "localhost"), "misnamed", ca=authority)))
        self.daemon.start()
        self.submit()
        wait_for(lambda: self.told()["delivered"] == 1, "the notice to be taken")
        for name in ("unknown", "misnamed"):
            wait_for(lambda: self.told(name)["failing"], "the certificate to be refused")
            self.assertIn("certificate verify failed", self.told(name)["error"])

    def test_a_file_that_is_wrong_is_told_with_its_lines(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        daemon.terminate()
        for text, message in ((config({"name": "ops", "url": "ftp://x"}), "webhooks.yaml:3:"), ("webhooks: [", "webhooks.yaml:1:")):
            (daemon.home / "webhooks.yaml").write_text(text)
            ran = subprocess.run([daemon.process.args[0], "--home", daemon.home, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=WAIT)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(message, ran.stderr)


if __name__ == "__main__":
    unittest.main()

"""A server under load: mixed lengths together, a full queue, deadlines, SIGTERM, and models that take others' places."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import served

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="podium-serve-load-"))
TOKEN = "a-token-for-these-tests"


def setUpModule():
    served.write_model(FOLDER / "root" / "one", 1)
    served.write_model(FOLDER / "root" / "two", 2)
    served.write_model(FOLDER / "outside", 3)
    served.write_model(FOLDER / "squad", 4, question_answering=True)
    (FOLDER / "root" / "empty").mkdir()
    (FOLDER / "root" / "link").symlink_to(FOLDER / "outside")
    (FOLDER / "token").write_text(TOKEN + "\n")


def tearDownModule():
    shutil.rmtree(FOLDER)


def texts():
    chance = random.Random(11)
    return [served.text(chance, words) for words in (1, 3, 5, 8, 13, 21, 34, 55, 60) for _ in range(4)]


def expected(folder):
    """The likeliest tokens of each text's mask, by infer."""
    told = served.worker("infer", folder, "--json", "--top", 2, "--batch", 1, given="\n".join(texts()) + "\n")
    return [json.loads(line)["masks"][0]["candidates"] for line in told.splitlines()]


def same(told, wanted):
    return all(one["token"] == other["token"] and abs(one["probability"] - other["probability"]) < 1e-4
               for one, other in zip(told, wanted, strict=True))


class Clients:
    """So many threads that ask one text after another until they are told to stop, or each `count` times."""

    def __init__(self, server, number, count=None, token=None):
        self.replies, self.failures, self.stopped, self.lock = [], [], threading.Event(), threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(server, i, count, token)) for i in range(number)]
        for thread in self.threads:
            thread.start()

    def run(self, server, seed, count, token):
        chance, client, asked = random.Random(seed), server.client(token), 0
        while not self.stopped.is_set() and (count is None or asked < count):
            which = chance.randrange(len(texts()))
            try:
                sent = time.monotonic()
                reply = client.ask("bert", "fill-mask", {"text": texts()[which], "top": 2})
            except Exception as failure:  # the connection is gone
                with self.lock:
                    self.failures.append(failure)
                return
            asked += 1
            with self.lock:
                self.replies.append((which, reply, sent))

    def answered(self, number):
        return lambda: len(self.replies) >= number

    def stop(self):
        self.stopped.set()
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join()


class EndlessFolder:
    """A model that is being loaded until end(): its config.json is a pipe."""

    def __init__(self, name):
        self.path, self.pipe = FOLDER / name, None
        self.path.mkdir()
        os.mkfifo(self.path / "config.json")

    def is_being_loaded(self):
        if self.pipe is None:
            try:
                self.pipe = os.open(self.path / "config.json", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads it
                return False
        return True

    def end(self):
        os.close(self.pipe)


class LoadingClient:
    """One that has a model of the models' root loaded, and waits on a thread of its own."""

    def __init__(self, server, endless):
        self.reply = None
        self.thread = threading.Thread(target=self.run, args=(server.client(TOKEN), endless.path.name))
        self.thread.start()
        server.wait_until(endless.is_being_loaded, "the load")

    def run(self, client, folder):
        try:
            self.reply = client.post("/v1/models/bert:load", {"folder": folder})
        except Exception:  # the server has gone
            pass

    def join(self):
        self.thread.join()


class Load(unittest.TestCase):
    def right(self, clients, *folders):
        """Every reply is what one of the models says."""
        wanted = [expected(folder) for folder in folders]
        self.assertEqual(clients.failures, [])
        for which, reply, _ in clients.replies:
            self.assertEqual(reply.status, 200, reply.body)
            told = reply.json()["masks"][0]["candidates"]
            self.assertTrue(any(same(told, answers[which]) for answers in wanted), (texts()[which], told))

    def test_64_clients_of_mixed_lengths(self):
        with served.Server({"bert": FOLDER / "root" / "one"}) as server:
            clients = Clients(server, 64, count=10)
            clients.join()
            self.assertEqual(len(clients.replies), 640)
            self.right(clients, FOLDER / "root" / "one")
            figures = server.figures()
            self.assertEqual(figures['podium_serve_batch_sequences_sum{model="bert"}'], 640)
            self.assertLess(figures['podium_serve_batch_sequences_count{model="bert"}'], 320, "batches of several")

    def test_a_full_queue_says_when_to_come_back(self):
        with served.Server({"bert": FOLDER / "root" / "one"}, "--max-queue", 1) as server:
            clients = Clients(server, 32, count=10)
            clients.join()
            full = [reply for _, reply, _ in clients.replies if reply.status == 429]
            self.assertTrue(full, "32 clients and a queue of one")
            for reply in full:
                self.assertGreaterEqual(int(reply.headers["Retry-After"]), 1)
                self.assertIn("queue is full", reply.json()["detail"])
            clients.replies = [one for one in clients.replies if one[1].status != 429]
            self.right(clients, FOLDER / "root" / "one")
            self.assertEqual(server.figures()[
                'podium_serve_requests_total{model="bert",endpoint="fill-mask",outcome="queue_full"}'], len(full))

    def test_what_never_fits_into_the_queue_is_refused(self):
        with served.Server({"squad": FOLDER / "squad"}, "--max-queue", 7) as server:
            reply = server.client().ask("squad", "answer", {"question": "w1 ?", "context": "w2 " * 3000})
            self.assertEqual(reply.status, 422, reply.body)
            self.assertIn("a request may have 1 of the queue's places", reply.json()["detail"])

    def test_what_is_late_is_not_computed(self):
        long = {"question": "w1 ?", "context": "w2 w3 " * 10_000}
        with served.Server({"squad": FOLDER / "squad"}, "--max-queue", 8000, "--max-batch-tokens", 64) as server:
            begin = time.monotonic()
            reply = server.client().ask("squad", "answer", {**long, "timeout_ms": 1})
            took = time.monotonic() - begin
            self.assertEqual(reply.status, 504, reply.body)
            server.wait_until(lambda: server.figures()['podium_serve_waiting_sequences{model="squad"}'] == 0, "the queue")
            computed = server.figures().get('podium_serve_batch_sequences_sum{model="squad"}', 0)
            self.assertLess(computed, 300, f"of 1248 sequences, in {took} s")
            self.assertEqual(server.client().ask("squad", "answer", {"question": "w1", "context": "w2"}).status, 200)
            self.assertEqual(server.figures()[
                'podium_serve_requests_total{model="squad",endpoint="answer",outcome="timed_out"}'], 1)

    def test_sigterm_answers_what_it_has_accepted(self):
        with served.Server({"bert": FOLDER / "root" / "one"}) as server:
            clients = Clients(server, 16)
            server.wait_until(clients.answered(100), "answers")
            self.assertEqual(server.terminate(), 0, server.log())
            clients.stop()
            accepted, answered = map(int, re.search(r"(\d+) requests were accepted, (\d+) answered", server.log()).groups())
            good = [one for one in clients.replies if one[1].status == 200]
            self.assertEqual((accepted, answered), (len(good), len(good)))
            for _, reply, _ in clients.replies:
                if reply.status != 200:
                    self.assertEqual((reply.status, reply.headers["Retry-After"]), (503, "1"))

    def test_a_batch_in_flight_at_the_end_of_the_grace(self):
        with served.Server({"bert": FOLDER / "root" / "one"}, "--grace", 0) as server:
            clients = Clients(server, 16)
            server.wait_until(clients.answered(100), "answers")
            self.assertEqual(server.terminate(), 0, server.log())
            clients.stop()
            self.assertRegex(server.log(), r"\d+ requests were accepted, \d+ answered")
            self.assertLessEqual({reply.status for _, reply, _ in clients.replies}, {200, 503})

    def test_a_model_takes_anothers_place_without_a_failed_request(self):
        one, two = FOLDER / "root" / "one", FOLDER / "root" / "two"
        with served.Server({"bert": one}, "--models-root", FOLDER / "root", "--token-file", FOLDER / "token") as server:
            clients = Clients(server, 8, token=TOKEN)
            changes = server.client(TOKEN)
            for folder in (two, one, two):
                before = len(clients.replies)
                server.wait_until(clients.answered(before + 50), "answers")
                reply = changes.post("/v1/models/bert:load", {"folder": folder.name})
                self.assertEqual(reply.status, 200, reply.body)
            loaded = time.monotonic()
            server.wait_until(clients.answered(len(clients.replies) + 100), "answers")
            clients.stop()
            self.right(clients, one, two)
            wanted = expected(two)
            late = [(which, reply) for which, reply, sent in clients.replies if sent > loaded]
            self.assertGreater(len(late), 50)
            for which, reply in late:
                self.assertTrue(same(reply.json()["masks"][0]["candidates"], wanted[which]))
            self.assertEqual(changes.get("/v1/models").json()["models"][0]["folder"], str(two))

    def test_what_cannot_be_loaded_changes_nothing(self):
        with served.Server({"bert": FOLDER / "root" / "one"}, "--models-root", FOLDER / "root",
                           "--token-file", FOLDER / "token") as server:
            client = server.client(TOKEN)
            for folder, said in (("empty", "is no model"), ("link", "within"), ("../outside", "within"),
                                 (str(FOLDER / "outside"), "within"), ("nothing", "within"), (".", "is no model"),
                                 ("one/config.json", "within"), (7, "must be a text")):
                reply = client.post("/v1/models/bert:load", {"folder": folder})
                self.assertEqual(reply.status, 422, folder)
                self.assertIn(said, reply.json()["detail"])
            self.assertEqual(client.post("/v1/models/gpt:load", {"folder": "one"}).status, 404)
            self.assertEqual(client.ask("bert", "embed", {"text": "w1"}).status, 200)

    def test_sighup_reads_the_folders_again(self):
        folder = FOLDER / "changing"
        served.write_model(folder, 5)
        with served.Server({"bert": folder}) as server:
            old = server.client().ask("bert", "embed", {"text": "w1"}).json()
            served.write_model(folder, 6)
            server.signal(signal.SIGHUP)
            server.wait_until(lambda: server.client().ask("bert", "embed", {"text": "w1"}).json() != old, "the new model")
            (folder / "config.json").write_text("{")
            server.signal(signal.SIGHUP)
            server.wait_until(lambda: "answers as before" in server.log(), "the complaint")
            self.assertEqual(server.client().ask("bert", "embed", {"text": "w1"}).status, 200)

    def test_a_load_that_hangs_does_not_keep_a_server_from_stopping(self):
        first, hanging = EndlessFolder("first"), EndlessFolder("root/hanging")
        with served.Server({"bert": first.path}, wait=False) as server:
            server.wait_until(first.is_being_loaded, "the load")
            self.assertEqual(server.client().get("/readyz").status, 503)
            self.assertEqual(server.terminate(), 0, server.log())
        with served.Server({"bert": FOLDER / "root" / "one"}, "--models-root", FOLDER / "root", "--token-file", FOLDER / "token",
                           "--grace", 1) as server:
            loading = LoadingClient(server, hanging)
            self.assertEqual(server.terminate(), 0, server.log())
            self.assertIn("1 requests were not answered within the grace", server.log())
            loading.join()

    def test_while_it_drains_nothing_new_is_begun(self):
        awaited = EndlessFolder("root/awaited")
        with served.Server({"bert": FOLDER / "root" / "one"}, "--models-root", FOLDER / "root",
                           "--token-file", FOLDER / "token") as server:
            loading = LoadingClient(server, awaited)
            server.signal(signal.SIGTERM)
            server.wait_until(lambda: server.client().get("/readyz").status == 503, "the end")
            client = server.client(TOKEN)
            for path, body in (("/v1/models/bert:load", {"folder": "two"}), ("/v1/models/bert/embed", {"text": "w1"})):
                reply = client.post(path, body)
                self.assertEqual((reply.status, reply.json()["detail"]), (503, "the server is about to stop"))
            figures = server.figures(TOKEN)
            self.assertEqual(figures[
                'podium_serve_requests_total{model="bert",endpoint="embed",outcome="not_ready"}'], 1)
            self.assertEqual(figures['podium_serve_ready{model="bert"}'], 0)
            awaited.end()
            loading.join()
            self.assertEqual(loading.reply.status, 422)
            self.assertEqual(server.process.wait(served.WAIT), 0, server.log())
            self.assertIn("1 requests were accepted, 1 answered", server.log())

    def test_a_model_that_cannot_be_loaded_ends_the_server_in_order(self):
        last = EndlessFolder("last")
        with served.Server({"a": FOLDER / "squad", "b": last.path}, "--max-queue", 4000, wait=False) as server:
            server.wait_until(lambda: server.client().get("/v1/models").json()["models"][0]["ready"], "the first model")
            long, replies = {"question": "w1 ?", "context": "w2 w3 " * 2000}, []
            threads = [threading.Thread(target=lambda: replies.append(server.client().ask("a", "answer", long)))
                       for _ in range(8)]
            for thread in threads:
                thread.start()
            server.wait_until(lambda: server.figures().get('podium_serve_batch_sequences_sum{model="a"}', 0) > 0, "a batch")
            server.wait_until(last.is_being_loaded, "the load")
            last.end()
            self.assertEqual(server.process.wait(served.WAIT), 65, server.log())
            for thread in threads:
                thread.join()
            accepted, answered = map(int, re.search(r"(\d+) requests were accepted, (\d+) answered", server.log()).groups())
            good = [reply for reply in replies if reply.status == 200]
            self.assertEqual((accepted, answered), (len(good), len(good)))
            self.assertTrue(good)

    def test_a_token_is_asked_for(self):
        with served.Server({"bert": FOLDER / "root" / "one"}, "--token-file", FOLDER / "token") as server:
            for path in ("/v1/models", "/metrics"):
                self.assertEqual(server.client().get(path).status, 401)
                self.assertEqual(server.client("wrong").get(path).status, 401)
                self.assertEqual(server.client(TOKEN).get(path).status, 200)
            self.assertEqual(server.client().get("/healthz").status, 200)
            self.assertEqual(server.client().ask("bert", "embed", {"text": "w1"}).status, 401)

    def test_a_server_that_cannot_start_says_why(self):
        def start(*arguments):
            return subprocess.run([served.WORKER, "serve", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        one = f"bert={FOLDER / 'root' / 'one'}"
        with served.Server({"bert": FOLDER / "root" / "one"}) as server:
            taken = start(one, "--listen", f"127.0.0.1:{server.port}")
        self.assertEqual(taken.returncode, 75)
        self.assertIn("Address already in use", taken.stderr)
        for arguments, exit_code, said in (
                (["bert=/nothing", "--listen", "127.0.0.1:0"], 65, "is no model"),
                (["bert"], 64, "NAME=FOLDER"), ([one, one], 64, "names two models"), (["a/b=c"], 64, "a name has letters"),
                ([one, "--models-root", FOLDER], 64, "needs --token-file"),
                ([one, "--listen", "8500"], 64, "not an address"), ([one, "--token-file", "/dev/null"], 64, "is empty")):
            ran = start(*arguments)
            self.assertEqual(ran.returncode, exit_code, (arguments, ran.stderr))
            self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    unittest.main()

"""generate: what the server streams is what podium-worker generate writes for the same seed, whatever else it writes."""

import json
import pathlib
import socket
import tempfile
import threading
import unittest

import served

FOLDER = tempfile.TemporaryDirectory(prefix="podium-serve-gpt-")
MODEL, LONG = pathlib.Path(FOLDER.name) / "gpt", pathlib.Path(FOLDER.name) / "long"
VOCABULARY = 280
LONG_POSITIONS = 4096
ENDLESS = {"prompt": "one", "max_tokens": LONG_POSITIONS, "temperature": 0}  # a text that takes a while, and ends no sooner


def setUpModule():
    served.make_case.write_model(MODEL, "gpt", 7, {"layers": 2, "positions": 64, "vocab": VOCABULARY}, deviation=0.2)
    corpus = pathlib.Path(FOLDER.name) / "corpus.txt"
    corpus.write_text("one two three four five six seven<|endoftext|>" * 50)
    served.worker("vocab", "--bpe", "--size", VOCABULARY, "--out", MODEL, corpus)
    served.make_case.write_model(LONG, "gpt", 8, {"layers": 2, "positions": LONG_POSITIONS, "vocab": VOCABULARY}, deviation=0.2)
    served.worker("vocab", "--bpe", "--size", VOCABULARY, "--out", LONG, corpus)


def events(reply):
    """The events of a stream, as (name, data)."""
    for event in reply.body.decode().split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in event.split("\n"))
        yield lines["event"], json.loads(lines["data"])


class Generate(served.ServedTest):
    models, options = {"gpt": MODEL, "long": LONG}, ("--max-texts", 4, "--max-positions", LONG_POSITIONS)

    def expected(self, prompt, **options):
        arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
        (line,) = served.worker("generate", MODEL, "--prompt", prompt, "--json", "--threads", 1, *arguments).splitlines()
        return json.loads(line)

    def streamed(self, body):
        reply = self.client.ask("gpt", "generate", body)
        self.assertEqual((reply.status, reply.headers["Content-Type"]), (200, "text/event-stream"), reply.body)
        told = list(events(reply))
        self.assertEqual([name for name, _ in told], ["text"] * (len(told) - 1) + ["end"])
        return "".join(data["text"] for _, data in told[:-1]), told[-1][1]

    def test_a_stream_is_what_generate_writes(self):
        for options in ({"seed": 1, "max_tokens": 20}, {"seed": 2, "max_tokens": 30, "temperature": 0.7, "top_k": 20},
                        {"temperature": 0, "max_tokens": 10}, {}, {"seed": 2 ** 64 - 1, "top_k": 1000},
                        {"seed": 3, "top_p": 0.5, "max_tokens": 40, "stop": "e"}):
            for prompt in ("one two", "", "three é\n"):
                wanted = self.expected(prompt, **options)
                text, end = self.streamed({"prompt": prompt, **options})
                self.assertEqual(text, wanted["text"])
                self.assertEqual((end["reason"], end["tokens"], end["prompt_tokens"]),
                                 (wanted["reason"], len(wanted["ids"]), wanted["prompt_tokens"]))

    def test_a_whole_text(self):
        wanted = self.expected("one", seed=5, max_tokens=12)
        body = {"prompt": "one", "seed": 5, "max_tokens": 12, "stream": False}
        reply = self.client.ask("gpt", "generate", body)
        served.check_described("/v1/models/{model}/generate", reply, body)
        self.assertEqual((reply.json()["text"], reply.json()["reason"]), (wanted["text"], wanted["reason"]))

    def test_texts_that_cross_are_what_each_is_alone(self):
        wanted = {seed: self.expected("two three", seed=seed, max_tokens=25)["text"] for seed in range(12)}
        told = {}

        def ask(seed):
            reply = self.server.client().ask("gpt", "generate", {"prompt": "two three", "seed": seed, "max_tokens": 25})
            told[seed] = "".join(data["text"] for name, data in events(reply) if name == "text")
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(told, wanted)

    def test_clients_that_leave_take_their_texts_along(self):
        def left():
            return self.server.figures().get('podium_serve_requests_total{model="long",endpoint="generate",outcome="client_left"}', 0)

        def written():
            return self.server.figures().get('podium_serve_batch_tokens_sum{model="long"}', 0)
        before, tokens_before, asked = left(), written(), ENDLESS
        for number in range(20):
            client = self.server.client()
            client.connection.request("POST", "/v1/models/long/generate", json.dumps({**asked, "stream": number % 2 == 0}),
                                      {"Content-Type": "application/json"})
            if number % 4 == 0:
                client.connection.getresponse().read(5)
            client.close()
        self.server.wait_until(lambda: left() == before + 20, "that they have left")
        self.assertLess(written() - tokens_before, 10 * LONG_POSITIONS, "of twenty texts")
        self.assertEqual(self.streamed({"prompt": "one", "max_tokens": 3})[1]["tokens"], 3)

    def test_a_client_that_ends_its_side_is_told_how_its_text_ends(self):
        body = json.dumps(ENDLESS)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=served.WAIT) as connection:
            connection.sendall((f"POST /v1/models/long/generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
            told = connection.recv(12)
            connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(1 << 16):
                told += more
        self.assertTrue(told.startswith(b"HTTP/1.1 200"), told[:100])
        last = told.decode().rsplit("event: ", 1)[1]
        self.assertTrue(last.startswith("error"), last)
        self.assertIn('"status":499', last)

    def test_mistakes(self):
        def refused(**body):
            reply = self.client.ask("gpt", "generate", body)
            self.assertEqual(reply.status, 422, reply.body)
            served.check_described("/v1/models/{model}/generate", reply)
            return {error["where"]: error["message"] for error in reply.json()["errors"]}
        self.assertEqual(set(refused(max_tokens=0, temperature=-1, top_k="all", top_p=2, seed=-1, stop=[], stream=1, prmpt="a")),
                         {"/prompt", "/max_tokens", "/temperature", "/top_k", "/top_p", "/seed", "/stop", "/stream", "/prmpt"})
        for seed in (-1, 2 ** 64, 1.5, "1"):
            self.assertIn("from 0 to 18446744073709551615", refused(prompt="one", seed=seed)["/seed"])
        self.assertIn("has 65 tokens, and the model takes 64", refused(prompt="\x00" * 65)["/prompt"])
        self.assertIn("and with max_tokens 60 the model takes 5", refused(prompt="seven " * 20, max_tokens=60)["/prompt"])
        self.assertEqual(self.streamed({"prompt": "seven " * 20, "max_tokens": 60, "truncate": True})[1]["prompt_tokens"], 5)
        for stop in ("", ["a"] * 17, [1], ["x" * 257], {}):
            self.assertEqual(set(refused(prompt="one", stop=stop)), {"/stop"})
        reply = self.client.ask("gpt", "embed", {"text": "one"})
        self.assertEqual(reply.status, 422)
        self.assertIn("it has generate", reply.json()["detail"])

    def test_a_text_whose_time_is_over(self):
        for stream in (True, False):
            reply = self.client.ask("long", "generate", {**ENDLESS, "timeout_ms": 40, "stream": stream})
            name, problem = list(events(reply))[-1] if reply.status == 200 else ("error", reply.json())
            self.assertEqual((name, problem["status"]), ("error", 504))
        self.assertEqual(self.server.figures()[
            'podium_serve_requests_total{model="long",endpoint="generate",outcome="timed_out"}'], 2)

    def test_sigterm_ends_the_texts_that_are_under_way(self):
        with served.Server({"gpt": MODEL}) as server:
            ends = []

            def ask(seed):
                reply = server.client().ask("gpt", "generate", {"prompt": "one", "seed": seed, "max_tokens": 60})
                ends.append(list(events(reply))[-1][0] if reply.status == 200 else reply.status)
            threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
            for thread in threads:
                thread.start()
            server.wait_until(lambda: server.figures()['podium_serve_batch_sequences_count{model="gpt"}'] > 0, "a text")
            self.assertEqual(server.terminate(), 0)
            for thread in threads:
                thread.join()
            self.assertLessEqual(set(ends), {"end", 503})
            self.assertIn("end", ends)


if __name__ == "__main__":
    unittest.main()

"""A server that is sent what no client should send: it answers or closes the connection, and goes on serving others.

PODIUM_FUZZ_SECONDS says how long random bytes are sent; every seed's requests are the same each time.
"""

import json
import os
import pathlib
import random
import socket
import tempfile
import time
import unittest

import served

FOLDER = tempfile.TemporaryDirectory(prefix="podium-serve-hostile-")
SECONDS = float(os.environ.get("PODIUM_FUZZ_SECONDS", "4"))

BODIES = [{"text": "w1 [MASK] w2", "top": 3}, {"text": "w1", "next": "w2"}, {"question": "w1 ?", "context": "w2 w3 " * 20},
          {"text": "w1 w2", "pair": "w3", "truncate": True}]
VALUES = [None, True, -1, 0, 2 ** 63, 2 ** 64, 1e308, "", "\u0000", "[MASK]" * 300, "a" * 5000, "\U0001F600" * 50, [], [[]] * 30,
          {}, {"text": {"text": "w1"}}, "\ud83d", "\t\t", "\n" * 100, "[CLS][SEP][PAD]"]
ENDPOINTS = ["fill-mask", "embed", "answer", "classify"] * 4 + ["fill", "", "..", "%00", "%ff"]


def request(chance):
    """A request that is wrong in some way, or right."""
    body = dict(chance.choice(BODIES))
    for _ in range(chance.randrange(3)):
        body[chance.choice(["text", "next", "pair", "truncate", "top", "question", "context", "best", "timeout_ms", "x"])] = chance.choice(VALUES)
    data = bytearray(json.dumps(body).encode("utf-8", "surrogatepass"))
    for _ in range(chance.choice([0, 0, 0, 1, 5])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    length = chance.choice([len(data)] * 16 + [0, len(data) - 1, len(data) + 9, 2 ** 40, -1])
    method = chance.choice(["POST"] * 8 + ["GET", "PUT", "\x00", "OPTIONS"])
    path = f"/v1/models/{chance.choice(['bert', 'squad', 'moods', 'grades'] * 3 + ['bert:load', 'x' * 3000])}/{chance.choice(ENDPOINTS)}"
    head = (f"{method} {path} HTTP/1.{chance.choice('1111111110x')}\r\nHost: {chance.choice(['localhost', '127.0.0.1'] * 4 + ['evil'])}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n")
    whole = bytearray(head.encode("latin-1") + data)
    for _ in range(chance.choice([0, 0, 0, 0, 1, 3])):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    return bytes(whole)


def setUpModule():
    served.write_model(Hostile.models["bert"], 1)
    served.write_model(Hostile.models["squad"], 2, question_answering=True)
    served.write_classifier(Hostile.models["moods"], 3, ["glad", "sad"])
    served.write_classifier(Hostile.models["grades"], 4, [])


# What ended a server, until it was mended.
ENDED = [("squad", "answer", {"question": "w1 ?", "context": ""})]


class Hostile(served.ServedTest):
    models = {name: pathlib.Path(FOLDER.name) / name for name in ("bert", "squad", "moods", "grades")}

    def still_right(self):
        reply = self.server.client().ask("bert", "fill-mask", {"text": "w1 [MASK] w2"})
        self.assertEqual(reply.status, 200, reply.body)

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=served.WAIT)
        return connection

    def test_random_requests(self):
        chance, end, sent, statuses = random.Random(2024), time.monotonic() + SECONDS, 0, set()
        while time.monotonic() < end:
            with self.connect() as connection:
                connection.settimeout(0.2)  # a body that is announced and does not come is waited for
                try:
                    connection.sendall(request(chance))
                    if chance.randrange(4) == 0:
                        connection.shutdown(socket.SHUT_WR)
                    statuses.add(connection.recv(12)[9:12].decode("latin-1"))
                except OSError:
                    pass
            sent += 1
            if sent % 100 == 0:
                self.still_right()
        self.still_right()
        self.assertNotIn("500", statuses)
        self.assertLessEqual({"200", "400", "404", "422"}, statuses)
        print(f"{sent} requests, answered {sorted(statuses)}")

    def test_what_ended_a_server_once(self):
        for model, endpoint, body in ENDED:
            self.assertEqual(self.server.client().ask(model, endpoint, body).status, 422)
        self.still_right()

    def test_clients_that_leave_before_the_answer(self):
        body = json.dumps({"question": "w1 ?", "context": "w2 w3 " * 500})
        for _ in range(100):
            with self.connect() as connection:
                connection.sendall((f"POST /v1/models/squad/answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                                    f"\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        def outcomes():
            named = 'podium_serve_requests_total{{model="squad",endpoint="answer",outcome="{}"}}'
            return [self.server.figures().get(named.format(outcome), 0) for outcome in ("client_left", "answered")]
        self.server.wait_until(lambda: sum(outcomes()) >= 100, "the end of all")
        self.assertGreaterEqual(outcomes()[0], 50, "they left at once")
        self.still_right()

    def test_slow_clients_hinder_nobody(self):
        slow = [self.connect() for _ in range(200)]
        for i, connection in enumerate(slow):
            connection.sendall(b"POST /v1/models/bert/embed HTTP/1.1\r\nHost: localhost\r\nContent-"[:1 + i % 60])
        self.still_right()
        for connection in slow:
            connection.close()

    def test_several_requests_in_one_go(self):
        body = json.dumps({"text": "w1"})
        one = (f"POST /v1/models/bert/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n{body}")
        with self.connect() as connection:
            connection.sendall((one * 20).encode())
            answer = b""
            while answer.count(b"HTTP/1.1 200") < 20:
                piece = connection.recv(65536)
                self.assertTrue(piece, answer)
                answer += piece


if __name__ == "__main__":
    unittest.main()

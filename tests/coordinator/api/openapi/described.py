"""What schemas/openapi.yaml promises, and calls of a real daemon whose answers are held to it."""

import pathlib
import sys
import tempfile
import unittest

import jsonschema
import yaml

from daemon import USER, Agent, Daemon

DOCUMENT = yaml.safe_load(pathlib.Path(sys.argv.pop(1)).read_text())


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


WEBHOOKS = "version: 1\nwebhooks: [{name: ops, url: 'http://127.0.0.1:1/path', secret: 0123456789abcdef, events: [node.lost]}]\n"


class Described(unittest.TestCase):
    """One daemon for all calls, which are made in the order of their names, and what was called."""

    @classmethod
    def setUpClass(cls):
        cls.called = set()
        cls.shared = tempfile.TemporaryDirectory()
        cls.daemon = Daemon("--services", "127.0.0.1:0", "--shared", cls.shared.name, webhooks=WEBHOOKS)
        cls.agent = Agent(cls.daemon, devices=2)
        cls.agent.orders()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        cls.shared.cleanup()

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

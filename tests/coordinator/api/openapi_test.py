"""schemas/openapi.yaml is true: every operation is called on a real daemon, and every answer, good or bad, is of the
status, the content type and the shape that the file promises.

    openapi_test.py PODIUM_COORDINATOR OPENAPI_YAML
"""

import re
import unittest

import daemon  # noqa: F401: it takes its argument first
from openapi.cluster import Cluster
from openapi.described import DOCUMENT, resolved
from openapi.jobs import Jobs
from openapi.service import Service
from openapi.submissions import Submissions


class OpenapiTest(Jobs, Submissions, Cluster, Service):
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


del Jobs, Submissions, Cluster, Service  # they are run as parts of the whole

if __name__ == "__main__":
    unittest.main()

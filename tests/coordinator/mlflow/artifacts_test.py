"""MLflow's artifacts and the tokens of jobs, with a real coordinator: files go in and out whole, and nowhere else.

Usage: artifacts_test.py COORDINATOR
"""

import base64
import hashlib
import hmac
import http.client
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "api"))
from daemon import AGENT, USER, WAIT, Agent, Daemon, spec, wait_for  # noqa: E402

PREFIX = "/api/2.0/mlflow-artifacts/"
MOST = 20_000_000  # bytes of an artifact


def basic(password, user="x"):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Fault:
    """What a refusal says, which must have MLflow's form."""

    def __init__(self, reply):
        assert reply.type == "application/json", (reply.status, reply.type, reply.body)
        body = reply.json()
        assert set(body) == {"error_code", "message"} and body["message"], body
        self.pair = (reply.status, body["error_code"])


class ArtifactsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-artifact", "20MB")
        agent = Agent(cls.daemon, devices=2)
        agent.tell()
        for name in ("first", "second"):
            assert cls.daemon.submit(spec(name)).status == 201
        launches = agent.wait_for_order("start")
        while len(launches) < 2:
            launches = agent.wait_for_order("start")
        tracking = {launch["job"]: launch["tracking"] for launch in launches}
        cls.run_id, cls.token = tracking[1]["run_id"], tracking[1]["token"]
        cls.other_id, cls.other_token = tracking[2]["run_id"], tracking[2]["token"]

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def path(self, name, run=None):
        return f"{PREFIX}artifacts/0/{run or self.run_id}/artifacts" + ("/" + name if name else "")

    def put(self, name, body, token=USER, run=None, **headers):
        return self.daemon.request("PUT", self.path(name, run), body, token, **headers)

    def get(self, name, run=None, **headers):
        return self.daemon.request("GET", self.path(name, run), **headers)

    def names(self, folder="", run=None):
        reply = self.daemon.request("GET", f"{PREFIX}artifacts?path=0/{run or self.run_id}/artifacts" + folder)
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()["files"]

    def delete(self, name, token=USER):
        return self.daemon.request("DELETE", self.path(name), token=token)

    def assertFault(self, reply, status, code):
        self.assertEqual(Fault(reply).pair, (status, code), reply.body)

    def test_a_file_comes_back_as_it_went_in(self):
        body = bytes(i * 7 % 251 for i in range(1_200_001))
        reply = self.put("models/a%20b/weights.bin", body)
        self.assertEqual((reply.status, reply.json(), reply.type), (200, {}, "application/json"))
        reply = self.get("models/a%20b/weights.bin")
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.body, body)
        self.assertEqual(reply.headers["Content-Length"], str(len(body)))
        self.assertEqual(reply.headers["Content-Disposition"],
                         "attachment; filename=\"weights.bin\"; filename*=UTF-8''weights.bin")
        self.assertEqual(reply.headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(reply.type, "application/octet-stream")
        head = self.daemon.request("HEAD", self.path("models/a%20b/weights.bin"))
        self.assertEqual((head.status, head.headers["Content-Length"], head.body), (200, str(len(body)), b""))
        self.assertEqual(self.names("/models"), [{"path": "a b", "is_dir": True}])
        self.assertEqual(self.names("/models/a%20b"),
                         [{"path": "weights.bin", "is_dir": False, "file_size": len(body)}])

    def test_chunks_and_nothing_are_files_too(self):
        reply = self.daemon.request("PUT", self.path("chunks"), iter([b"one", b"two" * 100_000]), USER)
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(self.get("chunks").body, b"one" + b"two" * 100_000)
        self.assertEqual(self.put("empty", b"").status, 200)
        reply = self.get("empty")
        self.assertEqual((reply.status, reply.body, reply.headers["Content-Length"]), (200, b"", "0"))

    def test_a_later_upload_takes_the_place_of_the_file(self):
        for body in (b"first", b"the second"):
            self.assertEqual(self.put("replaced", body).status, 200)
            self.assertEqual(self.get("replaced").body, body)

    def test_names_that_are_no_ascii(self):
        name = "caf%C3%A9%20%22x%22.txt"  # café "x".txt
        self.assertEqual(self.put(name, b"x").status, 200)
        self.assertEqual(self.get(name).headers["Content-Disposition"],
                         "attachment; filename=\"caf__ _x_.txt\"; filename*=UTF-8''caf%C3%A9%20%22x%22.txt")
        self.assertIn({"path": 'café "x".txt', "is_dir": False, "file_size": 1}, self.names())

    def test_parts_of_a_file(self):
        self.put("parts", bytes(range(100)))
        for asked, first, last in (("bytes=10-19", 10, 19), ("bytes=90-", 90, 99), ("bytes=-5", 95, 99)):
            reply = self.get("parts", Range=asked)
            self.assertEqual((reply.status, reply.body), (206, bytes(range(first, last + 1))), asked)
            self.assertEqual(reply.headers["Content-Range"], f"bytes {first}-{last}/100")
        reply = self.get("parts", Range="bytes=100-")
        self.assertEqual((reply.status, reply.headers["Content-Range"]), (416, "bytes */100"))
        self.assertEqual(self.get("parts", Range="bytes=1-2,5-6").status, 200)
        etag = self.get("parts").headers["ETag"]
        self.assertEqual(self.get("parts", Range="bytes=0-0", If_Range=etag).status, 206)
        self.put("parts", bytes(range(100)))
        self.assertEqual(self.get("parts", Range="bytes=0-0", If_Range=etag).status, 200, "it is another file now")

    def test_what_is_not_there(self):
        for name in ("none", "models/none", ""):
            self.assertFault(self.get(name), 404, "RESOURCE_DOES_NOT_EXIST")
        self.assertEqual(self.names("/none"), [])
        self.put("file", b"x")
        self.assertEqual(self.names("/file"), [], "a file is no folder to the client")
        self.assertEqual(self.names("/file/below"), [])
        unknown = self.run_id[:-1] + "9"
        self.assertFault(self.put("x", b"x", run=unknown), 404, "RESOURCE_DOES_NOT_EXIST")
        self.assertFault(self.put("x", b"", run=unknown), 404, "RESOURCE_DOES_NOT_EXIST")
        self.assertFault(self.get("x", run="f" * 32), 404, "RESOURCE_DOES_NOT_EXIST")
        self.assertFault(self.daemon.request("GET", PREFIX + "elsewhere"), 404, "ENDPOINT_NOT_FOUND")
        self.assertFault(self.daemon.request("POST", self.path("x"), b"", USER), 405, "BAD_REQUEST")

    def test_files_and_folders_are_deleted(self):
        for name in ("gone/a", "gone/b/c", "gone_too"):
            self.put(name, b"x")
        self.assertEqual(self.delete("gone_too").json(), {})
        self.assertFault(self.delete("gone_too"), 404, "RESOURCE_DOES_NOT_EXIST")
        self.assertEqual(self.delete("gone").status, 200)
        self.assertFault(self.get("gone/b/c"), 404, "RESOURCE_DOES_NOT_EXIST")
        self.put("of_the_other", b"x", run=self.other_id)
        for _ in range(2):  # a run's folder may be empty
            self.assertEqual(self.delete("").status, 200)
        self.assertEqual(self.names(), [])
        self.assertEqual(self.get("of_the_other", run=self.other_id).status, 200)

    def test_no_path_leads_out_of_the_runs_folder(self):
        secret = self.daemon.home / "artifacts" / "secret"
        secret.write_text("secret")
        for name in ("../../secret", "..", "../x", "a/../../../secret", "%2e%2e/%2e%2e/secret", "..%2f..%2fsecret",
                     "a%2f..%2f..%2f..%2fsecret", "%2fetc%2fpasswd", "/etc/passwd", "a//b", "a/", "./a", "a%5cb", "a%23b",
                     "a%00b", "a%0ab", "%ff", "a" * 256, "/".join(["deep"] * 700)):
            for method, body in (("GET", None), ("PUT", b"x"), ("DELETE", None)):
                reply = self.daemon.request(method, self.path(name), body, USER)
                self.assertFault(reply, 400, "INVALID_PARAMETER_VALUE")
            listed = self.daemon.request("GET", f"{PREFIX}artifacts?path=0/{self.run_id}/artifacts/{name}")
            self.assertFault(listed, 400, "INVALID_PARAMETER_VALUE")
        for path in ("", "..", "0", f"0/{self.run_id}", "/etc"):
            self.assertIn(Fault(self.daemon.request("GET", f"{PREFIX}artifacts?path={path}")).pair[0], (400, 404))
        self.assertEqual(secret.read_text(), "secret")
        self.assertEqual(sorted(p.name for p in (self.daemon.home / "artifacts").iterdir()),
                         ["runs", "secret", "uploads"])

    def test_a_file_and_a_folder_do_not_take_each_others_place(self):
        self.put("a_file", b"x")
        self.put("a_folder/x", b"x")
        self.assertFault(self.put("a_file/x", b"x"), 400, "INVALID_PARAMETER_VALUE")
        self.assertFault(self.put("a_folder", b"x"), 400, "INVALID_PARAMETER_VALUE")
        self.assertEqual(self.get("a_file").body, b"x")

    def test_too_large_a_file(self):
        self.assertFault(self.put("large", b"x" * (MOST + 1)), 413, "BAD_REQUEST")
        chunked = self.daemon.request("PUT", self.path("large"), iter([b"x" * 1_000_000] * 21), USER)
        self.assertFault(chunked, 413, "BAD_REQUEST")
        self.assertFault(self.get("large"), 404, "RESOURCE_DOES_NOT_EXIST")
        self.assertEqual(self.put("large", b"x" * MOST).status, 200)
        wait_for(lambda: not any((self.daemon.home / "artifacts" / "uploads").iterdir()), "the uploads to go")

    def test_no_parts_in_parallel(self):
        for what in ("create", "complete", "abort"):
            reply = self.daemon.request("POST", f"{PREFIX}mpu/{what}/0/{self.run_id}/artifacts", {"path": "x"}, USER)
            self.assertFault(reply, 501, "NOT_IMPLEMENTED")
            self.assertEqual(reply.json()["message"],
                             "Multipart upload is not supported for the current artifact repository")

    def test_who_may_write(self):
        for header in ("Bearer " + USER, basic(USER), "Bearer " + self.token, basic(self.token),
                       basic(self.token, user="")):
            self.assertEqual(self.put("by", b"x", token=None, Authorization=header).status, 200, header)
        for header, fault in ((None, (401, "UNAUTHENTICATED")), ("Bearer wrong", (401, "UNAUTHENTICATED")),
                              (basic("wrong"), (401, "UNAUTHENTICATED")), ("Basic !", (401, "UNAUTHENTICATED")),
                              ("Bearer " + AGENT, (403, "PERMISSION_DENIED")),
                              ("Bearer " + self.other_token, (403, "PERMISSION_DENIED")),
                              (basic(self.other_token), (403, "PERMISSION_DENIED")),
                              ("Bearer " + self.token[:-1], (401, "UNAUTHENTICATED"))):
            headers = {"Authorization": header} if header else {}
            for method, body in (("PUT", b"x"), ("DELETE", None)):
                reply = self.daemon.request(method, self.path("by"), body, **headers)
                self.assertEqual(Fault(reply).pair, fault, (method, header))
        foreign = self.put("by", b"x", Origin="http://evil.example")
        self.assertFault(foreign, 403, "PERMISSION_DENIED")

    def test_a_jobs_token_reads_its_own_run_and_nothing_else(self):
        self.put("read", b"x")
        own = {"Authorization": "Bearer " + self.token}
        self.assertEqual(self.get("read", **own).status, 200)
        self.assertFault(self.get("read", run=self.other_id, **own), 403, "PERMISSION_DENIED")
        listed = self.daemon.request("GET", f"{PREFIX}artifacts?path=0/{self.other_id}/artifacts", **own)
        self.assertFault(listed, 403, "PERMISSION_DENIED")
        for method, path in (("GET", "/jobs"), ("GET", "/jobs/1"), ("POST", "/jobs/1/cancel"), ("GET", "/live"),
                             ("POST", "/nodes/node-1/sync")):
            reply = self.daemon.request(method, "/api/v1" + path, token=self.token)
            self.assertEqual((reply.status, reply.type), (403, "application/problem+json"), path)
        self.assertEqual(self.daemon.request("GET", "/metrics", token=self.token).status, 403)
        self.assertEqual(self.daemon.request("GET", "/api/v1/jobs", Authorization=basic(USER)).status, 200,
                         "Basic is none of the API's own")

    def test_tokens_are_macs_of_run_ids(self):
        key = (self.daemon.home / "runs.key").read_text().strip()
        self.assertEqual((self.daemon.home / "runs.key").stat().st_mode & 0o777, 0o600)
        mac = hmac.new(key.encode(), f"run {self.run_id}".encode(), hashlib.sha256).hexdigest()
        self.assertEqual(self.token, "podium-run-1-" + mac)
        cluster = (self.daemon.home / "cluster.id").read_text().strip()
        self.assertEqual(self.run_id, cluster[:16] + "0000000000000001")

    def test_a_long_file_does_not_go_through_memory(self):
        def peak():
            status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) * 1024
        with Daemon() as daemon:
            daemon.submit(spec())
            cluster = (daemon.home / "cluster.id").read_text().strip()
            path = f"{PREFIX}artifacts/0/{cluster[:16]}0000000000000001/artifacts/long"
            before = peak()
            size = 300_000_000
            reply = daemon.request("PUT", path, (bytes(1_000_000) for _ in range(300)), USER)
            self.assertEqual(reply.status, 200, reply.body)
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT)
            connection.request("GET", path)
            response = connection.getresponse()
            read = 0
            while part := response.read(1_000_000):
                read += len(part)
            connection.close()
            self.assertEqual(read, size)
            self.assertLess(peak() - before, 50_000_000)


class FaultsTest(unittest.TestCase):
    """A daemon of its own for each, because it is killed or started again."""

    def start(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        self.assertEqual(daemon.submit(spec()).status, 201)
        cluster = (daemon.home / "cluster.id").read_text().strip()
        return daemon, f"{PREFIX}artifacts/0/{cluster[:16]}0000000000000001/artifacts/"

    def test_a_killed_coordinator_leaves_no_half_file(self):
        daemon, path = self.start()
        daemon.request("PUT", path + "file", b"whole", USER)
        uploads = daemon.home / "artifacts" / "uploads"
        with daemon.raw() as client:
            client.sendall(f"PUT {path}file HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {USER}\r\n"
                           "Content-Length: 1000000\r\n\r\n".encode() + b"x" * 600_000)
            wait_for(lambda: any(upload.stat().st_size for upload in uploads.iterdir()), "the upload to begin")
            daemon.kill()
        self.assertTrue(any(uploads.iterdir()))
        daemon.start()
        self.assertFalse(any(uploads.iterdir()))
        self.assertEqual(daemon.request("GET", path + "file").body, b"whole")

    def test_a_client_that_goes_leaves_nothing(self):
        daemon, path = self.start()
        uploads = daemon.home / "artifacts" / "uploads"
        with daemon.raw() as client:
            client.sendall(f"PUT {path}file HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {USER}\r\n"
                           "Content-Length: 1000000\r\n\r\n".encode() + b"x" * 600_000)
            wait_for(lambda: any(uploads.iterdir()), "the upload to begin")
        wait_for(lambda: not any(uploads.iterdir()), "the upload to go")
        self.assertEqual(daemon.request("GET", path + "file").status, 404)

    def test_a_disk_that_is_nearly_full_takes_none(self):
        daemon, path = self.start()
        daemon.request("PUT", path + "file", b"x", USER)
        daemon.terminate()
        daemon.options += ("--disk-reserve", "900TB")
        daemon.start()
        reply = daemon.request("PUT", path + "other", b"x", USER)
        self.assertEqual(Fault(reply).pair, (503, "TEMPORARILY_UNAVAILABLE"))
        self.assertEqual(daemon.request("PUT", path + "other", b"", USER).status, 503)
        self.assertEqual(daemon.request("GET", path + "file").body, b"x")
        self.assertEqual(daemon.request("DELETE", path + "file", token=USER).status, 200)

    def test_artifacts_stay_over_a_restart_and_so_do_tokens(self):
        daemon, path = self.start()
        daemon.request("PUT", path + "file", b"x", USER)
        key = (daemon.home / "runs.key").read_text()
        self.assertEqual(daemon.terminate(), 0)
        daemon.start()
        self.assertEqual(daemon.request("GET", path + "file").body, b"x")
        self.assertEqual((daemon.home / "runs.key").read_text(), key)


class ClosedReadsTest(unittest.TestCase):
    def test_reading_needs_a_token_where_others_can_ask(self):
        with Daemon(listen="0.0.0.0:0") as daemon:
            daemon.submit(spec())
            cluster = (daemon.home / "cluster.id").read_text().strip()
            path = f"{PREFIX}artifacts?path=0/{cluster[:16]}0000000000000001/artifacts"
            self.assertEqual(Fault(daemon.request("GET", path)).pair, (401, "UNAUTHENTICATED"))
            for token in (USER, AGENT):
                self.assertEqual(daemon.request("GET", path, token=token).json(), {"files": []})
            self.assertEqual(daemon.request("GET", path, Authorization=basic(USER)).status, 200)


if __name__ == "__main__":
    unittest.main()

"""What the daemon lets in: tokens, hosts, methods, sizes, and the files of the dashboard."""

import gzip
import pathlib
import subprocess
import tempfile
import threading
import unittest

import daemon
from daemon import AGENT, USER, Agent, Daemon, spec


class HttpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        (root / "secret.txt").write_text("secret")
        web = root / "web"
        (web / "assets").mkdir(parents=True)
        (web / "index.html").write_text("<h1>Podium</h1>")
        (web / "assets" / "app-1a2b.js").write_text("go()")
        (web / "assets" / "app-1a2b.js.gz").write_bytes(gzip.compress(b"go()"))
        (web / "assets" / "type.bin").write_bytes(b"\0")
        (web / ".hidden").write_text("hidden")
        (web / "way-out.txt").symlink_to(root / "secret.txt")
        cls.daemon = Daemon("--web", web)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        cls.folder.cleanup()

    def status(self, *arguments, **options):
        return self.daemon.request(*arguments, **options).status

    def test_tokens_guard_what_changes_state(self):
        guarded = {
            "/api/v1/experiments": (USER, AGENT),
            "/api/v1/validate": (USER, AGENT),
            "/api/v1/jobs/1/cancel": (USER, AGENT),
            "/api/v1/jobs/1/hold": (USER, AGENT),
            "/api/v1/accounts/nlp": (USER, AGENT),
            "/api/v1/jobs/1/release": (USER, AGENT),
            "/api/v1/jobs/1/requeue": (USER, AGENT),
            "/api/v1/jobs/1/priority": (USER, AGENT),
            "/api/v1/jobs/1/walltime": (USER, AGENT),
            "/api/v1/nodes/n/sync": (AGENT, USER),
            "/api/v1/nodes/n/streams": (AGENT, USER),
        }
        for path, (right, wrong) in guarded.items():
            missing = self.daemon.request("POST", path, {})
            self.assertEqual(missing.status, 401, path)
            self.assertIn("Bearer", missing.headers["WWW-Authenticate"])
            for bad in (right[:-1], right + "x", "", right.upper()):
                self.assertEqual(self.status("POST", path, {}, Authorization="Bearer " + bad), 401, path)
            self.assertEqual(self.status("POST", path, {}, Authorization="Basic " + right), 401, path)
            self.assertEqual(self.status("POST", path, {}, wrong), 403, path)
            self.assertEqual(self.status("POST", path, {"spec": spec("unguarded")}), 401, path)
            self.assertNotIn(self.status("POST", path, {}, right), (401, 403), path)
        self.assertEqual(self.daemon.get("/jobs?name=unguarded").json()["total"], 0)

    def test_pages_of_other_sites_are_kept_out(self):
        self.assertEqual(self.status("GET", "/api/v1/jobs", Host="evil.example:7070"), 403)
        self.assertEqual(self.status("GET", "/", Host="evil.example"), 403)
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:7070"):
            self.assertEqual(self.status("GET", "/api/v1/jobs", Host=host), 200, host)
        path = "/api/v1/validate"
        body = {"spec": spec()}
        self.assertEqual(self.status("POST", path, body, USER, Origin="http://evil.example"), 403)
        self.assertEqual(self.status("POST", path, body, USER, Origin="null"), 403)
        own = f"127.0.0.1:{self.daemon.port}"
        self.assertNotEqual(self.status("POST", path, body, USER, Origin="http://" + own, Host=own), 403)

    def test_methods_and_paths(self):
        for method, path, allowed in (
            ("DELETE", "/api/v1/jobs/1", "GET, HEAD"),
            ("GET", "/api/v1/validate", "POST"),
            ("PUT", "/api/v1/experiments", "GET, HEAD, POST"),
            ("BREW", "/api/v1/health", "GET, HEAD"),
            ("POST", "/", "GET, HEAD"),
        ):
            reply = self.daemon.request(method, path)
            self.assertEqual((reply.status, reply.headers["Allow"]), (405, allowed))
        options = self.daemon.request("OPTIONS", "/api/v1/experiments")
        self.assertEqual((options.status, options.headers["Allow"], options.body), (204, "GET, HEAD, POST", b""))
        head = self.daemon.request("HEAD", "/api/v1/jobs")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertGreater(int(head.headers["Content-Length"]), 0)
        for path in ("/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/jobs/1/2/3", "/api/v1//jobs", "/api/v2/jobs"):
            self.assertEqual(self.status("GET", path), 404, path)
        self.assertEqual(self.status("GET", "/api/v1/jobs?name=%zz"), 400)

    def test_the_dashboard(self):
        page = self.daemon.request("GET", "/")
        self.assertEqual((page.status, page.type, page.body), (200, "text/html", b"<h1>Podium</h1>"))
        self.assertIn("default-src 'self'", page.headers["Content-Security-Policy"])
        self.assertEqual(page.headers["Cache-Control"], "no-cache")
        tag = page.headers["ETag"]
        again = self.daemon.request("GET", "/index.html", If_None_Match=tag)
        self.assertEqual((again.status, again.body), (304, b""))
        script = self.daemon.request("GET", "/assets/app-1a2b.js")
        self.assertEqual((script.type, script.body), ("text/javascript", b"go()"))
        self.assertIn("immutable", script.headers["Cache-Control"])
        packed = self.daemon.request("GET", "/assets/app-1a2b.js", Accept_Encoding="br, gzip")
        self.assertEqual((packed.headers["Content-Encoding"], gzip.decompress(packed.body)), ("gzip", b"go()"))
        self.assertEqual(self.daemon.request("GET", "/assets/type.bin").type, "application/octet-stream")

    def test_long_answers_are_packed_for_those_who_accept_it(self):
        path = "/api/v1/openapi.yaml"
        plain = self.daemon.request("GET", path)
        self.assertEqual((plain.headers["Content-Encoding"], plain.headers["Vary"]), (None, "Accept-Encoding"))
        for accepted in ("gzip", "br, GZIP;q=0.5", "*"):
            packed = self.daemon.request("GET", path, Accept_Encoding=accepted)
            self.assertEqual(packed.headers["Content-Encoding"], "gzip", accepted)
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertLess(len(packed.body), len(plain.body) / 3)
        for refused in ("identity", "gzip;q=0", "*, gzip;q=0.0", "br"):
            self.assertIsNone(self.daemon.request("GET", path, Accept_Encoding=refused).headers["Content-Encoding"], refused)
        long = self.daemon.request("POST", "/api/v1/validate", {"spec": spec(extra="".join(f"x{i}: 1\n" for i in range(99)))},
                                   USER, Accept_Encoding="gzip")
        self.assertEqual((long.status, long.headers["Content-Encoding"]), (422, "gzip"))
        self.assertEqual(daemon.json.loads(gzip.decompress(long.body))["status"], 422)
        short = self.daemon.get("/health", Accept_Encoding="gzip")
        self.assertEqual((short.headers["Content-Encoding"], short.json()["status"]), (None, "ok"))
        head = self.daemon.request("HEAD", path, Accept_Encoding="gzip")
        self.assertEqual((head.body, head.headers["Content-Encoding"]), (b"", "gzip"))

    def test_no_file_outside_the_dashboard(self):
        for path in (
            "/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/way-out.txt",
            "/.hidden", "/assets", "/assets/", "/nothing.html", "/index.html%00.js", "//etc/passwd", "/assets%5c..%5cx",
        ):
            reply = self.daemon.request("GET", path)
            self.assertEqual(reply.status, 404, path)
            self.assertNotIn(b"secret", reply.body.replace(b"secret.txt", b""))

    def test_bodies_are_bounded(self):
        large = "x" * (8 * 1024 * 1024 + 1)
        with self.daemon.raw() as connection:
            head = f"POST /api/v1/experiments HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {USER}\r\n"
            connection.sendall(f"{head}Content-Length: {len(large)}\r\n\r\n".encode())
            self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 413"))

    def test_strangers_are_refused_before_their_bodies_are_read(self):
        for path in ("/api/v1/experiments", "/api/v1/nodes/n/streams", "/api/v1/nothing", "/"):
            with self.daemon.raw() as connection:
                connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\n".encode())
                self.assertRegex(connection.recv(4096), b"^HTTP/1.1 (401|404|405)", path)  # and no byte of it was sent
        self.assertEqual(self.status("GET", "/api/v1/health", b"x" * 1000), 400)
        self.assertEqual(self.status("GET", "/", b"x" * 1000), 400)

    def test_a_body_of_100_megabytes_gets_its_413(self):
        self.assertEqual(self.status("POST", "/api/v1/experiments", b"x" * 100_000_000, USER), 413)

    def test_two_hosts_or_tokens_are_refused(self):
        for double in ("Host: localhost", f"Authorization: Bearer no\r\nAuthorization: Bearer {USER}"):
            with self.daemon.raw() as connection:
                connection.sendall(f"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n{double}\r\n\r\n".encode())
                self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 400"), double)

    def test_sixteen_long_specs_hold_up_nobody(self):
        """Each took seconds, all together 312 s in which nothing else was answered."""
        numbers = ", ".join(map(str, range(30_000)))
        texts = [f"version: 1\nname: x\ncommand: [{numbers}]\n", f"version: 1\nname: x\nsweep: {{priority: [{numbers[:40000]}]}}\n"]
        replies = []
        threads = [threading.Thread(target=lambda i=i: replies.append(self.daemon.submit(texts[i % 2]))) for i in range(16)]
        agent = Agent(self.daemon, "beside")
        for thread in threads:
            thread.start()
        agent.tell()
        self.assertEqual(self.status("GET", "/api/v1/health"), 200)
        for thread in threads:
            thread.join()
        self.assertEqual({reply.status for reply in replies}, {422})

    def test_many_clients_at_once(self):
        failures = []

        def client(number):
            for i in range(10):
                reply = self.daemon.submit(spec(f"many-{number}-{i}"))
                listed = self.daemon.get(f"/jobs?name=many-{number}-{i}")
                if reply.status != 201 or len(listed.json()["jobs"]) != 1:
                    failures.append(reply.body)

        Agent(self.daemon).orders()
        threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        ids = [job["id"] for job in self.daemon.get("/jobs?name=many-&limit=1000").json()["jobs"]]
        self.assertEqual(len(set(ids)), 80)


class StartTest(unittest.TestCase):
    def run_to_end(self, *options):
        return subprocess.run([daemon.BINARY, *options], capture_output=True, text=True, timeout=daemon.WAIT)

    def test_reading_needs_a_token_where_others_can_ask(self):
        with tempfile.TemporaryDirectory() as web:
            pathlib.Path(web, "index.html").write_text("page")
            with Daemon("--web", web, listen="0.0.0.0:0") as served:
                self.assertEqual(served.get("/jobs").status, 401)
                self.assertEqual(served.get("/jobs", token="no").status, 401)
                self.assertEqual(served.get("/jobs", token=USER).status, 200)
                self.assertEqual(served.get("/jobs", token=AGENT).status, 200)
                self.assertEqual(served.get("/jobs", token=USER, Host="podium.example").status, 200)
                self.assertEqual(served.get("/health").status, 200)
                self.assertEqual(served.request("GET", "/").status, 200)
            with Daemon("--open-reads", listen="0.0.0.0:0") as served:
                self.assertEqual(served.get("/jobs").status, 200)
                self.assertEqual(served.get("/jobs", Authorization="Basic YTpi").status, 200, "a proxy's own")
                self.assertEqual(served.get("/jobs", token="no").status, 401)
                self.assertEqual(served.request("POST", "/api/v1/validate", {"spec": spec()}).status, 401)

    def test_a_home_has_one_coordinator(self):
        with Daemon() as served:
            second = self.run_to_end("--home", served.home, "--listen", "127.0.0.1:0")
            self.assertEqual(second.returncode, 2)
            self.assertIn("another coordinator is running", second.stderr)
            self.assertEqual(served.get("/health").status, 200)

    def test_equal_tokens_are_refused(self):
        for names in (("user.token", "agent.token"), ("user.token", "services.token"), ("agent.token", "services.token")):
            with tempfile.TemporaryDirectory() as home:
                for name in names:
                    pathlib.Path(home, name).write_text("one-token-for-everybody\n")
                result = self.run_to_end("--home", home, "--listen", "127.0.0.1:0", "--services", "127.0.0.1:0")
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"{names[0]} and", result.stderr)
                self.assertIn("hold the same token; remove one of them", result.stderr)

    def test_a_taken_port_is_named(self):
        with Daemon() as served, tempfile.TemporaryDirectory() as home:
            second = self.run_to_end("--home", home, "--listen", f"127.0.0.1:{served.port}")
            self.assertEqual(second.returncode, 1)
            self.assertIn(f"cannot listen on 127.0.0.1:{served.port}: Address already in use; stop", second.stderr)

    def test_mistakes_on_the_command_line(self):
        with tempfile.TemporaryDirectory() as home:
            for options, said in (
                ((), "--home"),
                (("--home", home, "--listen", "7070"), "127.0.0.1:7070"),
                (("--home", home, "--listen", "localhost:7070"), "must be an IP address"),
                (("--home", home, "--lease", "soon"), "90s"),
                (("--home", home, "--lease", "0s"), "--lease must be at least 10s"),
                (("--home", home, "--lease", "5s"), "--lease must be at least 10s"),
                (("--home", home, "--lease", "9999d"), "--lease must be at most 30d"),
                (("--home", home, "--node-lost-after", "59s"), "--node-lost-after must be at least 1m"),
                (("--home", home, "--nothing-shared", "--node-lost-after", "30m"), "at least 30m44s"),
                (("--home", home, "--node-unknown-after", "15s"), "must be more than 15s"),
                (("--home", home, "--orphan-after", "10s"), "--orphan-after must be at least 1m"),
                (("--home", home, "--tls-cert", daemon.BINARY), "--tls-key"),
                (("--home", home, "--web", home + "/none"), "does not exist"),
            ):
                result = self.run_to_end(*options)
                self.assertEqual(result.returncode, 2, options)
                self.assertIn(said, result.stderr + result.stdout)

    def test_settings_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "coordinator.yaml")
            config.write_text("lease: 20s\nnode-lost-after: 50s\nopen-reads: true\n")
            with Daemon("--config", config) as served:
                reply = Agent(served).sync()
                self.assertEqual(reply.json()["lease_ms"], 20_000)
            config.write_text("leese: 2s\n")
            wrong = self.run_to_end("--home", folder, "--config", config)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("leese", wrong.stderr + wrong.stdout)

    def test_specs_of_a_git_repository_become_experiments(self):
        with tempfile.TemporaryDirectory() as folder:
            repository = pathlib.Path(folder, "specs")
            identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")

            def git(*arguments):
                command = ["git", "-C", repository, *identity, *arguments]
                return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

            repository.mkdir()
            git("init", "-q", "-b", "main")
            (repository / "good.yaml").write_text(spec("from-git"))
            (repository / "bad.yaml").write_text("version: 1\nnam: x\n")
            git("add", ".")
            git("commit", "-q", "-m", "specs")
            config = pathlib.Path(folder, "coordinator.yaml")
            config.write_text(f'specs: ["{repository},existing=submit"]\nspecs-every: 100ms\n')
            with Daemon("--config", config) as served:
                jobs = lambda: served.get("/jobs").json()["jobs"]
                daemon.wait_for(lambda: len(jobs()) == 1, "the committed spec")
                source = served.get(f"/jobs/{jobs()[0]['id']}").json()["source"]
                self.assertEqual((source["path"], source["commit"]), ("good.yaml", git("rev-parse", "HEAD")))
                specs = lambda: served.get("/specs").json()["repositories"][0]
                daemon.wait_for(lambda: len(specs()["specs"]) == 2, "what became of both")
                bad, good = specs()["specs"]
                self.assertEqual((bad["path"], bad["state"], good["state"]), ("bad.yaml", "refused", "submitted"))
                unknown = [problem for problem in bad["problems"] if problem["where"] == "bad.yaml:2:1"]
                self.assertIn("unknown key \"nam\"", unknown[0]["message"])
                self.assertIn("bad.yaml", served.read_log())
                (repository / "more.yaml").write_text(spec("more"))
                git("add", ".")
                git("commit", "-q", "-m", "more")
                daemon.wait_for(lambda: len(jobs()) == 2, "the next commit's spec")
                self.assertEqual(served.terminate(), 0)
                served.start()
                served.submit(spec("later"))
                self.assertEqual(len(jobs()), 3)

    def test_tokens_are_made_and_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            user = pathlib.Path(folder, "new", "user.token")
            with Daemon("--user-token-file", user) as served:
                token = user.read_text().strip()
                self.assertEqual(len(token), 64)
                self.assertEqual(user.stat().st_mode & 0o777, 0o600)
                self.assertEqual(served.request("POST", "/api/v1/validate", {"spec": ""}, token).status, 422)
                served.kill()
                served.start()
                self.assertEqual(user.read_text().strip(), token)
            user.write_text("short\n")
            wrong = self.run_to_end("--home", folder, "--user-token-file", user)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("at least 16 characters", wrong.stderr)

    def test_sigterm_stops_it_cleanly(self):
        with Daemon() as served:
            live = served.live()
            self.assertEqual(served.terminate(), 0)
            with self.assertRaises(EOFError):
                live.next()
            live.close()


if __name__ == "__main__":
    unittest.main()

"""podium against a real coordinator: the output of many ranks, Ctrl-C while the coordinator hangs, many jobs at once, and
the names that completion offers. A node is played by tests/coordinator/api/daemon.py."""

import contextlib
import itertools
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "coordinator" / "api"))
sys.argv.insert(1, str(BIN / "podium-coordinator"))
from daemon import USER, WAIT, Agent, Daemon, chunk, spec, wait_for  # noqa: E402

RANKS = 1024
JOBS = 10_000


def study(name, jobs, extra=""):
    values = ", ".join(str(i) for i in range(jobs))
    return spec(name, 1, f"parameters: {{i: 0}}\nsweep: {{parameters.i: [{values}]}}\n{extra}")


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.daemon.home), "PODIUM_TOKEN": USER,
                            "PODIUM_COORDINATOR": f"http://127.0.0.1:{self.daemon.port}"}

    def podium(self, *words):
        ran = subprocess.run([BIN / "podium", *words], capture_output=True, text=True, env=self.environment,
                             stdin=subprocess.DEVNULL, timeout=WAIT)
        return ran.returncode, ran.stdout, ran.stderr

    def start(self, *words, **how):
        files = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        child = subprocess.Popen([BIN / "podium", *words], env=self.environment, **files)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        for file in (child.stdout, child.stderr):
            if file:
                self.addCleanup(file.close)
        return child

    def run_job(self, ranks):
        """A running job: its number and the orders for its tasks."""
        agent = Agent(self.daemon, devices=ranks)
        agent.orders()
        job = self.daemon.submit(spec("many", ranks)).json()["jobs"][0]["id"]
        launches = sorted(agent.wait_for_order("start"), key=lambda launch: launch["rank"])
        agent.run(launches)
        return agent, job, launches

    def requests(self):
        text = self.daemon.request("GET", "/metrics").body.decode()
        return sum(int(number) for number in re.findall(r'^podium_http_requests_total\{.*\} (\d+)$', text, re.M))

    def deliver(self, agent, chunks):
        reply = agent.deliver(b"".join(chunks))
        self.assertEqual(reply.status, 200, reply.body)

    def test_logs_of_many_ranks_ask_once_a_round(self):
        agent, job, launches = self.run_job(RANKS)
        self.deliver(agent, [chunk(launch, "stdout", 0, b"first of %d\n" % launch["rank"]) for launch in launches])
        with tempfile.TemporaryFile() as out:
            follow = self.start("logs", str(job), "--follow", stdout=out)

            def lines():
                return os.pread(out.fileno(), 1 << 24, 0).decode().splitlines()

            wait_for(lambda: len(lines()) == RANKS, "a line of each rank")
            self.assertEqual(sorted(lines()), sorted(f"[{rank}] first of {rank}" for rank in range(RANKS)))
            before, begun = self.requests(), time.monotonic()
            self.deliver(agent, [chunk(launches[7], "stderr", 0, b"from 7\n")])
            wait_for(lambda: len(lines()) > RANKS, "the line of rank 7")
            time.sleep(2)
            asked, seconds = self.requests() - before, time.monotonic() - begun
            self.assertEqual(lines()[RANKS:], ["[7 stderr] from 7"])
            print(f"{asked} requests in {seconds:.1f} s of following {RANKS} ranks", file=sys.stderr)
            self.assertLess(asked, 6 * seconds + 6)
            follow.send_signal(signal.SIGINT)
            self.assertEqual(follow.wait(WAIT), 130)

    def test_ctrl_c_ends_at_once_while_the_coordinator_hangs(self):
        agent, job, launches = self.run_job(1)
        self.deliver(agent, [chunk(launches[0], "stdout", 0, b"hello\n")])
        for command in ("follow", "logs"):
            child = self.start(command, str(job), *(["--follow"] if command == "logs" else []))
            said = b""
            while b"hello\n" not in said:
                said += os.read(child.stdout.fileno(), 4096)
            self.daemon.process.send_signal(signal.SIGSTOP)
            try:
                time.sleep(1.5)  # a request is under way
                begun = time.monotonic()
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.wait(WAIT), 130)
                took = time.monotonic() - begun
            finally:
                self.daemon.process.send_signal(signal.SIGCONT)
            print(f"podium {command} ended {1000 * took:.0f} ms after Ctrl-C", file=sys.stderr)
            self.assertLess(took, 0.5)

    def test_a_tail_has_as_many_lines_as_asked_for(self):
        agent, job, launches = self.run_job(2)
        text = "".join(f"{i:07} {'x' * 90}\n" for i in range(60_000))  # 6 MB
        for at in range(0, len(text), 1 << 22):
            self.deliver(agent, [chunk(launches[1], "stdout", at, text[at:at + (1 << 22)].encode())])
        wanted = text.splitlines()[-50_000:]
        self.assertEqual(self.podium("logs", str(job), "--tail", "50000", "--rank", "1", "--stdout")[1].splitlines(), wanted)
        self.assertEqual(self.podium("logs", str(job), "--tail", "50000")[1].splitlines(), ["[1] " + line for line in wanted])
        self.assertEqual(self.podium("logs", str(job), "--tail", "99999999", "--stdout", "--rank", "1")[1], text)
        self.assertEqual(self.podium("logs", str(job), "--tail", "0")[1], "")

    def test_a_tail_is_shown_of_an_output_that_is_too_long_to_count_its_lines(self):
        agent, job, launches = self.run_job(2)
        piece = b"\r" + b"x" * ((4 << 20) - 1)
        for at in range(18):  # 72 MiB without an end of line
            self.deliver(agent, [chunk(launches[0], "stdout", at * len(piece), piece)])
        self.deliver(agent, [chunk(launches[0], "stdout", 18 * len(piece), b"last\n"),
                             chunk(launches[0], "stderr", 0, b"error\n"), chunk(launches[1], "stdout", 0, b"other\n")])
        status, said, _ = self.podium("logs", str(job), "--tail", "30")
        self.assertEqual(status, 0)
        lines = said.splitlines()
        self.assertIn("[0 stderr] error", lines)
        self.assertIn("[1] other", lines)
        long_line = "".join(line.removeprefix("[0] ") for line in lines if line.startswith("[0] "))
        self.assertTrue(long_line.endswith("xlast"), long_line[-20:])

    def test_logs_go_on_through_a_restart_of_the_coordinator(self):
        agent, job, launches = self.run_job(1)
        self.deliver(agent, [chunk(launches[0], "stdout", 0, b"before\n")])
        child = self.start("logs", str(job), "--follow")
        self.assertEqual(child.stdout.readline(), b"before\n")
        self.daemon.kill()
        self.assertIn(b"trying again", child.stderr.readline())
        self.daemon.options = ("--listen", f"127.0.0.1:{self.daemon.port}")
        self.daemon.start()
        wait_for(lambda: agent.sync().status == 200, "the node to report again")
        self.deliver(agent, [chunk(launches[0], "stdout", 7, b"after\n")])
        self.assertEqual(child.stdout.readline(), b"after\n")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(WAIT), 130)

    def test_bars_and_unended_lines_are_shown_while_the_job_runs(self):
        agent, job, launches = self.run_job(2)
        child = self.start("logs", str(job), "--follow", "--stdout")
        os.set_blocking(child.stdout.fileno(), False)
        said, sent = "", [0, 0]

        def tell(rank, text):
            self.deliver(agent, [chunk(launches[rank], "stdout", sent[rank], text)])
            sent[rank] += len(text)

        def shown(text, within):
            nonlocal said
            deadline = time.monotonic() + within
            while text not in said:
                self.assertLess(time.monotonic(), deadline, f"{text!r} in {said!r}")
                said += (child.stdout.read() or b"").decode()
                time.sleep(0.02)

        tell(1, b"Continue? [y/N] ")
        shown("[1] Continue? [y/N] \n", 5)
        for step in range(30):
            tell(0, b"\r%3d%% of an epoch" % step)
            time.sleep(0.1)
        shown("29% of an epoch\n", 3)
        self.assertNotIn("\r", said)
        self.assertLessEqual(said.count("of an epoch"), 8)
        tell(1, b"y\n")
        shown("[1] Continue? [y/N] y\n", 3)
        tell(0, b"\r100% of an epoch\n")
        shown("[0] 100% of an epoch\n", 3)
        for line in said.splitlines():
            self.assertRegex(line, r"^(\[0\] +\d+% of an epoch|\[1\] Continue\? \[y/N\] y?)$")

    def test_many_jobs_are_cancelled_at_once(self):
        for name in ("old", "new"):
            for _ in range(JOBS // 2 // 1000):
                reply = self.daemon.submit(study(name, 1000))
                self.assertEqual(reply.status, 201, reply.body)
        status, out, err = self.podium("cancel", "--experiment", "old")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("cancel 5,000 jobs (5,000 queued)", err)
        self.assertIn("--yes", err)
        self.assertEqual(self.podium("hold", "--experiment", "old", "--yes")[:2], (0, "5,000 jobs: now 5,000 queued, held\n"))
        self.assertEqual(self.podium("release", "--account", "default", "-y")[:2], (0, "5,000 jobs: now 5,000 queued\n"))
        before = self.requests()
        self.assertEqual(self.podium("cancel", "--state", "queued", "--yes"), (0, "10,000 jobs: now 10,000 cancelled\n", ""))
        requests = self.requests() - before
        print(f"{JOBS} jobs were cancelled by {requests} requests", file=sys.stderr)
        self.assertLess(requests, JOBS / 10, "a request for each took a minute")
        self.assertIn("there is no such job to cancel", self.podium("cancel", "--state", "queued", "--yes")[2])
        status, out, err = self.podium("requeue", "--experiment", "old")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("--state failed", err)
        self.assertEqual(self.podium("requeue", "--name", "new", "--state", "cancelled", "--yes")[:2],
                         (0, "5,000 jobs: now 5,000 queued\n"))
        status, out, err = self.podium("cancel", "1", "9999", "20000")
        self.assertEqual((status, out), (4, "job 9999 is cancelled\n"))
        self.assertEqual(err, "podium: job 1 has already ended\nthere is no job 20000\n")

    def test_who_sits_at_a_terminal_is_asked(self):
        self.daemon.submit(study("old", 3))
        for answer, status, state in (("n\n", 2, "queued"), ("y\n", 0, "cancelled")):
            ours, theirs = pty.openpty()
            child = self.start("cancel", "--experiment", "old", stdin=theirs)
            os.close(theirs)
            question = child.stderr.read(len("podium: cancel 3 jobs (3 queued)? [y/N] "))
            self.assertEqual(question, b"podium: cancel 3 jobs (3 queued)? [y/N] ")
            os.write(ours, answer.encode())
            self.assertEqual(child.wait(WAIT), status)
            os.close(ours)
            self.assertEqual({job["state"] for job in self.daemon.get("/jobs").json()["jobs"]}, {state})

    def swallow(self, answers):
        """Puts a server between that loses the first so many answers."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        self.environment["PODIUM_COORDINATOR"] = f"http://127.0.0.1:{server.getsockname()[1]}"

        def serve():
            for at in itertools.count():
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client, contextlib.suppress(ConnectionRefusedError):  # the coordinator may be down
                    with socket.create_connection(("127.0.0.1", self.daemon.port)) as upstream:
                        upstream.sendall(client.recv(1 << 20))
                        answer = upstream.recv(1 << 20)
                        if at >= answers:
                            client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

    def test_a_submission_whose_answers_are_lost_is_queued_once(self):
        path = self.daemon.home / "once.yaml"
        path.write_text(spec("once"))
        self.swallow(5)  # more than those that a server may lose that is down
        status, out, err = self.podium("submit", str(path))
        self.assertEqual(status, 0, err)
        self.assertIn("job 1  once", out)
        self.assertEqual(self.daemon.get("/jobs").json()["total"], 1)

    def test_whoever_cannot_read_the_answer_is_told_the_jobs_all_the_same(self):
        path = self.daemon.home / "once.yaml"
        path.write_text(study("once", 2))
        with open("/dev/full", "w") as full:
            child = self.start("submit", str(path), stdout=full)
            self.assertEqual(child.wait(WAIT), 5)
        self.assertEqual(child.stderr.read().decode(), "podium: cannot write standard output: No space left on device; "
                         "submitted all the same: job 1 2\n")

    def test_a_submission_outlives_a_coordinator_that_dies_once_it_has_committed(self):
        path = self.daemon.home / "once.yaml"
        path.write_text(spec("once"))
        self.swallow(1)
        child = self.start("submit", str(path))
        said = child.stderr.readline().decode()
        self.assertIn("the request may have been carried out: sending it again for 2m; repeated with --key ", said)
        self.daemon.kill()
        time.sleep(16)  # it gave up after 15 s
        self.daemon.options = ("--listen", f"127.0.0.1:{self.daemon.port}")
        self.daemon.start()
        self.assertEqual(child.wait(WAIT), 0)
        self.assertIn(b"job 1  once", child.stdout.read())
        self.assertEqual(self.daemon.get("/jobs").json()["total"], 1)

    def test_whoever_gives_up_on_a_submission_is_told_how_to_repeat_it_safely(self):
        path = self.daemon.home / "once.yaml"
        path.write_text(spec("once"))
        self.swallow(JOBS)
        status, _, err = self.podium("submit", str(path), "--timeout", "2s")
        self.assertEqual(status, 3)
        self.assertIn("The request may be carried out all the same: podium experiments lists what was submitted", err)
        key = re.search(r"repeated with --key (\w+) \(of submit and reproduce\), it is carried out once\n$", err)[1]
        self.swallow(0)
        self.assertIn("job 1  once", self.podium("submit", str(path), "--key", key)[1])
        self.assertEqual(self.daemon.get("/jobs").json()["total"], 1)

    def test_what_may_have_been_done_is_said_to(self):
        self.daemon.submit(spec("lost"))
        self.assertEqual(self.podium("cancel", "1")[0], 0)
        self.swallow(1)
        status, _, err = self.podium("requeue", "1")
        self.assertEqual(status, 3)
        self.assertIn("The request may be carried out all the same", err)
        self.assertEqual(self.daemon.get("/jobs/1").json()["state"], "queued")

    def test_jobs_are_cancelled_although_the_answer_is_lost(self):
        self.daemon.submit(study("lost", 2))
        self.swallow(1)
        status, out, err = self.podium("cancel", "1", "2", "20")
        self.assertEqual((status, out), (4, "job 1 is cancelled\njob 2 is cancelled\n"))
        self.assertIn("sending it again for 1m\n", err)
        self.assertIn("podium: there is no job 20\n", err)

    def test_completion_offers_the_names_there_are(self):
        Agent(self.daemon, "node-7").orders()
        self.assertEqual(self.podium("accounts", "set", "nlp")[0], 0)
        self.daemon.submit(study("quick", 2))
        for what, names in (("accounts", ["default", "nlp"]), ("nodes", ["node-7"]), ("experiments", ["quick"]),
                            ("experiment-ids", ["1"]), ("jobs", ["1", "2"]), ("nothing", [])):
            self.assertEqual(self.podium("complete", what)[:2], (0, "".join(name + "\n" for name in names)))
        script = subprocess.run([BIN / "podium", "completion", "bash"], capture_output=True, text=True).stdout
        for line, offered in (("nodes drain n", "node-7"), ("nodes reserve node-7 --account n", "nlp"), ("list --account d", "default"),
                              ("cancel --experiment q", "quick"), ("list --state ru", "running"), ("list --sort thr", "throughput"),
                              ("queue --kind g", "gpu"), ("accounts set nl", "nlp"), ("cancel 2", "2")):
            words = ("podium " + line).split()
            asked = (f'{script}\nCOMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _podium; echo "${{COMPREPLY[*]}}"')
            ran = subprocess.run(["bash", "-c", asked], capture_output=True, text=True,
                                 env=self.environment | {"PATH": f"{BIN}:/usr/bin:/bin"})
            self.assertEqual(ran.stdout, offered + "\n", (line, ran.stderr))


if __name__ == "__main__":
    unittest.main()

"""Inputs and outputs of jobs, from a spec to files on the reader's machine: coordinator, agents, command line and HTTP of this build."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

from cluster import Cluster

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))

SPEC = """version: 1
name: {name}
command: [bash, -c, '{script}']
{more}resources: {{devices: {devices}, per_node: {per_node}, kind: cpu, walltime: 10m}}
"""


class OutputsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BIN, ["node-1", "node-2"], {"corpus/a.txt": "alpha\n", "corpus/deep/b.txt": "beta\n"})
        served = cls.cluster.folder / "served"
        served.mkdir()
        (served / "x.bin").write_bytes(b"x" * 100_000)
        cls.server = subprocess.Popen(
            ["/usr/bin/python3", SOURCE / "tests/agent/staging/file_server.py", served], stdout=subprocess.PIPE, text=True)
        cls.url = f"http://127.0.0.1:{cls.server.stdout.readline().strip()}"

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.server.wait()
        cls.server.stdout.close()
        cls.cluster.close()

    def submit(self, name, script, more="", devices=1, per_node=1):
        (self.cluster.folder / f"{name}.yaml").write_text(
            SPEC.format(name=name, script=script, more=more, devices=devices, per_node=per_node))
        return json.loads(self.cluster.say(f"podium --json submit {name}.yaml"))["jobs"][0]["id"]

    def wait_for_end(self, job, state="succeeded"):
        ended = lambda: self.cluster.get(f"/jobs/{job}")["ended_ms"] is not None
        self.cluster.wait_for(ended, f"job {job} to end")
        self.assertEqual(self.cluster.get(f"/jobs/{job}")["state"], state, self.history(job))

    def history(self, job):
        return self.cluster.say(f"podium events {job}")

    def wait_for_ranks(self, job, ranks):
        self.cluster.wait_for(lambda: self.cluster.get(f"/jobs/{job}/outputs")["ranks"] == ranks, f"outputs of job {job}")
        return self.cluster.get(f"/jobs/{job}/outputs")

    def fetch(self, job, rank, path, attempt=1, headers={}):
        query = urllib.parse.urlencode({"attempt": attempt, "rank": rank, "path": path})
        address = f"{self.cluster.environment['PODIUM_COORDINATOR']}/api/v1/jobs/{job}/outputs/file?{query}"
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def test_inputs_reach_the_program_and_outputs_the_reader(self):
        sha256 = hashlib.sha256(b"x" * 100_000).hexdigest()
        more = f"""inputs:
  - {{from: corpus, to: text}}
  - {{from: "{self.url}/once/503/x.bin", sha256: {sha256}, to: deep/x.bin}}
outputs: ["results/**", "*.pt"]
"""
        script = ("mkdir -p results/plots; cat {inputs}/text/a.txt $PODIUM_INPUTS/text/deep/b.txt >results/text; "
                  "wc -c <{inputs}/deep/x.bin >results/plots/size; echo weights >model.pt; echo no >left.txt; "
                  "ln -s /etc/passwd results/passwd")
        job = self.submit("both", script, more)
        self.wait_for_end(job)
        listed = self.wait_for_ranks(job, [0])
        self.assertEqual([output["path"] for output in listed["outputs"]], ["model.pt", "results/plots/size", "results/text"])
        self.assertEqual((listed["attempt"], listed["attempts"], listed["more"]), (1, [1], False))
        part = self.cluster.get(f"/jobs/{job}/outputs?limit=2")
        self.assertEqual((len(part["outputs"]), part["more"]), (2, True))
        self.assertFalse(self.cluster.get(f"/jobs/{job}/outputs?limit=3")["more"])
        self.assertEqual(self.cluster.get(f"/jobs/{job}/outputs?attempt=2")["outputs"], [])
        self.assertEqual(self.fetch(job, 0, "results/text"), (200, b"alpha\nbeta\n"))
        self.assertEqual(self.fetch(job, 0, "results/text", headers={"Range": "bytes=6-8"}), (206, b"bet"))
        self.assertRegex(self.cluster.say(f"podium outputs {job}"), r"model\.pt(?s:.*)3 file\(s\), 26 B, of attempt 1 and 1 of 1 process")
        self.cluster.say(f"podium outputs {job} --out results-{job}")
        out = self.cluster.folder / f"results-{job}"
        self.assertEqual((out / "results/plots/size").read_text(), "100000\n")
        self.assertEqual((out / "model.pt").read_text(), "weights\n")
        self.cluster.say(f"podium outputs {job} results/plots --out plots")
        self.assertEqual(sorted(p.name for p in (self.cluster.folder / "plots").rglob("*") if p.is_file()), ["size"])
        status, said = self.cluster.run(f"podium outputs {job} --out plots")
        self.assertEqual(status, 2, "nothing is overwritten")
        history = self.history(job)
        self.assertIn("2 input(s) ready on this node: 2 staged", history)
        self.assertIn("3 output(s), 26 B, are in", history)
        self.assertIn("1 links and the like are left out", history)

    def test_outputs_of_two_nodes_stand_beside_each_other(self):
        job = self.submit("gang", "echo $RANK >who", "inputs: [{from: corpus, to: text}]\noutputs: [who]\n", devices=2)
        self.wait_for_end(job)
        self.wait_for_ranks(job, [0, 1])
        self.cluster.say(f"podium outputs {job} --out gang")
        for rank in (0, 1):
            self.assertEqual((self.cluster.folder / "gang" / str(rank) / "who").read_text(), f"{rank}\n")

    def test_names_are_whatever_a_file_may_be_called(self):
        job = self.submit("names", "python3 -c \"import sys; [open(n, chr(119)).write(n) for n in "
                          "[chr(35) + chr(37), chr(92), chr(97) + chr(10), chr(252)]]\"", "outputs: [\"*\"]\n")
        self.wait_for_end(job)
        listed = [o["path"] for o in self.wait_for_ranks(job, [0])["outputs"]]
        self.assertEqual(sorted(listed), sorted(["#%", "\\", "a\n", "ü"]))
        for name in listed:
            self.assertEqual(self.fetch(job, 0, name), (200, name.encode()))
        self.cluster.say(f"podium outputs {job} --out names")
        self.assertEqual(sorted(p.name for p in (self.cluster.folder / "names").iterdir()), sorted(listed))

    def place(self, job):
        """The folder of its newest outputs."""
        return self.cluster.folder / "shared" / self.cluster.get(f"/jobs/{job}/outputs")["folder"]

    def test_a_part_is_not_taken_for_all(self):
        job = self.submit("part", "echo $RANK >who", "outputs: [who]\n", devices=2)
        self.wait_for_end(job)
        self.wait_for_ranks(job, [0, 1])
        shutil.rmtree(self.place(job) / "0")
        status, said = self.cluster.run(f"podium outputs {job} --out part")
        self.assertEqual(status, 4)
        self.assertIn("the outputs of 1 of 2 processes are collected so far", said)
        self.cluster.say(f"podium outputs {job} --out part --partial")
        self.assertEqual((self.cluster.folder / "part/1/who").read_text(), "1\n")

    def test_a_job_that_fails_leaves_its_outputs(self):
        job = self.submit("failing", "echo why >log.txt; exit 1", "outputs: [log.txt]\nrestarts: {max: 0}\n")
        self.wait_for_end(job, "failed")
        self.wait_for_ranks(job, [0])
        self.assertEqual(self.fetch(job, 0, "log.txt"), (200, b"why\n"))

    def test_a_wrong_checksum_fails_the_job_and_says_which(self):
        job = self.submit("wrong", "true", f"inputs: [{{from: corpus/a.txt, sha256: {'f' * 64}}}]\n")
        self.wait_for_end(job, "failed")
        reason = self.cluster.get(f"/jobs/{job}")["reason"]
        self.assertIn("the input a.txt (corpus/a.txt): it has the sha256", reason)

    def test_a_path_that_no_node_has_is_looked_for_on_two(self):
        job = self.submit("missing", "true", "inputs: [{from: corpus/none}]\n")
        self.wait_for_end(job, "failed")
        detail = self.cluster.get(f"/jobs/{job}")
        self.assertIn("there is no", detail["reason"])
        nodes = {task["node"] for attempt in detail["attempts"] for task in attempt["tasks"]}
        self.assertEqual(nodes, {"node-1", "node-2"})

    def test_no_path_leads_out_of_the_outputs(self):
        job = self.submit("paths", "echo a >a", "outputs: [a]\n")
        self.wait_for_end(job)
        self.wait_for_ranks(job, [0])
        (self.cluster.folder / "secret").write_text("secret")
        place = self.place(job) / "0"
        self.assertTrue(place.is_dir(), "where the next lines put what a job might")
        os.symlink(self.cluster.folder / "secret", place / "link")
        os.symlink(self.cluster.folder, place / "folder")
        os.mkfifo(place / "pipe")
        for path in ("link", "folder/secret", "pipe", "none", "a/b"):
            self.assertEqual(self.fetch(job, 0, path)[0], 404, path)
        for path in ("", "..", "../0/a", "/etc/passwd", "a/../a", "./a", "a//b", "a\0b"):
            self.assertEqual(self.fetch(job, 0, path)[0], 400, path)
        self.assertEqual([o["path"] for o in self.cluster.get(f"/jobs/{job}/outputs")["outputs"]], ["a"])
        elsewhere = self.cluster.folder / "elsewhere"
        (elsewhere / "1" / "0").mkdir(parents=True)
        (elsewhere / "1" / "0" / "a").write_text("secret")
        outputs = place.parent.parent
        shutil.rmtree(outputs)
        os.symlink(elsewhere, outputs)
        self.assertEqual(self.fetch(job, 0, "a")[0], 404)
        self.assertEqual(self.cluster.get(f"/jobs/{job}/outputs")["ranks"], [])

    def test_jobs_without_outputs_and_that_there_are_not(self):
        job = self.submit("none", "true")
        self.wait_for_end(job)
        self.assertIn("No outputs yet", self.cluster.say(f"podium outputs {job}"))
        for address in ("/jobs/9999/outputs", "/jobs/x/outputs"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.cluster.get(address)
            self.assertEqual(refused.exception.code, 404)
            refused.exception.close()


if __name__ == "__main__":
    unittest.main()

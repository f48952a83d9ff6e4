"""Every command that README.md and the --help texts show is run as it is written there, against a coordinator and agents
of this build. What cannot run in a test is named below with the reason; of it, the options must exist."""

import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import unittest

import mlperf_logs
from cluster import Cluster
from event_writer import simple
from help_texts import help_of, helps, subcommands_of

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
PROGRAMS = ("podium", "podium-coordinator", "podium-agent", "podium-worker")

# A command, or the beginning of one, and why it is not run.
NOT_RUN = {
    "./deploy/quickstart": "installs packages, builds all and trains for minutes",
    "PODIUM_HOME=/data/podium PODIUM_PORT=8080 ./deploy/quickstart": "as ./deploy/quickstart",
    "./tests/run": "runs this test",
    "bench/run": "measures for hours",
    "deploy/install-packages": "installs packages",
    "deploy/build": "builds all",
    "useradd": "makes a user of this machine",
    "openssl rand": "writes to /etc",
    "podium COMMAND --help": "COMMAND stands for each command, and the help of each is read here",
    "podium simulate --cluster configs/clusters/philly.yaml --trace philly.csv.zst": "its trace is not in the repository",
    "podium-coordinator": "it would serve on this machine's own address and folders",
    "podium-agent": "it would serve on this machine's own address and folders",
    "podium-worker run": "its launch.json is made by agents",
    "podium-worker local": "trains; tests/worker does",
    "podium-worker inspect": "needs a checkpoint; tests/worker makes one",
    "podium-worker export": "needs a checkpoint; tests/worker makes one",
    "podium-worker gradients": "needs a model; tests/worker makes one",
    "podium-worker profile": "trains; tests/worker does",
    "podium-worker infer": "needs a model; tests/worker makes one",
    "podium-worker predict": "needs a model; tests/worker makes one",
    "podium-worker generate": "needs a model; tests/worker makes one",
    "podium-worker serve": "serves until it is told to stop; tests/worker/serve does",
    "build/release/bin/podium-worker serve": "serves the model of ./deploy/quickstart",
    "curl localhost:8500/v1/models/bible/fill-mask": "asks the model of ./deploy/quickstart",
    "curl localhost:7071/bible/fill-mask": "asks a service of the cluster of ./deploy/quickstart",
    "podium-worker calibrate": "needs a model; tests/worker makes one",
    "echo 'the capital of france is [MASK].' | podium-worker infer": "needs a published model",
    "podium-worker evaluate": "needs a model; tests/worker makes one",
    "podium-worker latency": "takes long without a GPU",
}

# Refused, and how, because the state that it is for is not this cluster's.
REFUSED = {
    "podium nodes adopt node-1": "node-1 has no unknown tasks",
    "podium nodes adopt node-1 --stop": "node-1 has no unknown tasks",
    "podium accounts delete nlp/bert": "account nlp/bert",
    "podium bisect 12 13 --metric eval/mlm_loss": "no commit is recorded",
    "podium bisect 12 13 --metric eval/mlm_loss --run": "no commit is recorded",
    "podium board bert-large-pretrain-mlm_accuracy-9a1b5c7700e2d3f4": "there is no benchmark",
    "podium retention unset my-bert": "there is no retention of its own",
    "podium services show answers": "there is no service",
    "podium services stop answers": "there is no service",
    "podium webhooks test ops": "there is no webhook",
    "podium outputs 12 --out results": "No outputs yet",
    "podium outputs 12 model.pt results/plots --out best": "No outputs yet",
    "podium export 1": "there are no points yet",
    "podium study 3": "is no study",
    "podium study 3 --published bert-large-pretraining": "is no study",
}

# Goes on until Ctrl-C, which comes once it has said something.
ENDLESS = ("--follow", "podium follow", "--watch")

PROGRAM = """import os, pathlib, sys, time
print((pathlib.Path(__file__).parent / "result_0.txt").read_text(), flush=True)
step = 0
while True:
    step += 1
    line = '{"type":"metrics","t":%d,"step":%d,"values":{"train/loss":1,"eval/mlm_loss":1}}\\n'
    with open(os.environ["PODIUM_EVENTS"], "a") as events:
        events.write(line % (time.time() * 1000, step))
    for output in (sys.stdout, sys.stderr):
        print("step", step, file=output, flush=True)
    time.sleep(0.2)
"""


def spec(name, devices=1, extra=""):
    return (
        f"version: 1\nname: {name}\nlabels: {{team: nlp, sweep: old}}\ncommand: [python3, {{program}}]  # seed: 1\n"
        f"resources: {{devices: {devices}, kind: cpu, walltime: 1h}}\n{extra}"
    )


def without_remark(line):
    """The command of a line, which a remark may follow: two blanks, or a # after blanks."""
    return re.split(r"\s{2,}", line.strip())[0]


def examples_of(help_text):
    """The commands under "Examples:"; one may go on in the next line, and indented text explains."""
    found, taking = [], False
    for line in help_text.splitlines():
        if line.startswith("Examples:"):
            taking = True
        elif taking and not line.startswith("  "):
            taking = False
        elif taking and found and found[-1].endswith("\\"):
            found[-1] = found[-1][:-1] + line.strip()
        elif taking and not line.startswith("      "):
            found.append(without_remark(line) if not line.endswith("\\") else line.strip())
    return found


def readme_commands():
    text = (SOURCE / "README.md").read_text()
    blocks = [block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M) if not kind]
    in_blocks = [without_remark(line) for block in blocks for line in block.splitlines() if line.strip()]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    starts = ("podium ", "./", "bench/run", "deploy/build", "deploy/install", "openssl", "useradd")
    in_prose = [code for code in re.findall(r"`([^`]+)`", prose) if code.startswith(starts)]
    return in_blocks, in_prose


def reason_not_to_run(command):
    return next((reason for start, reason in NOT_RUN.items() if (command + " ").startswith(start.rstrip() + " ")), None)


class ExamplesTest(unittest.TestCase):
    def start_cluster(self, *nodes):
        self.cluster = Cluster(BIN, nodes)
        self.addCleanup(self.cluster.close)
        self.make_files(self.cluster.folder)

    def make_files(self, folder):
        (folder / "configs").symlink_to(SOURCE / "configs")
        (folder / "corpus").mkdir()
        text = (SOURCE / "docs" / "architecture.md").read_text()
        (folder / "corpus" / "train.txt").write_text(text * 8)
        (folder / "corpus" / "heldout.txt").write_text(text)
        self.cluster.say("podium-worker vocab --size 2048 --out corpus/vocab.txt corpus/train.txt")
        for folder_of_tokens in (folder, folder / "bert-base-uncased"):
            folder_of_tokens.mkdir(exist_ok=True)
            shutil.copy(folder / "corpus" / "vocab.txt", folder_of_tokens)
        self.cluster.say("podium-worker vocab --bpe --size 400 --out . corpus/train.txt")
        (folder / "text.txt").write_text(text)
        (folder / "lines.txt").write_text(text)
        (folder / "pages.jsonl").write_text(json.dumps({"text": text}) + "\n")
        self.make_text_to_prepare(folder)
        self.make_answers_to_score(folder)
        for run in range(10):
            (folder / f"result_{run}.txt").write_text(mlperf_logs.log(1000 + run))
        (folder / "program.py").write_text(PROGRAM)
        (folder / "my.yaml").write_text(spec("mine").replace("{program}", str(folder / "program.py")))
        (folder / "named.yaml").write_text((folder / "my.yaml").read_text().replace("name: mine", "name: my-bert"))
        (folder / "my-bert.yaml").write_text(re.search(r"```yaml\n(.*?)```", (SOURCE / "README.md").read_text(), re.S).group(1))
        (folder / "cluster.yaml").write_text("nodes:\n  - {kind: dgx-h100, count: 4}\n")
        trace = "submit,duration,devices\n0,1h,8\n60,2h30m,16\n"
        for name in ("trace.csv", "jobs.csv"):
            (folder / name).write_text(trace)
        shutil.copy(SOURCE / "tests/cli/determined/adaptive.yaml", folder / "experiment.yaml")
        self.make_curves(folder)
        (folder / ".config/fish/completions").mkdir(parents=True)

    def make_text_to_prepare(self, folder):
        for name in ("gpt2", "wiki", "books", "web"):
            (folder / name).mkdir()
        for name in ("vocab.json", "merges.txt"):
            shutil.copy(folder / name, folder / "gpt2")
        for name in ("wiki/a.txt.zst", "books/a.txt.zst"):
            subprocess.run(["zstd", "-q", folder / "text.txt", "-o", folder / name], check=True)
        (folder / "books.txt.gz").write_bytes(gzip.compress((folder / "text.txt").read_bytes()))
        shutil.copy(folder / "pages.jsonl", folder / "web")

    def make_answers_to_score(self, folder):
        question = {"id": "q1", "question": "Who won?", "answers": [{"text": "Denver", "answer_start": 0}]}
        paragraph = {"context": "Denver won.", "qas": [question]}
        for version in ("1.1", "2.0"):
            data = {"version": f"v{version}", "data": [{"title": "game", "paragraphs": [paragraph]}]}
            (folder / f"dev-v{version}.json").write_text(json.dumps(data))
        (folder / "predictions.json").write_text(json.dumps({"q1": "Denver"}))
        (folder / "null_odds.json").write_text(json.dumps({"q1": -3.5}))

    def make_curves(self, folder):
        curves = [("train/loss", step, 1 / step) for step in range(1, 9)] + [("eval/loss", 8, 0.5)]
        (folder / "curves.csv").write_text("metric,step,value\n" + "".join(f"{key},{step},{value}\n" for key, step, value in curves))
        lines = [json.dumps({"metric": key, "step": step, "value": value}) + "\n" for key, step, value in curves]
        (folder / "curves.jsonl").write_text("".join(lines))
        (folder / "logs").mkdir()
        (folder / "logs" / "events.out.tfevents.1.h").write_bytes(simple("train/loss", 1, 0.5))

    def live_jobs(self):
        """Jobs 1 to 14 exist. Job 12 runs, and 13 and 14, which need its devices, wait and are held."""
        cluster = self.cluster
        for node in cluster.get("/nodes")["nodes"]:
            if node["drain"] or node["reservation"]:
                cluster.say(f"podium nodes resume {node['id']}; podium nodes unreserve {node['id']}")
        if not any(account["account"] == "nlp/bert" for account in cluster.get("/accounts")["accounts"]):
            cluster.say("podium accounts set nlp && podium accounts set nlp/bert")
        cluster.wait_for(lambda: not cluster.get("/jobs?state=stopping")["jobs"], "jobs to stop")
        jobs = {job["id"]: job for job in cluster.get("/jobs?limit=1000")["jobs"]}
        for job in jobs.values():
            if job["id"] > 14 and not job["ended_ms"]:
                cluster.say(f"podium cancel {job['id']}")
        for job in range(max(jobs, default=0) + 1, 12):
            cluster.say(f"podium submit {'named.yaml' if job == 1 else 'my.yaml'} && podium cancel {job}")
        self.live_job(jobs.get(12), 12, 2)
        cluster.wait_for(lambda: cluster.get("/jobs/12")["state"] == "running", "job 12 to run")
        cluster.wait_for(lambda: cluster.run("podium mlperf result 12")[0] == 0, "what job 12 has written")
        for job in (13, 14):
            self.live_job(jobs.get(job), job, cluster.slots - 1)

    def live_job(self, job, number, devices):
        if not job:
            text = (self.cluster.folder / "my.yaml").read_text()
            text = text.replace("devices: 1", f"devices: {devices}") + "account: nlp\n"
            (self.cluster.folder / "job.yaml").write_text(text)
            self.cluster.say("podium submit job.yaml")
        elif job["state"] in ("failed", "cancelled"):
            self.cluster.say(f"podium requeue {number}")
        if (number > 12) != bool(job and job["held"]):
            self.cluster.say(f"podium {'hold' if number > 12 else 'release'} {number}")

    def try_example(self, command):
        with self.subTest(command):
            if reason := reason_not_to_run(command):
                return self.check_options(command)
            if any(word in command for word in ENDLESS):
                status, text = self.cluster.run(command, until=lambda said: said.count("\n") > 0)
                self.assertNotIn("podium: ", text)
                return None
            status, text = self.cluster.run(command)
            if command in REFUSED and status == 4:
                self.assertIn(REFUSED[command], text)
            else:
                self.assertEqual(status, 0, text)
        return None

    def check_options(self, command):
        words = [word for word in shlex.split(command) if word]
        if words[0] not in PROGRAMS:
            return
        names = [words[0]]
        while len(names) < len(words) and words[len(names)] in subcommands_of(help_of(BIN, *names)):
            names.append(words[len(names)])
        text = help_of(BIN, *names)
        for option in (word for word in words[len(names):] if word.startswith("--")):
            self.assertRegex(text, rf"(^|[ ,]){option}\b", command)

    def test_readme(self):
        self.start_cluster("node-1", "node-2", "node-7", "node-8", "node-9")
        in_blocks, in_prose = readme_commands()
        self.assertGreater(len(in_blocks), 15)
        for command in in_blocks:
            self.prepare_readme(command)
            self.try_example(command)
        for command in in_prose:
            if not reason_not_to_run(command):
                self.assertIn(command, [" ".join(words) for words, _ in helps(BIN, "podium")], "a command, or part of one")

    def prepare_readme(self, command):
        if command == "podium queue":  # the jobs that the lines after it name
            self.live_jobs()

    def try_helps(self, part):
        """A third of the examples: all of them take longer than a test should."""
        self.start_cluster("node-1", "node-2", "node-3")
        for job, spec in enumerate(("configs/quickstart.yaml", "my-bert.yaml"), 1):  # experiments that examples name
            self.cluster.say(f"podium submit {spec} && podium cancel {job}")
        examples = [example for program in PROGRAMS for words, text in helps(BIN, program) for example in examples_of(text)]
        self.assertGreater(len(examples), 70)
        for example in list(dict.fromkeys(examples))[part::3]:
            if not reason_not_to_run(example):
                self.live_jobs()
            self.try_example(example)

    def test_helps_1(self):
        self.try_helps(0)

    def test_helps_2(self):
        self.try_helps(1)

    def test_helps_3(self):
        self.try_helps(2)

    def test_every_command_has_an_example(self):
        for words, text in helps(BIN, "podium"):
            self.assertTrue(examples_of(text), words)

    def test_no_exception_is_stale(self):
        in_blocks, in_prose = readme_commands()
        quickstart = (SOURCE / "deploy" / "quickstart").read_text()
        shown = in_blocks + in_prose + examples_of(quickstart)
        shown += [example for program in PROGRAMS for _, text in helps(BIN, program) for example in examples_of(text)]
        for start in (*NOT_RUN, *REFUSED):
            self.assertTrue(any((command + " ").startswith(start.rstrip() + " ") for command in shown), start)


if __name__ == "__main__":
    unittest.main()

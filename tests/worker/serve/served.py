"""A real podium-worker serve for the tests: small models of random weights, a server on a free port, and its clients."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "parity"))
try:
    import jsonschema
    import make_case
    import safetensors_file
    import torch
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WORKER = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
WAIT = 60  # seconds until something that should have happened is declared not to
POSITIONS = 64
DESCRIPTION = yaml.safe_load((pathlib.Path(__file__).parents[3] / "schemas" / "serve.yaml").read_text())
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{i}" for i in range(300)]
VOCABULARY = SPECIAL + WORDS + [".", "?", ","]


def write_model(folder, seed, question_answering=False):
    """A BERT with the heads of pre-training or of question answering, whose outputs differ clearly from text to text."""
    shape = {"layers": 2, "positions": POSITIONS, "vocab": len(VOCABULARY)}
    make_case.write_model(folder, "bert", seed, shape, deviation=0.2)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    if not question_answering:
        return
    tensors, metadata = safetensors_file.read(folder / "model.safetensors")
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith(("cls.", "bert.pooler."))}
    generator = torch.Generator().manual_seed(seed)
    tensors["qa_outputs.weight"] = torch.randn((2, make_case.SHAPES["hidden"]), generator=generator)
    tensors["qa_outputs.bias"] = torch.zeros(2)
    safetensors_file.write(folder / "model.safetensors", tensors, metadata)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertForQuestionAnswering"]}))


def leave_out(folder, prefixes, architecture):
    """Of the model in the folder the tensors with these names, which the architecture is without."""
    tensors, metadata = safetensors_file.read(folder / "model.safetensors")
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith(prefixes)}
    safetensors_file.write(folder / "model.safetensors", tensors, metadata)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": [architecture]}))


def write_classifier(folder, seed, labels):
    """A BERT that tells classes with these names; without names, a value."""
    write_model(folder, seed)
    tensors, metadata = safetensors_file.read(folder / "model.safetensors")
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("cls.")}
    generator = torch.Generator().manual_seed(seed)
    tensors["classifier.weight"] = torch.randn((max(1, len(labels)), make_case.SHAPES["hidden"]), generator=generator)
    tensors["classifier.bias"] = torch.randn(max(1, len(labels)), generator=generator)
    safetensors_file.write(folder / "model.safetensors", tensors, metadata)
    config = json.loads((folder / "config.json").read_text())
    named = {"id2label": {str(i): label for i, label in enumerate(labels)},
             "label2id": {label: i for i, label in enumerate(labels)}} if labels else {"num_labels": 1}
    (folder / "config.json").write_text(json.dumps(
        {**config, "architectures": ["BertForSequenceClassification"], **named,
         "problem_type": "single_label_classification" if labels else "regression"}))


def text(random, words, masks=1):
    """So many words, of which some are masked."""
    chosen = [random.choice(WORDS) for _ in range(words)]
    for place in random.sample(range(words), min(masks, words)):
        chosen[place] = "[MASK]"
    return " ".join(chosen)


def worker(*arguments, given=None):
    """The standard output of podium-worker."""
    ran = subprocess.run([WORKER, *map(str, arguments)], input=given, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def check_described(path, reply, asked=None):
    """Holds an answer of `path`, and what was asked where that was right, to schemas/serve.yaml."""
    def check(schema, value):
        jsonschema.Draft202012Validator({"components": DESCRIPTION["components"], **schema}).validate(value)

    (operation,) = DESCRIPTION["paths"][path].values()
    described = operation["responses"].get(str(reply.status)) or operation["responses"]["default"]
    if "$ref" in described:
        described = DESCRIPTION["components"]["responses"][described["$ref"].rsplit("/", 1)[1]]
    kind = reply.headers["Content-Type"].split(";")[0]
    check(described["content"][kind]["schema"], reply.json() if kind.endswith("json") else reply.body.decode())
    if asked is not None:
        check(operation["requestBody"]["content"]["application/json"]["schema"], asked)


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Client:
    """One connection that is kept."""

    def __init__(self, port, token=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __del__(self):
        self.close()

    def get(self, path):
        self.connection.request("GET", path, headers=self.headers)
        return Reply(self.connection.getresponse())

    def post(self, path, body, content_type="application/json"):
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        self.connection.request("POST", path, data, {**self.headers, "Content-Type": content_type})
        return Reply(self.connection.getresponse())

    def ask(self, model, endpoint, body):
        return self.post(f"/v1/models/{model}/{endpoint}", body)

    def close(self):
        self.connection.close()


class Server:
    def __init__(self, models, *options, wait=True):
        self.folder = tempfile.TemporaryDirectory(prefix="podium-serve-")
        self.log_path = pathlib.Path(self.folder.name) / "log"
        named = [f"{name}={folder}" for name, folder in models.items()]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [WORKER, "serve", *named, "--listen", "127.0.0.1:0", "--threads", "1", *map(str, options)],
                stdout=subprocess.PIPE, stderr=log, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        address = self.process.stdout.readline().decode()
        assert address, self.log()
        self.port = int(address.rsplit(":", 1)[1])
        if wait:
            self.wait_until(lambda: self.client().get("/readyz").status == 200, "the models")

    def client(self, token=None):
        return Client(self.port, token)

    def wait_until(self, happened, what):
        end = time.monotonic() + WAIT
        while not happened():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < end, f"waited in vain for {what}\n{self.log()}"
            time.sleep(0.02)

    def figures(self, token=None):
        """The samples of /metrics by name and labels."""
        page = self.client(token).get("/metrics").body.decode()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
                for line in page.splitlines() if line and not line.startswith("#")}

    def signal(self, number):
        self.process.send_signal(number)

    def terminate(self):
        """Its exit code after SIGTERM."""
        self.signal(signal.SIGTERM)
        return self.process.wait(WAIT)

    def log(self):
        return self.log_path.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


class ServedTest(unittest.TestCase):
    """Cases that share a server of `models`, which must end well, and have a client each."""

    models, options = {}, ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.models, *cls.options)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.terminate()
        assert code == 0, (code, cls.server.log())
        cls.server.__exit__()

    def setUp(self):
        self.client = self.server.client()

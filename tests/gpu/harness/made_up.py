"""A machine with a made-up GPU: programs that log how they were called and say what the real ones would, in their place."""
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]

# $WHEN holds cases: what a call that matches does first, and `exit` if that is all.
HEAD = """#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >>"$MADE_UP/calls"
eval "case \\"$call\\" in $WHEN esac"
"""
BLOCKS = """echo '{"ready": true, "flops_per_step": 4e12}'
for speed in 90 110 100; do echo "{\\"sequences_per_second\\": $speed, \\"loss\\": 7}"; done
"""
TIMES = """for shape in '"batch": 1, "length": 128' '"batch": 1, "length": 384' '"batch": 64, "length": 128'; do
  echo "{$shape, \\"median_ms\\": 0.5, \\"p99_ms\\": 0.6, \\"sequences_per_second\\": 2000}"
done
"""
CHECKS = """echo '{"batch": 1, "length": 128, "error": 0.001, "tolerance": 0.01, "passed": true}'
"""
NCCL = """echo '{"nccl": 22809, "bytes": 4, "all_reduce_seconds": 0.002, "enqueue_seconds_per_call": 1e-5, "copy_seconds": 0.001}'
"""
CEILINGS = """echo '{"device": "made up", "torch": "0", "copy_bytes_per_second": 4e12, "bf16_flops": 8e14}'
"""
PYTHON = f"""case "$call" in
  *--ceilings*) {CEILINGS} ;;
  *--nccl*) {NCCL} ;;
  *torch_peer.py*) {BLOCKS} ;;
  *torch_inference.py*) {TIMES} ;;
esac
"""
SMI = """case "$call" in
  *query-gpu=name,compute_cap*) echo 'NVIDIA H200, 9.0, 143771 MiB' ;;
  *query-gpu=name*) echo 'NVIDIA H200' ;;
esac
"""
BUILD = {"bin/bench_training": BLOCKS, "bin/podium-worker": TIMES + CHECKS, "bin/bench_nccl": NCCL}


class Machine:
    def __init__(self, programs=None):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.build = self.folder / "build"
        self.calls_file = self.folder / "calls"
        self.calls_file.touch()
        for path, body in (BUILD if programs is None else programs).items():
            self.add(self.build / path, body)
        self.add(self.folder / "path" / "nvidia-smi", SMI)
        self.add(self.folder / "python", PYTHON)
        (self.folder / "no_torch").mkdir()
        (self.folder / "no_torch" / "torch.py").write_text("raise ImportError\n")

    def add(self, path, body):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + body)
        path.chmod(0o755)

    def environment(self, when="", torch=True):
        environment = {**os.environ, "MADE_UP": str(self.folder), "WHEN": when, "PYTHONDONTWRITEBYTECODE": "1",
                       "PATH": f"{self.folder / 'path'}:{os.environ['PATH']}"}
        environment.pop("PYTHON", None)
        if torch:
            environment["PYTHON"] = str(self.folder / "python")
        else:
            environment["PYTHONPATH"] = str(self.folder / "no_torch")
        return environment

    def start(self, script, *arguments, when="", torch=True, **variables):
        return subprocess.Popen([ROOT / script, self.build, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env={**self.environment(when, torch), **variables})

    def run(self, script, *arguments, **options):
        """Its exit code and what it said."""
        process = self.start(script, *arguments, **options)
        said = process.communicate()[0]
        return process.returncode, said

    def calls(self):
        return self.calls_file.read_text().splitlines()

    def close(self):
        self.temporary.cleanup()

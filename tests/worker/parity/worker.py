"""Runs podium-worker for the parity tests: on the CPU, or with PODIUM_TEST_GPU=1 in the environment on GPUs."""
import os
import subprocess

import safetensors_file

DEVICE = ["--gpu"] if os.environ.get("PODIUM_TEST_GPU") == "1" else []


class Worker:
    def __init__(self, program):
        self.program = program

    def start(self, *arguments):
        """Runs to the end, well or not."""
        # Threads that wait without spinning keep this quick on a busy machine.
        return subprocess.run([self.program, *map(str, arguments)], text=True, capture_output=True,
                              env={**os.environ, "OMP_WAIT_POLICY": "passive"})

    def run(self, *arguments):
        done = self.start(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"{done.args} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def gradients(self, init, batch, out, *options):
        """Loss and gradients by name, read back from the file it writes; stdout must tell the same loss."""
        output = self.run("gradients", "--init", init, "--batch", batch, "--out", out, *DEVICE, *options)
        gradients, metadata = safetensors_file.read(out)
        told = dict(line.split() for line in output.splitlines())
        assert float(told["loss"]) == float(metadata["loss"]), (output, metadata)
        return float(metadata["loss"]), gradients

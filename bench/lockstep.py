"""Programs that are measured beside each other in lockstep: each runs a block while the other waits."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

OPENBLAS = pathlib.Path("/usr/lib/x86_64-linux-gnu/openblas-openmp")
# What a tuned PyTorch on glibc wants: the OpenMP build of OpenBLAS, and memory kept instead of given back each step.
TORCH_SETTINGS = {
    "LD_LIBRARY_PATH": str(OPENBLAS),
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "67108864",
}


def need_openblas():
    if not OPENBLAS.is_dir():
        sys.exit(f"{sys.argv[0]}: {OPENBLAS} is missing: install libopenblas0-openmp, or the peer is not tuned")


class Side:
    """One program in lockstep: a line in starts a block, a line out is its result. The first line out is about it."""

    def __init__(self, command, settings, threads, **options):
        for name, value in {**options, "threads": threads}.items():
            command = [*command, f"--{name}", str(value)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), **settings}
        self.command = [*command, "--lockstep"]
        self.process = subprocess.Popen(self.command, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{sys.argv[0]}: ended early: {' '.join(self.command)}")
        return json.loads(line)

    def block(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def median_of(pairs, side, key):
    return statistics.median(pair[side][key] for pair in pairs)


def ratio_of(pairs, key):
    """Of neighbouring blocks, so that a slow minute of the machine meets both."""
    return statistics.median(ours[key] / theirs[key] for ours, theirs in pairs)

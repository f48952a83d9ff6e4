"""Holds every #include to the table "Folders and what may include what" of docs/architecture.md.

LAYERS is that table, and that of coordinator/core/README.md for the rooms of the core: a folder may include its own headers, those of the layers it names, and theirs in turn.
PRIVATE_LIBRARIES keeps a third-party library where it belongs.
"""

import pathlib
import re
import sys

LAYERS = {
    "common/base": [],
    "common/mlperf": ["common/base"],
    "common/console": ["common/base"],
    "common/model": ["common/base", "common/mlperf"],
    "common/spec": ["common/model", "common/console"],
    "common/net": ["common/base"],
    "common/git": ["common/base"],
    "coordinator/core/sweeps": ["common/model"],
    "coordinator/core/state": ["coordinator/core/sweeps"],
    "coordinator/core/policies": ["coordinator/core/state"],
    "coordinator/core/events": ["coordinator/core/policies"],
    "coordinator/core/accounts": ["coordinator/core/events"],
    "coordinator/core/placement": ["coordinator/core/state"],
    "coordinator/core/jobs": ["coordinator/core/accounts", "coordinator/core/placement"],
    "coordinator/core/nodes": ["coordinator/core/jobs"],
    "coordinator/core/plan": ["coordinator/core/nodes"],
    "coordinator/core": ["coordinator/core/plan"],
    "coordinator/forecast": ["coordinator/core"],
    "coordinator/store": ["coordinator/core", "coordinator/tracking", "coordinator/store/chunks", "coordinator/webhooks/notices"],
    "coordinator/store/chunks": ["common/base"],
    "coordinator/tracking": ["common/model"],
    "coordinator/specs": ["coordinator/core", "common/spec", "common/git"],
    "coordinator/loop": ["coordinator/core", "coordinator/store", "common/net"],
    "coordinator/serving": ["coordinator/loop"],
    "coordinator/pilots": ["coordinator/loop"],
    "coordinator/webhooks": ["coordinator/loop", "coordinator/webhooks/notices", "common/spec"],
    "coordinator/webhooks/notices": ["coordinator/core"],
    "coordinator/mlflow": ["coordinator/store", "common/net", "common/spec"],
    "coordinator/api": ["coordinator/mlflow", "coordinator/loop", "coordinator/serving", "coordinator/pilots", "coordinator/webhooks", "coordinator/forecast", "coordinator/tracking", "coordinator/specs", "common/spec"],
    "coordinator": ["coordinator/api", "coordinator/specs"],
    "agent/core": ["common/model", "common/console"],
    "agent/device": ["common/model"],
    "agent/process": ["common/model", "agent/core"],
    "agent/outputs": ["common/base"],
    "agent/pilot": ["common/model"],
    "agent/staging": ["agent/process", "common/net"],
    "agent": ["agent/core", "agent/device", "agent/outputs", "agent/pilot", "agent/process", "agent/staging", "common/net"],
    "worker/tensor": ["common/base"],
    "worker/ops": ["worker/tensor"],
    "worker/ops/cpu": ["worker/ops"],
    "worker/ops/cuda": ["worker/ops"],
    "worker/comm": ["worker/tensor"],
    "worker/nn": ["worker/ops", "worker/comm", "common/model"],
    "worker/input": ["common/base"],
    "worker/tokenizer": ["worker/input"],
    "worker/data": ["worker/tokenizer", "common/model", "worker/tensor"],
    "worker/prepare": ["worker/data"],
    "worker/formats": ["worker/nn", "worker/data", "worker/comm"],
    "worker/checkpoint": ["worker/formats"],
    "worker/train": ["worker/checkpoint"],
    "worker/tasks": ["worker/train"],
    "worker/evaluate": ["worker/tasks"],
    "worker/infer": ["worker/checkpoint"],
    "worker/generate": ["worker/infer"],
    "worker/ask": ["worker/infer", "worker/tasks"],
    "worker/serve": ["worker/ask", "worker/generate", "common/net", "common/spec"],
    "worker/commands": ["worker/ask", "worker/prepare", "worker/evaluate", "worker/generate", "worker/infer", "worker/serve", "worker/tasks", "common/spec"],
    "worker": ["worker/commands"],
    "cli/curves": ["common/base"],
    "cli/determined": ["common/spec"],
    "cli": ["cli/curves", "cli/determined", "common/spec", "common/net", "common/git", "coordinator/forecast"],
}

# Header prefix: the folders that may include it.
PRIVATE_LIBRARIES = {
    "boost/": ["common/net", "coordinator", "agent", "cli", "worker/serve"],
    "sqlite3.h": ["coordinator/store"],
    "yaml-cpp/": ["common/spec"],
    "valijson/": ["common/spec"],
    "git2": ["common/git", "coordinator/specs", "cli"],
    "unicode/": ["worker/input", "worker/tokenizer", "worker/tasks/squad"],
    "dnnl": ["worker/ops", "worker/tensor"],
    "oneapi/dnnl": ["worker/ops", "worker/tensor"],
    "gloo/": ["worker/comm"],
    "cuda": ["worker/ops/cuda"],
    "cublas": ["worker/ops/cuda"],
    "re2/": ["common/console"],
    "zlib.h": ["common/net", "worker/input"],
    "zstd.h": ["common/net", "worker/input"],
    "openssl/": ["common/net"],
    "CLI/": ["cli", "agent", "worker", "coordinator"],
}

# The scheduler's core, its forecasts and the agent's core are pure: no clock, randomness, I/O or logging.
PURE = ["common/mlperf", "common/console", "coordinator/core", "coordinator/forecast", "agent/core", "coordinator/tracking", "coordinator/store/chunks", "coordinator/webhooks/notices"]
IMPURE_HEADERS = re.compile(
    r"^(common/base/(file|logging)\.h|spdlog/|iostream|fstream|filesystem|random|thread|mutex|unistd\.h|sys/|fcntl\.h|ctime|cstdio)"
)
IMPURE_CALLS = re.compile(r"\b(system_clock|steady_clock)::now\b|\brand\(|std::getenv")

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def reachable(layer: str) -> set[str]:
    found = {layer}
    for below in LAYERS[layer]:
        found |= reachable(below)
    return found


def layer_of(path: str) -> str | None:
    """The longest layer that is a folder of `path`; "worker/ops/cuda/x/y.h" belongs to "worker/ops/cuda"."""
    matches = [layer for layer in LAYERS if path.startswith(layer + "/")]
    return max(matches, key=len, default=None)


def violations(root: pathlib.Path):
    files = [p for top in ("common", "coordinator", "agent", "worker", "cli") for p in (root / top).rglob("*")]
    sources = [p for p in files if p.suffix in (".h", ".cc", ".cu", ".cuh")]
    if len(sources) < 50:
        yield f"only {len(sources)} sources found under {root}: is this the source root?"
    for source in sorted(sources):
        name = source.relative_to(root).as_posix()
        layer = layer_of(name)
        text = source.read_text()
        pure = any(name.startswith(folder + "/") for folder in PURE)
        if pure and (call := IMPURE_CALLS.search(text)):
            yield f"{name}: {layer} is pure and must not use {call.group()}; take the value as an argument"
        for header in INCLUDE.findall(text):
            target = layer_of(header)
            if target and target not in reachable(layer):
                yield f"{name}: {layer} must not include {target} ({header})"
            for prefix, allowed in PRIVATE_LIBRARIES.items():
                if header.startswith(prefix) and not any(name.startswith(folder + "/") for folder in allowed):
                    yield f"{name}: only {', '.join(allowed)} may include {header}"
            if pure and IMPURE_HEADERS.match(header):
                yield f"{name}: {layer} is pure and must not include {header}"


problems = list(violations(pathlib.Path(sys.argv[1])))
print("\n".join(problems) or "every include follows the table")
sys.exit(1 if problems else 0)

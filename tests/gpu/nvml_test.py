"""What an agent finds through NVML beside what nvidia-smi says of the same machine: count, names, UUIDs, memory, driver and
topology; and whether one look at each GPU gives readings that can be.

nvml_test.py LIST_GPUS      prints what was found; exits with 1 and every difference
"""
import json
import re
import subprocess
import sys

MIB = 1 << 20


def output_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def told_by_smi():
    fields = "index,name,uuid,memory.total,driver_version"
    lines = output_of("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits").splitlines()
    return [dict(zip(fields.split(","), line.split(", "))) for line in lines if line.strip()]


def topology_by_smi():
    """By GPU, how it reaches each; None where nvidia-smi does not tell."""
    try:
        text = re.sub(r"\x1b\[[0-9;]*m", "", output_of("nvidia-smi", "topo", "-m"))
    except subprocess.CalledProcessError as error:
        print(f"topology is left out: nvidia-smi topo -m ended with {error.returncode}")
        return None
    rows = [line.split() for line in text.splitlines()]
    rows = [row for row in rows if re.fullmatch(r"GPU\d+", row[0] if row else "") and "X" in row[1:]]  # not the head
    columns = len(rows)
    return [row[1:1 + columns] for row in rows]


def differences(ours, smi, topology):
    devices = ours["devices"]
    if len(devices) != len(smi):
        yield f"the agent finds {len(devices)} GPUs ({'; '.join(ours['notes'])}), nvidia-smi {len(smi)}"
        return
    for device, told in zip(devices, smi):
        name = f"GPU {told['index']}"
        pairs = [("index", str(device["index"]), told["index"]), ("name", device["model"], told["name"]),
                 ("UUID", device["uuid"], told["uuid"]), ("health", device["health"], "")]
        yield from (f"{name}: {what} {found!r}, expected {expected!r}" for what, found, expected in pairs if found != expected)
        if abs(device["memory_bytes"] - float(told["memory.total"]) * MIB) > MIB:
            yield f"{name}: memory of {device['memory_bytes'] / MIB:.0f} MiB, nvidia-smi says {told['memory.total']}"
        if not any(told["driver_version"] in note for note in ours["notes"]):
            yield f"driver {told['driver_version']} is not in: {'; '.join(ours['notes'])}"
    if topology is not None and [device.get("paths", []) for device in devices] != topology:
        yield f"paths {[device.get('paths') for device in devices]}, nvidia-smi topo -m says {topology}"


def impossible(ours):
    bounds = {"utilisation": (0, 1), "memory_used": (1, float("inf")), "power": (1, 3000), "temperature": (1, 120)}
    if len(ours.get("look", [])) != len(ours["devices"]):
        yield f"one look saw {len(ours.get('look', []))} of {len(ours['devices'])} GPUs"
    for state in ours.get("look", []):
        if state["health"]:
            yield f"GPU {state['index']} is called unhealthy: {state['health']}"
        for what, (low, high) in bounds.items():
            value = state["reading"].get(what)
            if value is None:
                print(f"GPU {state['index']} does not tell its {what}")
            elif not low <= value <= high:
                yield f"GPU {state['index']}: {what} {value}"


def main():
    text = output_of(sys.argv[1])
    print(text)
    ours = json.loads(text)
    wrong = [*differences(ours, told_by_smi(), topology_by_smi()), *impossible(ours)]
    for difference in wrong:
        print(f"DIFFERS: {difference}")
    print("the agent and nvidia-smi say the same" if not wrong else f"{len(wrong)} differences")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

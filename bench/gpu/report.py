"""What bench/gpu's measurements share: running programs that print JSON, and keeping figures."""
import json
import subprocess


class Failed(Exception):
    pass


def lines_of(*command):
    """What a program prints, line by line, as JSON."""
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise Failed(f"{command[0]} ended with {done.returncode}; it was run as: {' '.join(map(str, command))}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Report:
    """Prints figures and keeps them, one JSON object a line; what is there stays there if the run is cut off."""

    def __init__(self, path):
        self.file = path.open("w") if path else None
        self.failed = False

    def figure(self, name, **values):
        if self.file:
            print(json.dumps({"name": name, **values}), file=self.file, flush=True)

    def part(self, name, measure, *arguments):
        try:
            measure(self, *arguments)
        except Failed as failure:
            self.failed = True
            print(f"{name}: {failure}", flush=True)

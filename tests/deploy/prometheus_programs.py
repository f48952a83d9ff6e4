"""Where Prometheus' programs are, and what promtool says of a page of metrics."""

import os
import shutil
import subprocess

UNPACKED = "/usr/local/lib/podium-tests"  # by deploy/install-packages --tests


def find(program):
    """Its path; None where it is missing."""
    return shutil.which(program, path=os.environ["PATH"] + os.pathsep + UNPACKED)


def check_metrics(page):
    """What promtool finds wrong with a page; "" where it finds nothing."""
    ran = subprocess.run([find("promtool"), "check", "metrics"], input=page, capture_output=True)
    return (ran.stdout + ran.stderr).decode() if ran.returncode or ran.stderr else ""

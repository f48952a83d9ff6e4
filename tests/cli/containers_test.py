"""Commands in containers, by Debian's podman as root in a folder of its own: storage that only copies, no cgroups, no network of its
own. The image is one statically linked busybox."""

import os
import pathlib
import subprocess
import sys
import tarfile
import unittest

import cluster

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
BUSYBOX = pathlib.Path("/usr/bin/busybox")
IMAGE = "localhost/busybox:test"

# crun refuses to run beside the cgroups of a machine that has both versions of them; without the second it needs none.
ALONE = ["unshare", "--mount", "sh", "-c", 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"', "sh"]

STORAGE = """[storage]
driver = "vfs"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""
ENGINE = """[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
tmp_dir = "{folder}/tmp"
"""

SPEC = """
version: 1
name: contained
command: [/bin/sh, -c, {script}]
env: {{GREETING: "two\\nlines", HOME: /in/the/image}}
resources: {{devices: 1, kind: cpu, walltime: 10m}}
restarts: {{max: 0}}
stop: {{grace: {grace}}}
container:
  image: {image}
  mounts: ["{mounted}:/mounted:ro"]
  env: {{WITHIN: alone}}
  runtime: podman
"""


class PodmanCluster(cluster.Cluster):
    def start(self, command):
        command[0] = self.programs / command[0]
        alone = ALONE if command[0].name == "podium-agent" else []
        environment = os.environ | {"PATH": f"{self.programs}:/usr/bin:/bin"} | self.of_podman()
        self.children.append(subprocess.Popen([*alone, *command], env=environment, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL))

    def of_podman(self):
        folder = self.folder / "podman"
        if not folder.exists():
            folder.mkdir()
            (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
            (folder / "containers.conf").write_text(ENGINE.format(folder=folder))
        return {"CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"), "CONTAINERS_CONF": str(folder / "containers.conf")}

    def podman(self, *arguments):
        return subprocess.run([*ALONE, "podman", *arguments], env=os.environ | self.of_podman(), capture_output=True, text=True, timeout=60)

    def make_image(self):
        with tarfile.open(self.folder / "image.tar", "w") as image:
            image.add(BUSYBOX, "bin/busybox")
            for name in ("sh", "sleep", "cat", "id", "env", "touch"):
                link = tarfile.TarInfo("bin/" + name)
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                image.addfile(link)
        return self.podman("import", self.folder / "image.tar", IMAGE)


class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        waits_for = "Debian's podman, crun, catatonit and busybox-static, and a root that may mount"
        if os.geteuid() != 0 or subprocess.run(["sh", "-c", "command -v podman crun catatonit busybox"], capture_output=True).returncode != 0 \
                or not BUSYBOX.exists():
            raise unittest.SkipTest(f"skipped: this test waits for {waits_for}")
        cls.cluster = PodmanCluster(BIN, ["node-1"])
        cls.addClassCleanup(cls.cluster.close)
        made = cls.cluster.make_image()
        limits = ["--ulimit", "nofile=512:512", "--ulimit", "nproc=512:512"]
        tried = made if made.returncode else cls.cluster.podman("run", "--rm", "--network", "host", "--cgroups", "disabled", "--init", *limits, IMAGE,
                                                                "/bin/sh", "-c", "exit 0")
        if tried.returncode != 0:
            raise unittest.SkipTest(f"skipped: podman runs nothing here: {tried.stderr}")

    def submit(self, script, image=IMAGE, grace="30s"):
        (self.cluster.folder / "mounted").mkdir(exist_ok=True)
        (self.cluster.folder / "mounted" / "file").write_text("from the node\n")
        quoted = '"' + script.replace("\\", "\\\\").replace('"', '\\"') + '"'
        (self.cluster.folder / "spec.yaml").write_text(SPEC.format(script=quoted, image=image, grace=grace, mounted=self.cluster.folder / "mounted"))
        return int(self.cluster.say("podium --json submit spec.yaml | python3 -c 'import json,sys; print(json.load(sys.stdin)[\"jobs\"][0][\"id\"])'"))

    def wait_until(self, job, state, attempt=1):
        seen = lambda: self.cluster.get(f"/jobs/{job}")
        self.cluster.wait_for(lambda: (seen()["state"], seen()["attempt"]) == (state, attempt) or seen()["ended_ms"], f"job {job} to be {state}")
        self.assertEqual((seen()["state"], seen()["attempt"]), (state, attempt), seen()["reason"] + self.cluster.say(f"podium logs {job}"))
        return seen()

    def assert_nothing_is_left(self):
        self.assertEqual(self.cluster.podman("ps", "--all", "--noheading").stdout, "")

    def test_a_program_finds_its_folders_and_its_environment_and_the_node_is_left_clean(self):
        job = self.submit('echo "$GREETING, $WITHIN, $PODIUM_JOB, $HOME, ${CONTAINERS_CONF-unset}"; pwd; cat /mounted/file; touch /mounted/no; '
                          'ls /etc/debian_version; echo done > $PODIUM_CHECKPOINTS/state; '
                          'echo "{\\"type\\":\\"metrics\\",\\"t\\":1,\\"step\\":3,\\"values\\":{\\"loss\\":0.5}}" >> $PODIUM_EVENTS')
        self.wait_until(job, "succeeded")
        said = self.cluster.say(f"podium logs {job}")
        for part in ("two", f"lines, alone, {job}, /in/the/image, unset", f"{self.cluster.folder}/node-1/jobs/{job}/1/0", "from the node",
                     "Read-only file system", "/etc/debian_version: No such file"):
            self.assertIn(part, said)
        saved, = self.cluster.folder.glob(f"shared/**/{job}/checkpoints/state")
        self.assertEqual(saved.read_text(), "done\n")
        points = self.cluster.get(f"/jobs/{job}/series?key=loss&points=10")["series"][0]["points"]
        self.assertEqual([(point[0], point[2]) for point in points], [(3, 0.5)])
        self.assert_nothing_is_left()

    def test_signals_and_exit_codes_pass(self):
        job = self.submit('[ "$PODIUM_CHECKPOINT" ] && exit 3; trap "echo told; exit 79" TERM; touch ready; while :; do sleep 0.05; done')
        self.cluster.wait_for((self.cluster.folder / f"node-1/jobs/{job}/1/0/ready").exists, "it to be ready")
        with open(self.cluster.folder / f"node-1/jobs/{job}/1/0/events.jsonl", "a") as events:
            events.write('{"type":"checkpoint","t":1,"step":7,"path":"state"}\n')
        self.cluster.wait_for(lambda: self.cluster.get(f"/jobs/{job}/checkpoints")["checkpoints"], "its checkpoint")
        self.cluster.say(f"podium requeue {job}")
        self.assertIn("exit code 3", self.wait_until(job, "failed", 2)["reason"])
        self.assertIn("told", self.cluster.say(f"podium logs {job} --attempt 1"))
        self.assert_nothing_is_left()

    def test_a_program_that_does_not_leave_is_killed_with_its_container(self):
        job = self.submit('trap "" TERM; sleep 1000 & touch ready; while :; do sleep 0.05; done', grace="1s")
        folder = self.cluster.folder / f"node-1/jobs/{job}/1/0"
        self.cluster.wait_for((folder / "ready").exists, "it to be ready")
        self.cluster.say(f"podium cancel {job}")
        self.wait_until(job, "cancelled")
        self.assert_nothing_is_left()
        mark = f"PODIUM_TASK_FOLDER={folder}".encode()
        environments = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                environments.append(path.read_bytes())
            except OSError:
                pass
        self.assertEqual(sum(mark in each for each in environments), 0)

    def test_an_image_that_is_not_there_is_named(self):
        job = self.submit("exit 0", image="localhost/nothing:1")
        self.assertIn("nothing", self.wait_until(job, "failed")["reason"])
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main()

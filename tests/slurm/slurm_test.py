"""Nodes on demand against Debian's real Slurm: asked for, used, kept, given back; and what goes wrong on the way."""

import os
import pathlib
import signal
import sys
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()

from lent_cluster import LentCluster  # noqa: E402
from slurm import left_behind, need_slurm, wait_for  # noqa: E402


class SlurmTest(unittest.TestCase):
    def cluster(self, *options, **how):
        cluster = LentCluster(BIN, *options, **how)
        self.addCleanup(cluster.close)
        cluster.start()
        return cluster

    def wait_until_empty(self, cluster):
        wait_for(lambda: not cluster.slurm.live(), "the allocations to be given back")
        wait_for(lambda: not cluster.nodes(), "their nodes to leave")

    def test_a_job_gets_nodes_and_they_are_given_back(self):
        cluster = self.cluster("--slurm-idle", "2s")
        self.assertEqual(cluster.nodes(), [])
        job = cluster.submit("echo on $PODIUM_NODE; sleep 1", devices=3)
        done = cluster.wait_for_state(job, "succeeded")
        nodes = {task["node"] for task in done["attempts"][0]["tasks"]}
        (allocation, _, comment), = cluster.slurm.jobs()
        self.assertEqual(nodes, {f"n1-{allocation}", f"n2-{allocation}"})
        self.assertEqual(comment, f"podium:{job}:1")
        self.wait_until_empty(cluster)
        self.assertEqual([state for _, state, _ in cluster.slurm.jobs()], ["CANCELLED"])
        self.assertEqual(list((cluster.folder / "homes").iterdir()), [])

    def test_an_allocation_is_kept_for_restarts_and_for_the_next_job(self):
        cluster = self.cluster()
        flag = cluster.folder / "data" / "flag"
        first = cluster.submit(f"test -e {flag} || {{ touch {flag}; exit 1; }}", more="restarts: {max: 2}")
        done = cluster.wait_for_state(first, "succeeded")
        self.assertEqual(len(done["attempts"]), 2)
        second = cluster.submit("true", name="second")
        cluster.wait_for_state(second, "succeeded")
        self.assertEqual([comment for _, _, comment in cluster.slurm.jobs()], [f"podium:{first}:1"])

    def test_no_job_starts_that_would_outlive_its_allocation(self):
        cluster = self.cluster()
        small = cluster.submit("true", walltime="2m")
        cluster.wait_for_state(small, "succeeded")
        tall = cluster.submit("true", name="tall", walltime="40m")
        done = cluster.wait_for_state(tall, "succeeded")
        (kept, state, _), (other, _, comment) = sorted(cluster.slurm.jobs())
        self.assertEqual((state, comment), ("RUNNING", f"podium:{tall}:1"))
        node = done["attempts"][0]["tasks"][0]["node"]
        self.assertTrue(node.endswith(f"-{other}"), node)
        self.assertLess(int(kept), int(other))

    def test_slurms_reason_is_shown_and_squeue_is_asked_seldom(self):
        cluster = self.cluster()
        asked = cluster.folder / "asked"
        cluster.shadow("squeue", f'date +%s.%N >> {asked}; exec $REAL "$@"')
        cluster.slurm.say("sbatch", "--exclusive", "-N2", "--comment=podium:1:1", "--output=/dev/null", "--wrap", "sleep 600")
        (foreign, _, _), = wait_for(lambda: [job for job in cluster.slurm.jobs() if job[1] == "RUNNING"], "another's job")
        job = cluster.submit("true")
        wait_for(lambda: "is pending: Resources" in cluster.why(job), "Slurm's reason")
        self.assertIn("(partition main) is pending: Resources", cluster.podium("why", str(job)))
        cluster.podium("cancel", str(job))
        wait_for(lambda: [each[0] for each in cluster.slurm.live()] == [foreign], "the allocation to be given back")
        another = cluster.submit("true", name="another")
        wait_for(lambda: cluster.why(another), "a look at Slurm")
        cluster.slurm.say("scancel", foreign)
        cluster.wait_for_state(another, "succeeded")
        times = [float(line) for line in asked.read_text().split()]
        self.assertGreater(len(times), 2)
        self.assertGreater(min(later - sooner for sooner, later in zip(times, times[1:])), 4.9)

    def test_what_slurm_refuses_is_told_in_its_words(self):
        cluster = self.cluster("--slurm-account", "nobody", partition="nope")
        job = cluster.submit("true")
        wait_for(lambda: "Invalid partition name specified" in cluster.why(job), "Slurm's words")
        self.assertRegex(cluster.podium("why", str(job)), r"gets no 1 node of Slurm: sbatch: error: .*; asked again in \d+s")
        self.assertEqual(cluster.slurm.jobs(), [])

    def test_an_allocation_that_nobody_needs_ends_without_the_coordinator(self):
        cluster = self.cluster("--slurm-idle", "10s")
        cluster.wait_for_state(cluster.submit("true"), "succeeded")
        log, = (cluster.folder / "shared").glob("podium-slurm-*.log")
        wait_for(lambda: "forgotten" in log.read_text(), "the agent to have delivered all")
        cluster.kill_coordinator()
        wait_for(lambda: not cluster.slurm.live(), "the agent to leave")
        self.assertEqual([state for _, state, _ in cluster.slurm.jobs()], ["COMPLETED"])
        cluster.start_coordinator()
        self.wait_until_empty(cluster)

    def kill_in_sbatch(self, cluster, script):
        """The coordinator is killed by the first sbatch, before it has read the number of the allocation."""
        once = cluster.folder / "once"
        cluster.shadow("sbatch", f'test -e {once} && exec $REAL "$@"\ntouch {once}\nexec 0<&0\n{script}')
        job = cluster.submit("true")
        wait_for(lambda: cluster.coordinator.poll() is not None, "the coordinator to be killed")
        cluster.start_coordinator()
        cluster.wait_for_state(job, "succeeded")
        self.assertEqual([comment for _, _, comment in cluster.slurm.jobs()], [f"podium:{job}:1"])

    def test_a_coordinator_that_is_killed_after_sbatch_finds_the_allocation(self):
        cluster = self.cluster()
        self.kill_in_sbatch(cluster, f'$REAL "$@"; kill -9 {cluster.coordinator.pid}')

    def test_a_coordinator_that_is_killed_before_sbatch_waits_for_it(self):
        cluster = self.cluster()
        self.kill_in_sbatch(cluster, f'kill -9 {cluster.coordinator.pid}; sleep 8; exec $REAL "$@"')

    def test_jobs_go_on_without_slurms_controller(self):
        cluster = self.cluster("--slurm-idle", "2s")
        job = cluster.submit("sleep 9")
        cluster.wait_for_state(job, "running")
        time.sleep(6)  # it writes what it knows every five seconds
        cluster.slurm.kill_controller()
        cluster.wait_for_state(job, "succeeded")
        waiting = cluster.submit("true", name="waiting", devices=4)
        wait_for(lambda: "which does not answer" in cluster.why(waiting), "word of the silence")
        cluster.slurm.start_controller()
        cluster.wait_for_state(waiting, "succeeded")
        self.wait_until_empty(cluster)

    def test_a_controller_that_forgets_an_allocation_that_it_accepted(self):
        cluster = self.cluster("--slurm-idle", "2s")
        cluster.shadow("sbatch", f'$REAL "$@" && kill -9 {cluster.slurm.controller.pid} 2>/dev/null; true')
        job = cluster.submit("sleep 2")
        wait_for(lambda: cluster.slurm.controller.poll() is not None, "the controller to be killed")
        (cluster.folder / "path" / "sbatch").unlink()
        cluster.slurm.start_controller()
        cluster.wait_for_state(job, "succeeded")
        self.wait_until_empty(cluster)

    def test_a_controller_that_forgets_an_allocation_that_it_started(self):
        cluster = self.cluster("--slurm-idle", "2s")
        job = cluster.submit("sleep 2")
        cluster.wait_for_state(job, "running")
        cluster.slurm.kill_controller()
        cluster.slurm.start_controller()  # it may start the allocation again, and close the machine where it still runs
        cluster.wait_for_state(job, "succeeded")
        another = cluster.submit("true", name="another")
        cluster.wait_for_state(another, "succeeded")
        self.wait_until_empty(cluster)

    def test_before_the_end_of_its_allocation_a_program_saves_and_goes_on_in_another(self):
        cluster = self.cluster()
        saved = cluster.folder / "data" / "saved"
        job = cluster.submit(f"test -e {saved} && exit 0; trap 'touch {saved}; exit 0' TERM; while :; do sleep 0.1; done")
        cluster.wait_for_state(job, "running")
        (allocation, _, _), = cluster.slurm.live()
        cluster.slurm.say("scancel", "--signal=TERM", "--batch", allocation)  # as Slurm itself does for --signal=B:TERM@…
        done = cluster.wait_for_state(job, "succeeded")
        self.assertEqual([attempt["end"] for attempt in done["attempts"]], ["preempted", "succeeded"])
        self.assertEqual(done["restarts_used"], 0)
        self.assertEqual(len(cluster.slurm.jobs()), 2)

    def test_nodes_leave_with_an_allocation_that_is_killed(self):
        cluster = self.cluster()
        begun = cluster.folder / "data" / "begun"
        job = cluster.submit(f"test -e {begun} && exit 0; touch {begun}; sleep 600")
        cluster.wait_for_state(job, "running")
        (allocation, _, _), = cluster.slurm.live()
        for pid in left_behind(cluster.folder / "homes"):  # agent, shim and program at once
            if pid != cluster.coordinator.pid:
                os.kill(pid, signal.SIGKILL)
        done = cluster.wait_for_state(job, "succeeded")
        self.assertIn(f"job {allocation} of Slurm has ended", done["attempts"][0]["reason"])
        self.assertEqual(done["restarts_used"], 0)
        self.assertEqual([node for node in cluster.nodes() if node.endswith(f"-{allocation}")], [])


if __name__ == "__main__":
    need_slurm()
    unittest.main()

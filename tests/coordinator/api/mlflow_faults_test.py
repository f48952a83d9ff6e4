"""MLflow's API while the daemon is killed or its disk is full."""

import http.client
import threading
import unittest

from daemon import Daemon
from mlflow_daemon import Client, pairs


class FaultsTest(unittest.TestCase):
    def test_a_kill_loses_nothing_that_was_answered(self):
        """And what was not answered is logged again without harm, as the client does by itself."""
        with Daemon() as daemon:
            c = Client(daemon)
            runs = [c.start(run_name=f"run {number}") for number in range(4)]
            answered = [[] for _ in runs]
            stop = threading.Event()

            def work(number):
                step = 0
                while not stop.is_set():
                    metrics = [{"key": "m", "value": step, "timestamp": step, "step": step // 3}]
                    tags = [{"key": "last", "value": str(step)}]
                    try:
                        c.post("runs/log-batch", run_id=runs[number], metrics=metrics, params=[{"key": f"p{step}", "value": "x"}], tags=tags)
                    except (OSError, http.client.HTTPException):
                        return
                    answered[number].append(step)
                    step += 1

            threads = [threading.Thread(target=work, args=(number,)) for number in range(len(runs))]
            for thread in threads:
                thread.start()
            while min(map(len, answered)) < 20:
                threading.Event().wait(0.005)
            daemon.kill()
            stop.set()
            for thread in threads:
                thread.join()
            daemon.start()
            for run, steps in zip(runs, answered):
                found = c.history(run, "m")
                self.assertIn(len(found) - len(steps), (0, 1))  # one may be on disk and was not answered
                self.assertEqual(found[: len(steps)], [(s // 3, s, s) for s in steps])
                params = pairs(c.fetch(run)["data"]["params"])
                self.assertEqual(len(params), len(found), "a request is written wholly or not at all")
                self.assertEqual(c.tags(run)["last"], str(len(found) - 1))
                again = len(steps)
                for _ in range(2):
                    c.post("runs/log-batch", run_id=run, metrics=[{"key": "m", "value": again, "timestamp": again, "step": again // 3}],
                           params=[{"key": f"p{again}", "value": "x"}])
                self.assertEqual(len(c.history(run, "m")), again + 1)
            c.start(run_name="one more")
            self.assertEqual(daemon.get("/jobs").json()["total"], 5)

    def test_an_older_copy_of_the_database_gives_no_run_of_another_its_id(self):
        with Daemon() as daemon:
            c = Client(daemon)
            kept = c.start()
            daemon.terminate()
            copy = {file: file.read_bytes() for file in daemon.home.glob("podium.db*")}
            daemon.start()
            lost = [c.start() for _ in range(3)]
            c.log(lost[2], "m", 1, 1)
            daemon.kill()
            for file in daemon.home.glob("podium.db*"):
                file.unlink()
            for file, content in copy.items():
                file.write_bytes(content)
            for _ in range(2):
                daemon.start()
                fresh = c.start()
                self.assertNotIn(fresh, [kept, *lost])
                c.post("runs/log-metric", run_id=lost[2], key="m", value=2, timestamp=2, expect=404, code="RESOURCE_DOES_NOT_EXIST")
                lost.append(fresh)
                daemon.kill()
            self.assertEqual([int(run[16:], 16) for run in lost], [2, 3, 4, 5, 6])  # and none is left out without need

    def test_a_start_notes_the_numbers_that_were_given_before(self):
        with Daemon() as daemon:
            c = Client(daemon)
            daemon.terminate()
            copy = {file: file.read_bytes() for file in daemon.home.glob("podium.db*")}
            daemon.start()
            lost = c.start()
            daemon.terminate()
            (daemon.home / "highest-job").unlink()  # as by a version that knew of none
            daemon.start()
            c.fetch(lost)
            daemon.kill()
            for file in daemon.home.glob("podium.db*"):
                file.unlink()
            for file, content in copy.items():
                file.write_bytes(content)
            daemon.start()
            self.assertNotEqual(c.start(), lost)

    def test_a_disk_that_is_nearly_full_is_told_as_one_that_may_pass(self):
        with Daemon("--disk-reserve", "1000000TB") as daemon:
            full = Client(daemon)
            for path, fields in (("runs/create", {}), ("experiments/create", {"name": "x"})):
                full.post(path, **fields, expect=503, code="TEMPORARILY_UNAVAILABLE")
            full.get("experiments/get", experiment_id="0")


if __name__ == "__main__":
    unittest.main()

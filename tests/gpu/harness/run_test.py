"""tests/gpu/run with made-up suites: a process for each, in order; results kept as they come; what fails looked at again."""
import os
import pathlib
import signal
import time
import unittest
import xml.etree.ElementTree as ET

from made_up import Machine

SUITES = {
    "tests/worker/ops/worker_device_library_test": "DeviceLibrary CudaLibrary",
    "tests/worker/ops/worker_ops_gpu_test": "Attention Rows Weights/InferenceLinear",
    "tests/worker/device/worker_device_gpu_test": "All/DeviceTraining DeviceInference All/DeviceModel",
}
# As GoogleTest: the list, or the suite of the filter, with its results as XML.
SUITE = """case "$call" in
  *--gtest_list_tests*) echo 'Running main() from gtest_main.cc'; for s in {suites}; do echo "$s."; echo '  Works'; done; exit 0 ;;
esac
for word; do case "$word" in
  --gtest_filter=*) suite=${{word#--gtest_filter=}}; suite=${{suite%.*}} ;;
  --gtest_output=xml:*) xml=${{word#--gtest_output=xml:}} ;;
esac; done
[ -z "$xml" ] || printf '<?xml version="1.0" encoding="UTF-8"?>\\n<testsuites tests="1">\\n  <testsuite name="%s" tests="1">\\n    <testcase name="Works"/>\\n  </testsuite>\\n</testsuites>\\n' "$suite" >"$xml"
echo "[  PASSED  ] $suite"
"""
PROGRAMS = {path: SUITE.format(suites=suites) for path, suites in SUITES.items()}
SMI_AND_LISTS = {"bin/list_gpus": "echo '{\"devices\": [], \"notes\": [\"made up\"]}'\n", "bin/podium-worker": "exit 0\n",
                 "tests/worker/parity/dump_batches": "exit 0\n"}


class Run(unittest.TestCase):
    def setUp(self):
        self.machine = Machine({**PROGRAMS, **SMI_AND_LISTS})
        self.addCleanup(self.machine.close)
        self.kept = self.machine.folder / "kept"

    def run_suites(self, when="", **options):
        code, said = self.machine.run("tests/gpu/run", "--keep", self.kept, when=when, **options)
        return code, said, (self.kept / "summary.txt").read_text()

    def test_each_suite_is_a_process_of_its_own_and_what_others_rest_on_goes_first(self):
        code, said, summary = self.run_suites()
        self.assertEqual(code, 0, said)
        calls = [call for call in self.machine.calls() if "--gtest_output" in call]
        order = [call.split("--gtest_filter=")[1].split(".*")[0] for call in calls]
        self.assertEqual(order, ["CudaLibrary", "DeviceLibrary", "Weights/InferenceLinear", "Attention", "Rows",
                                 "All/DeviceModel", "All/DeviceTraining", "DeviceInference"])
        names = [suite.get("name") for suite in ET.parse(self.kept / "tests.xml").getroot()]
        self.assertEqual(names, order)
        self.assertIn("passed   worker_ops_gpu_test Attention.", summary)
        self.assertIn("passed   NVML beside nvidia-smi", summary)
        self.assertIn("passed   attention without warpgroups", summary)
        self.assertIn("[  PASSED  ] DeviceInference", (self.kept / "tests.log").read_text())
        self.assertFalse((self.kept / "again.log").exists())

    def test_what_an_earlier_run_left_is_kept(self):
        for when in ("*Rows*) exit 1 ;;", "*Attention*) exit 1 ;;", ""):
            self.run_suites(when=when)
        for number, suite in ((".1", "Rows."), (".2", "Attention.")):
            self.assertIn(f"FAILED   worker_ops_gpu_test {suite}", (self.kept / f"summary.txt{number}").read_text())
            self.assertIn(suite, (self.kept / f"again.log{number}").read_text())
            for name in ("tests.log", "tests.xml"):
                self.assertTrue((self.kept / (name + number)).exists(), name)
        self.assertNotIn("FAILED", (self.kept / "summary.txt").read_text())
        self.assertEqual(len(list(self.kept.iterdir())), 4 + 4 + 3)

    def test_without_pytorch_all_else_is_run(self):
        code, said, summary = self.run_suites(torch=False)
        self.assertEqual(code, 0, said)
        self.assertIn("skipped  gradients and training against PyTorch: no python3 here has it", summary)
        self.assertIn("passed   worker_device_gpu_test DeviceInference.", summary)

    def test_a_fault_ends_its_own_suite_alone_and_is_looked_at_again(self):
        sanitizer = self.machine.folder / "path" / "compute-sanitizer"
        self.machine.add(sanitizer, 'echo "========= Invalid __global__ read of size 4"; exit 3\n')
        when = """worker_ops_gpu_test*Attention*)
          echo "launch blocking $CUDA_LAUNCH_BLOCKING graphs $PODIUM_CUDA_GRAPHS"; kill -SEGV $$ ;;"""
        code, said, summary = self.run_suites(when=when)
        self.assertEqual(code, 1)
        self.assertIn("FAILED   worker_ops_gpu_test Attention. (exit code 139)", summary)
        for suite in ("worker_ops_gpu_test Rows.", "worker_device_gpu_test DeviceInference."):
            self.assertIn(f"passed   {suite}", summary)
        again = (self.kept / "again.log").read_text()
        self.assertIn("launch blocking 1 graphs 0", again)
        self.assertIn("Invalid __global__ read", again)
        self.assertNotIn("Rows", again)
        self.assertIn("again    worker_ops_gpu_test Attention. under compute-sanitizer: exit code 3", summary)
        call = next(call for call in self.machine.calls() if call.startswith("compute-sanitizer"))
        self.assertRegex(call, r"worker_ops_gpu_test --gtest_brief=1 --gtest_filter=Attention\.\*")
        results = {suite.get("name"): suite for suite in ET.parse(self.kept / "tests.xml").getroot()}
        self.assertEqual(results["Attention"].find("testcase/error").get("message"), "ended with 139")

    def test_without_a_sanitizer_it_is_looked_at_with_launches_waited_for(self):
        code, said, summary = self.run_suites(when="*Rows*) exit 1 ;;")
        self.assertEqual(code, 1)
        self.assertIn("again    worker_ops_gpu_test Rows. with every launch waited for: exit code 1", summary)
        self.assertNotIn("compute-sanitizer:", summary)

    def test_a_run_that_is_killed_keeps_what_it_had(self):
        hanging = self.machine.folder / "hanging"
        process = self.machine.start("tests/gpu/run", "--keep", self.kept, when=f"*DeviceTraining*) echo $$ >{hanging}; exec sleep 1000 ;;")
        while not (hanging.exists() and hanging.read_text().strip()):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.kill(int(hanging.read_text()), signal.SIGKILL)
        process.communicate()
        root = ET.parse(self.kept / "tests.xml").getroot()
        self.assertEqual([suite.get("name") for suite in root][-1], "All/DeviceModel")
        self.assertIn("passed   worker_device_gpu_test All/DeviceModel.", (self.kept / "summary.txt").read_text())
        self.assertIn("[  PASSED  ] All/DeviceModel", (self.kept / "tests.log").read_text())

    def test_a_run_that_is_told_to_end_ends_what_runs_and_says_so(self):
        for how, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            hanging = self.machine.folder / f"hanging-{code}"
            process = self.machine.start("tests/gpu/run", "--keep", self.kept,
                                         when=f"*DeviceTraining*) sleep 1000 & echo $! >{hanging}; wait ;;")
            while not (hanging.exists() and hanging.read_text().strip()):
                time.sleep(0.01)
            process.send_signal(how)
            said = process.communicate()[0]  # until nobody holds the pipe
            self.assertEqual(process.returncode, code, said)
            summary = (self.kept / "summary.txt").read_text()
            self.assertIn("passed   worker_device_gpu_test All/DeviceModel.", summary)
            self.assertIn(f"ended by {how.name}", summary)

    def test_a_driver_that_does_not_answer_is_said_and_not_waited_for(self):
        code, said = self.machine.run("tests/gpu/run", "--keep", self.kept, when="nvidia-smi*) exec sleep 1000 ;;",
                                      PODIUM_NVIDIA_SMI_SECONDS="1")
        self.assertEqual(code, 1)
        self.assertIn("nvidia-smi does not answer", said)

    def test_who_ends_a_run_that_waits_for_the_driver_ends_nvidia_smi(self):
        for script in ("tests/gpu/run", "bench/gpu/run"):
            for how in (signal.SIGTERM, signal.SIGKILL):
                hanging = self.machine.folder / f"hanging-{pathlib.Path(script).parts[0]}-{how}"
                process = self.machine.start(script, when=f"nvidia-smi*) echo $$ >{hanging}; exec sleep 1000 ;;",
                                             PODIUM_NVIDIA_SMI_SECONDS="1000")
                while not (hanging.exists() and hanging.read_text().strip()):
                    time.sleep(0.01)
                process.send_signal(how)
                process.communicate()  # until nobody holds the pipe
                self.assertEqual(process.returncode, -how)

    def test_time_that_is_up_ends_a_suite_and_leaves_out_the_rest(self):
        code, said, summary = self.run_suites(when="*Attention*) exec sleep 1000 ;;", PODIUM_GPU_TESTS_SECONDS="3")
        self.assertEqual(code, 1)
        self.assertIn("too late worker_ops_gpu_test Attention.", summary)
        self.assertIn("left out worker_device_gpu_test All/DeviceModel., for time", summary)

    def test_what_fails_is_not_looked_at_again_when_time_is_up(self):
        code, said, summary = self.run_suites(when="*Rows*) exit 1 ;; *DeviceInference*) exec sleep 1000 ;;", PODIUM_GPU_TESTS_SECONDS="4")
        self.assertEqual(code, 1)
        self.assertIn("left out again worker_ops_gpu_test Rows. with every launch waited for, for time", summary)
        self.assertIn("kept in", said)

    def test_a_program_that_cannot_list_its_suites_ends_no_other(self):
        code, said, summary = self.run_suites(when="worker_ops_gpu_test*) echo 'error while loading shared libraries'; exit 127 ;;")
        self.assertEqual(code, 1)
        self.assertIn("FAILED   worker_ops_gpu_test lists no suites", summary)
        self.assertIn("passed   worker_device_gpu_test DeviceInference.", summary)

    def test_what_nvml_and_nvidia_smi_differ_in_is_a_failure(self):
        code, said, summary = self.run_suites(when="*query-gpu=index*) echo '0, NVIDIA H200, GPU-1, 143771, 580.1'; exit 0 ;;")
        self.assertEqual(code, 1)
        self.assertIn("DIFFERS: the agent finds 0 GPUs (made up), nvidia-smi 1", said)


if __name__ == "__main__":
    unittest.main()

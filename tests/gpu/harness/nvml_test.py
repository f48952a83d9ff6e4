"""tests/gpu/nvml_test.py over a made-up driver library and a made-up nvidia-smi: it passes where they agree, and names every
difference where they do not. Usage: nvml_test.py LIST_GPUS FAKE_DRIVER_FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST_GPUS, DRIVER = sys.argv[1:3]
del sys.argv[1:]

GPUS = """0, NVIDIA L40S, GPU-7b4d9d67-0fa3-53c9-986c-872493bd7fe3, 46068, 550.90.07
1, NVIDIA L40S, GPU-497d82bf-7479-559a-ba09-77bf02e44000, 46068, 550.90.07
2, NVIDIA L40S, GPU-bdc4ddc7-3258-5810-a8ce-27c9086f0cf2, 46068, 550.90.07
3, NVIDIA L40S, GPU-43af5f27-a2b0-54f2-bef2-b3f087c5cf97, 46068, 550.90.07
"""
# As nvidia-smi writes it: the head underlined, a network card, a legend.
TOPOLOGY = """\t\033[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m
GPU0\t X \tPXB\tSYS\tSYS\tPXB\t0-31\t0\t\tN/A
GPU1\tPXB\t X \tSYS\tSYS\tPXB\t0-31\t0\t\tN/A
GPU2\tSYS\tSYS\t X \tPXB\tSYS\t32-63\t1\t\tN/A
GPU3\tSYS\tSYS\tPXB\t X \tSYS\t32-63\t1\t\tN/A
NIC0\tPXB\tPXB\tSYS\tSYS\t X

Legend:

  X    = Self
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)

NIC Legend:

  NIC0: mlx5_0
"""


class Nvml(unittest.TestCase):
    def compare(self, gpus=GPUS, topology=TOPOLOGY, recording="pcie", driver=DRIVER):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "gpus").write_text(gpus)
            if topology:
                (folder / "topology").write_text(topology)
            smi = folder / "nvidia-smi"
            smi.write_text(f'#!/bin/sh\ncase "$1" in topo) exec cat {folder}/topology ;; *) exec cat {folder}/gpus ;; esac\n')
            smi.chmod(0o755)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "LD_LIBRARY_PATH": driver,
                           "FAKE_NVML_RECORDING": str(ROOT / f"tests/agent/device/recordings/{recording}.json")}
            done = subprocess.run([sys.executable, "-B", ROOT / "tests/gpu/nvml_test.py", LIST_GPUS], text=True, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_passes_where_they_say_the_same(self):
        code, said = self.compare()
        self.assertEqual(code, 0, said)
        self.assertIn("GPU-43af5f27", said)

    def test_names_every_difference(self):
        code, said = self.compare(gpus=GPUS.replace("GPU-497d82bf", "GPU-00000000").replace("L40S, GPU-bdc4", "L40, GPU-bdc4")
                                  .replace("2000, 46068", "2000, 81559").replace("cf2, 46068", "cf2, 40000"),
                                  topology=TOPOLOGY.replace("PXB\tSYS\tSYS\tPXB", "PIX\tSYS\tSYS\tPXB"))
        self.assertEqual(code, 1)
        for difference in ("GPU 1: UUID", "GPU 2: name 'NVIDIA L40S', expected 'NVIDIA L40'", "GPU 2: memory of 46068 MiB",
                           "topo -m says [['X', 'PIX'"):
            self.assertIn(difference, said)

    def test_a_gpu_too_few_is_a_difference(self):
        code, said = self.compare(gpus="".join(GPUS.splitlines(keepends=True)[:3]))
        self.assertEqual(code, 1)
        self.assertIn("the agent finds 4 GPUs", said)

    def test_a_driver_that_does_not_open_is_a_difference(self):
        code, said = self.compare(driver="/nowhere")
        self.assertEqual(code, 1)
        self.assertIn("the agent finds 0 GPUs (no NVIDIA GPUs: libnvidia-ml.so.1", said)

    def test_a_lost_gpu_is_a_difference(self):
        code, said = self.compare(recording="h200-lost", topology="", gpus=(
            "0, NVIDIA H200, GPU-6ab2e8a1-5f04-7c41-a3a0-6c2c6ad1b3c5, 143771, 550.90.07\n1, NVIDIA H200, GPU-1, 143771, 550.90.07\n"))
        self.assertEqual(code, 1)
        self.assertIn("topology is left out: nvidia-smi topo -m ended with 1", said)
        self.assertIn("GPU 1: health", said)

    def test_knows_links(self):
        gpus = "".join(f"{i}, Tesla V100-SXM2-16GB, GPU-{i}, 16160, 550.90.07\n" for i in range(8))
        rows = ["X NV1 NV1 NV2 NV2 SYS SYS SYS", "NV1 X NV2 NV1 SYS NV2 SYS SYS", "NV1 NV2 X NV2 SYS SYS NV1 SYS",
                "NV2 NV1 NV2 X SYS SYS SYS NV1", "NV2 SYS SYS SYS X NV1 NV1 NV2", "SYS NV2 SYS SYS NV1 X NV2 NV1",
                "SYS SYS NV1 SYS NV1 NV2 X NV2", "SYS SYS SYS NV1 NV2 NV1 NV2 X"]  # nvidia-smi topo -m of a DGX-1V
        head = " ".join(f"GPU{i}" for i in range(8)) + " CPU Affinity\n"
        code, said = self.compare(gpus, head + "".join(f"GPU{i} {row} 0-19\n" for i, row in enumerate(rows)), "dgx-1v")
        self.assertNotIn("topo -m says", said)


if __name__ == "__main__":
    unittest.main()

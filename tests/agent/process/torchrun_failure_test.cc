// Reports of torchrun as people published them.
#include "agent/process/torchrun_failure.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

// PyTorch 2.5: two processes of four that failed, after the exception of the first.
constexpr char kReport[] = R"([rank0]: Traceback (most recent call last):
[rank0]:   File "/home/me/train.py", line 12, in <module>
[rank0]:     main()
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/me/train.py", line 7, in <module>
[rank0]:   File "/home/me/train.py", line 9, in main
[rank0]:     raise ValueError("no shard 7")
[rank1]: RuntimeError: Connection closed by peer
[rank0]: ValueError: no shard 7
E0608 19:04:45.1 102911 torch/distributed/elastic/multiprocessing/api.py:984] failed (exitcode: 3) local_rank: 0
Traceback (most recent call last):
  File "/opt/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-06-08_19:04:45
  host      : c561-007.stampede3.tacc.utexas.edu
  rank      : 2 (local_rank: 2)
  exitcode  : 1 (pid: 102932)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-06-08_19:04:45
  host      : c561-007.stampede3.tacc.utexas.edu
  rank      : 0 (local_rank: 0)
  exitcode  : 3 (pid: 102930)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
)";

TEST(TorchrunFailure, IsThatOfTheProcessThatFailedFirst) {
  const auto failure = torchrun_failure(kReport);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, 3);
  EXPECT_EQ(failure->signal, 0);
  EXPECT_EQ(failure->rank, 0);
  EXPECT_EQ(describe(*failure), "process of rank 0: ValueError: no shard 7");
}

// Of older versions, whose lines do not say whose they are.
TEST(TorchrunFailure, NamesTheLastExceptionWhereNobodySaysWhoseItIs) {
  std::string report = kReport;
  for (std::size_t at; (at = report.find("[rank0]: ")) != std::string::npos;) report.erase(at, 9);
  EXPECT_EQ(describe(torchrun_failure(report).value()),
            "process of rank 0 failed; the last exception: ValueError: no shard 7");
}

// A run on eight GPUs whose process ran out of memory.
TEST(TorchrunFailure, MayBeASignal) {
  const auto failure = torchrun_failure(R"(torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
=======================================================
train.py FAILED
-------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
-------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2023-08-01_01:06:47
  host      : r1n2a6000bittensor
  rank      : 4 (local_rank: 4)
  exitcode  : -9 (pid: 208585)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 208585
=======================================================
)");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, 0);
  EXPECT_EQ(failure->signal, 9);
  EXPECT_EQ(describe(*failure), "process of rank 4 failed");
}

TEST(TorchrunFailure, EndsAsAProcessCan) {
  const std::string report = kReport;
  const std::size_t at = report.find("exitcode  : 3");
  for (const char* code : {"0", "256", "-65", "2147483647", "-2147483648", "99999999999", "x"})
    EXPECT_FALSE(torchrun_failure(std::string(report).replace(at + 12, 1, code))) << code;
  EXPECT_EQ(torchrun_failure(std::string(report).replace(at + 12, 1, "255"))->code, 255);
  EXPECT_EQ(torchrun_failure(std::string(report).replace(at + 12, 1, "-64"))->signal, 64);
}

TEST(TorchrunFailure, IsNoneWithoutAReport) {
  EXPECT_FALSE(torchrun_failure(""));
  EXPECT_FALSE(torchrun_failure("Root Cause (first observed failure):\n  rank      : 4\n  exitcode  : 1\n"));
  const std::string report = kReport;
  for (std::size_t cut = report.find("ChildFailed"); cut < report.find("exitcode  : 3"); cut += 7)
    EXPECT_FALSE(torchrun_failure(report.substr(0, cut))) << cut;
}

TEST(LastException, IsTheOneThatEndedTheProgram) {
  const auto all = [](std::string_view) { return true; };
  EXPECT_EQ(last_exception("warning\nTraceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\n\n"
                           "During handling of the above exception, another exception occurred:\n\n"
                           "Traceback (most recent call last):\n  File \"b\"\nValueError: y\nmore\n",
                           all),
            "ValueError: y");
  EXPECT_EQ(last_exception("[default1]:Traceback (most recent call last):\n[default1]:  File \"a\"\n"
                           "[default0]:all is well\n[default1]:OSError: [Errno 28] No space left\n",
                           all),
            "OSError: [Errno 28] No space left");
  for (const char* text : {"", "ValueError: x", "Traceback (most recent call last):\n  File",
                           "[[[\n]:\nTraceback (most recent call last):"})
    EXPECT_EQ(last_exception(text, all), "") << text;
}

}  // namespace
}  // namespace podium

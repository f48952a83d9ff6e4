// What is written against files that are kept: a table by hand, and the event file by event_writer.py, which knows
// nothing of the sources. Later versions write the same.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/curves/event.h"
#include "cli/curves/frame.h"
#include "cli/curves/text_curves.h"
#include "common/base/file.h"
#include "tests/paths.h"

namespace podium::cli {
namespace {

std::string golden(const char* name) { return read_file(test::source_path(std::string("tests/golden/curves/") + name)); }

TEST(Golden, EventFile) {
  std::string bytes = framed(version_event(1.5));
  bytes += framed(hyperparameters_event("my-run", {{"lr", 0.5}, {"fp8", true}, {"task", std::string("lm")}}, 1500));
  bytes += framed(text_event("spec", "    {}", 1500));
  for (const CurvePoint& point : {CurvePoint{1, 1000, 0.5}, {2, 2000, std::nan("")}, {300, 300'000, HUGE_VAL}})
    bytes += framed(scalar_event("train/loss", point));
  EXPECT_EQ(bytes, golden("events.out.tfevents"));
}

TEST(Golden, Tables) {
  const CurvePoint first{-1, 1500, 0.1}, second{2, 1500, std::nan("")};
  const std::string other = "a \"b\", c";
  EXPECT_EQ(csv_head() + csv_line("my-run", 12, "train/loss", first) + csv_line(other, 12, "train/loss", second),
            golden("long.csv"));
  EXPECT_EQ(json_line("my-run", 12, "train/loss", first) + json_line(other, 12, "train/loss", second),
            golden("lines.jsonl"));
}

}  // namespace
}  // namespace podium::cli

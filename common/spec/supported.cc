// What podium-worker of this version cannot train yet although the format can say it: refused at submission,
// not after hours in the queue. Shrinks as the worker grows.
#include <spdlog/fmt/fmt.h>

#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {

void check_supported(const Facts& facts, Problems& problems) {
  if (facts.has("/command")) return;
  const auto family = facts.text("/model/family");
  const auto task = facts.text("/training/task");
  const bool suited = family && task && (*family == "gpt") == (*task == "lm");
  if (suited && *task != "pretrain")
    problems.add("/training/task",
                 fmt::format("podium-worker of this version trains bert for pretrain, not {} for {}; run a "
                             "program of your own with \"command\" instead",
                             *family, *task));
  for (const char* axis : {"/parallel/tensor", "/parallel/pipeline"})
    if (const auto ways = facts.integer(axis); ways && *ways > 1)
      problems.add(axis,
                   fmt::format("podium-worker of this version is data parallel only; {} must be 1, not {}",
                               dotted(axis), *ways));
  if (facts.text("/training/precision") == "fp16" && facts.text("/resources/kind") == "cpu")
    problems.add("/training/precision", "fp16 needs gpu devices; use bf16 or fp32 on cpu");
}

}  // namespace podium

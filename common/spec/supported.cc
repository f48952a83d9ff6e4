// Refuses at submission, not after hours in the queue, what the format can say and this version of
// podium-worker cannot train yet. Shrinks as the worker grows.
#include <spdlog/fmt/fmt.h>

#include "common/spec/meaning.h"

namespace podium {

void check_supported(const Facts& facts, Problems& problems) {
  const FamilyTraits* family = named_family(facts);
  if (facts.has("/command") || family == nullptr) return;
  const auto task = facts.text("/training/task");
  if (task == "squad" && family->trains(*task))
    problems.add(
        "/training/task",
        fmt::format("podium-worker of this version trains bert for pretrain and classify, and gpt and llama "
                    "for lm, not for {}; run a program of your own with \"command\" instead",
                    *task));
}

}  // namespace podium

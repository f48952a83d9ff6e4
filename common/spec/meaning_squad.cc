// The rules about questions and answers.
#include <spdlog/fmt/fmt.h>

#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

constexpr std::int64_t kSpecialTokens = 3;  // [CLS] question [SEP] context [SEP]

void check_room(const PhaseFacts& phase, std::int64_t query, Problems& problems) {
  const auto length = phase.integer("/sequence_length");
  if (!length || *length > query + kSpecialTokens || !phase.changes({"/sequence_length"})) return;
  const std::string at = phase.pointer("/sequence_length");
  problems.add(at,
               fmt::format("{} ({}) must be above training.squad.query_length ({}) and {} special tokens, "
                           "so that a part of the context fits in",
                           dotted(at), *length, query, kSpecialTokens));
}

}  // namespace

void check_squad(const Facts& facts, Problems& problems) {
  const auto task = facts.text("/training/task");
  if (task && *task != "squad")
    for (const char* key : {"/training/squad", "/evaluate/squad"})
      if (facts.has(key))
        problems.add_key(
            key, fmt::format("{} is for the task squad; leave it out of one for {}", dotted(key), *task));
  const auto query = facts.integer("/training/squad/query_length");
  if (task != "squad" || !query) return;
  for (const PhaseFacts& phase : phases_of(facts)) check_room(phase, *query, problems);
}

}  // namespace podium

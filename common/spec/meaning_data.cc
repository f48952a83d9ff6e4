// Where a spec's data may lie.
#include <spdlog/fmt/fmt.h>

#include "common/model/data_path.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

void check_path(const Facts& facts, const std::string& pointer, Problems& problems) {
  const auto path = facts.text(pointer);
  if (!path || !leads_out_of_folder(*path)) return;
  problems.add(pointer, fmt::format("{} leads out of the nodes' data folder, in which it begins; write where "
                                    "it lies within that folder, or an absolute path",
                                    dotted(pointer)));
}

}  // namespace

void check_data(const Facts& facts, Problems& problems) {
  for (const char* pointer : {"/data/train", "/data/tokenizer/wordpiece", "/data/tokenizer/bpe/vocab",
                              "/data/tokenizer/bpe/merges", "/evaluate/data", "/model/init"})
    check_path(facts, pointer, problems);
  if (!facts.has("/data/train") || !facts.all()["data"]["train"].is_array()) return;
  for (std::size_t i = 0; i < facts.all()["data"]["train"].size(); ++i)
    check_path(facts, "/data/train/" + std::to_string(i), problems);
}

}  // namespace podium

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

// Each entry of data.train: its place, and whether it has a weight.
void check_blend(const Facts& facts, Problems& problems) {
  const nlohmann::json& train = facts.all()["data"]["train"];
  std::size_t weighted = 0;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const std::string entry = "/data/train/" + std::to_string(i);
    check_path(facts, entry, problems);
    check_path(facts, entry + "/path", problems);
    weighted += train[i].is_object();
  }
  if (weighted > 0 && weighted < train.size())
    problems.add("/data/train",
                 fmt::format("{} of {} entries of data.train have a weight; give all of them one, or "
                             "none",
                             weighted, train.size()));
  if (weighted > kMostBlended)
    problems.add("/data/train",
                 fmt::format("{} entries of data.train have a weight; at most {} are blended, so "
                             "name several files by one glob",
                             weighted, kMostBlended));
  const auto task = facts.text("/training/task");
  if (weighted > 0 && task && task != "pretrain" && task != "lm")
    problems.add("/data/train",
                 "data.train is blended by weights for the tasks pretrain and lm alone; list the "
                 "paths without weights");
}

}  // namespace

void check_data(const Facts& facts, Problems& problems) {
  for (const char* pointer :
       {"/data/train", "/data/tokenizer/wordpiece", "/data/tokenizer/bpe/vocab", "/data/tokenizer/bpe/merges",
        "/evaluate/data", "/model/init", "/model/init/path", "/training/quantise/ranges"})
    check_path(facts, pointer, problems);
  if (!facts.has("/data/train") || !facts.all()["data"]["train"].is_array()) return;
  check_blend(facts, problems);
}

}  // namespace podium

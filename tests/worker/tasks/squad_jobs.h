// A tiny job of question answering, with the data that it reads.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/worker/tasks/squad_files.h"
#include "tests/worker/train/worker_job.h"

namespace podium {

inline constexpr std::int64_t kSquadSteps = 200;

// The answer is the one colour in a context of other words; every fourth question asks for what is not there.
inline std::string coloured(int contexts, int seed) {
  const char* const kinds[] = {"red", "light green", "blue"};
  std::vector<nlohmann::json> paragraphs;
  for (int i = 0; i < contexts; ++i) {
    const bool none = i % 4 == 3;
    const std::string kind = kinds[(i * 7 + seed) % 3];
    const std::string before = i % 2 == 0 ? "the road  is " : "a ship was ";
    const std::string context = before + (none ? "here" : kind) + (i % 5 == 0 ? " here, the ship" : "");
    paragraphs.push_back(squad_paragraph(context, {{"q" + std::to_string(i), "what is the colour", kind,
                                                    none ? -1 : static_cast<int>(before.size())}}));
  }
  return squad_file(paragraphs, "v2.0");
}

inline JobSpec questions() {
  JobSpec spec = tiny_job(kSquadSteps);
  spec.training.task = TrainingTask::squad;
  spec.data = {{"train.json"}, {"colours.txt", true, "", ""}};
  spec.training.optimizer.lr = 5e-3;
  spec.training.sequence_length = 14;
  spec.training.squad = {.document_stride = 4, .query_length = 4};
  spec.model.layers = 2;
  spec.evaluate = {20, "held-out.json", 1000};
  return spec;
}

inline void write_questions(const WorkerJob& job) {
  write_file_atomic(job.data() / "train.json", coloured(120, 0));
  write_file_atomic(job.data() / "held-out.json", coloured(50, 1));
  write_file_atomic(
      job.data() / "colours.txt",
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\nroad\nship\nis\nwas\nhere\nred\nlight\ngreen\nblue\n,"
      "\nwhat\ncolour\n");
}

}  // namespace podium

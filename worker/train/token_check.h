// The ids that weights were trained for must stand for the same tokens in the run that takes them; behind
// their last it may have others. Both functions return a warning where that cannot be known, else "", and
// throw Failure(bad_spec) naming both vocabularies where the tokens differ.
#pragma once

#include <filesystem>
#include <string>

#include "common/model/launch.h"
#include "worker/checkpoint/search.h"
#include "worker/train/task.h"

namespace podium {

// `begin` is what a refusal begins with.
std::string check_tokens(const std::string& begin, const WholeCheckpoint& from, const Launch& launch,
                         const TaskSource& tasks);
// Of a Hugging Face folder, by the tokenizer that it holds.
std::string check_tokens(const std::filesystem::path& folder, const Launch& launch, const TaskSource& tasks);

}  // namespace podium

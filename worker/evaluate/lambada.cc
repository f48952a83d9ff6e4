#include "worker/evaluate/lambada.h"

#include <algorithm>
#include <string>

#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

constexpr std::string_view kBetweenWords = " \t\r\n";

std::string_view without_space_at_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBetweenWords);
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

}  // namespace

LastWord split_last_word(std::string_view passage, const Tokenizer& tokenizer) {
  passage = without_space_at_end(passage);
  const std::size_t space = passage.find_last_of(kBetweenWords);
  const std::size_t begin = space == passage.npos ? 0 : space + 1;
  std::string_view context = without_space_at_end(passage.substr(0, begin));
  context.remove_prefix(std::min(context.size(), context.find_first_not_of(kBetweenWords)));
  LastWord split;
  tokenizer.encode(context, split.context);
  tokenizer.encode(" " + std::string(passage.substr(begin)), split.word);
  return split;
}

MicroBatch batch_of(const LastWord& passage, std::int32_t length) {
  std::vector<std::int32_t> ids = passage.context;
  ids.insert(ids.end(), passage.word.begin(), passage.word.end());
  const auto words = std::ssize(passage.word);
  if (std::ssize(ids) > length + 1) ids.erase(ids.begin(), ids.end() - (length + 1));
  MicroBatch batch;
  batch.sequences = 1;
  batch.length = static_cast<int>(ids.size()) - 1;
  batch.input_ids.assign(ids.begin(), ids.end() - 1);
  batch.valid_lengths = {batch.length};
  Targets& tokens = batch.targets[kLanguageTerm];
  for (auto place = static_cast<std::int32_t>(std::max<std::ptrdiff_t>(0, batch.length - words));
       place < batch.length; ++place) {
    tokens.positions.push_back(place);
    tokens.labels.push_back(ids[static_cast<std::size_t>(place) + 1]);
  }
  return batch;
}

}  // namespace podium

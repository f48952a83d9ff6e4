#include "worker/infer/masked_text.h"

#include <algorithm>

#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

constexpr std::size_t kMaskEvery = 7;

MaskedSequence masked(std::span<const std::int32_t> tokens, const SpecialTokens& special) {
  MaskedSequence made;
  std::vector<std::int32_t>& ids = made.sequence.ids;
  ids.push_back(special.classify);
  for (const std::int32_t token : tokens) {
    if (ids.size() % kMaskEvery == 0) {
      made.sequence.masked.push_back(static_cast<int>(ids.size()));
      made.originals.push_back(token);
      ids.push_back(special.mask);
    } else {
      ids.push_back(token);
    }
  }
  ids.push_back(special.separator);
  made.sequence.types.assign(ids.size(), 0);
  return made;
}

class Packer {
 public:
  Packer(const WordPieceTokenizer& tokenizer, int length, std::size_t count)
      : tokenizer_(tokenizer), room_(static_cast<std::size_t>(length) - 2), count_(count) {}

  bool full() const { return sequences_.size() >= count_; }
  void add(std::string_view line, const std::string& origin) {
    if (full()) return;
    if (find_invalid_utf8(line) != std::string_view::npos) throw BadData(origin + " is no UTF-8");
    tokenizer_.encode(line, waiting_);
    while (waiting_.size() >= room_ && !full()) take(room_);
  }
  std::vector<MaskedSequence> finish() {
    if (!waiting_.empty() && !full()) take(waiting_.size());
    return std::move(sequences_);
  }

 private:
  void take(std::size_t tokens) {
    sequences_.push_back(masked(std::span(waiting_).first(tokens), tokenizer_.special()));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(tokens));
  }

  const WordPieceTokenizer& tokenizer_;
  std::size_t room_, count_;
  std::vector<std::int32_t> waiting_;
  std::vector<MaskedSequence> sequences_;
};

}  // namespace

std::vector<MaskedSequence> read_masked_text(const std::vector<std::string>& globs,
                                             const WordPieceTokenizer& tokenizer, int length,
                                             std::size_t count) {
  Packer packer(tokenizer, length, count);
  for (const std::filesystem::path& file : expand_globs(globs, "")) {
    std::int64_t number = 0;
    for_each_line(file, [&](std::string_view line) {
      packer.add(line, file.string() + ":" + std::to_string(++number));
    });
    if (packer.full()) break;
  }
  std::vector<MaskedSequence> sequences = packer.finish();
  if (sequences.empty()) throw BadData(globs.front() + ": no text to calibrate with");
  return sequences;
}

}  // namespace podium

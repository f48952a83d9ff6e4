#include "worker/train/token_check.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/load_tokenizer.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

std::string file_of(const TokenizerSpec& tokenizer) {
  return tokenizer.wordpiece.empty() ? tokenizer.bpe_vocab : tokenizer.wordpiece;
}

// The first tokens of a vocabulary as large as the run's, or all where it has fewer.
template <class Kind>
std::optional<VocabularyIdentity> first_tokens(const Tokenizer& tokenizer, std::int64_t at_most) {
  const auto* known = dynamic_cast<const Kind*>(&tokenizer);
  if (known == nullptr) return std::nullopt;
  return identity_of(known->vocabulary(), std::min<std::int64_t>(known->vocabulary().size(), at_most));
}

VocabularyIdentity first_tokens_of(const std::filesystem::path& folder, std::int64_t at_most) {
  const std::unique_ptr<const Tokenizer> tokenizer = load_tokenizer_folder(folder);
  if (const auto words = first_tokens<WordPieceTokenizer>(*tokenizer, at_most)) return *words;
  return first_tokens<BpeTokenizer>(*tokenizer, at_most).value_or(VocabularyIdentity{});
}

std::string own_are_unknown(const std::string& theirs) {
  return "this job's data does not tell its tokens: whether they are those of " + theirs + " is not checked";
}

void check_same(const std::string& begin, const std::string& their_file, const VocabularyIdentity& theirs,
                const Launch& launch, const TaskSource& tasks) {
  if (theirs.tokens <= tasks.vocabulary && tasks.tokens(theirs.tokens) == theirs) return;
  throw Failure(
      WorkerExit::bad_spec,
      fmt::format("{}they are for the tokens of {} ({}), and data.tokenizer has others in {} ({}); train on "
                  "with the vocabulary of the weights, or one that only adds tokens behind its last",
                  begin, their_file, describe(theirs), file_of(launch.spec.data.tokenizer),
                  describe(tasks.tokens(tasks.vocabulary))));
}

}  // namespace

std::string check_tokens(const std::string& begin, const WholeCheckpoint& from, const Launch& launch,
                         const TaskSource& tasks) {
  const CheckpointState& then = from.manifest.state;
  const std::string their_file = file_of(then.spec.data.tokenizer);
  if (!tasks.tokens) return own_are_unknown(from.path.string());
  if (!then.vocabulary.known())
    return fmt::format(
        "{} does not tell its tokens, for an older version wrote it: whether {}, with which it was trained, "
        "has the tokens of {} is not checked",
        from.path.string(), their_file, file_of(launch.spec.data.tokenizer));
  check_same(begin, their_file, then.vocabulary, launch, tasks);
  return "";
}

std::string check_tokens(const std::filesystem::path& folder, const Launch& launch, const TaskSource& tasks) {
  const auto unknown = [&](const std::string& why) {
    return fmt::format("{}: whether its weights are for the tokens of {} is not checked", why,
                       file_of(launch.spec.data.tokenizer));
  };
  if (!tasks.tokens) return own_are_unknown(folder.string());
  if (!holds_tokenizer(folder)) return unknown(folder.string() + " holds no tokenizer");
  try {
    const VocabularyIdentity theirs = first_tokens_of(folder, tasks.vocabulary);
    if (!theirs.known()) return unknown("the tokenizer of " + folder.string() + " is of another kind");
    check_same(
        fmt::format("job \"{}\" cannot begin with the weights of {}: ", launch.spec.name, folder.string()),
        folder.string(), theirs, launch, tasks);
    return "";
  } catch (const BadData& error) {
    return unknown(error.what());
  }
}

}  // namespace podium

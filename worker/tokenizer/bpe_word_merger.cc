#include "worker/tokenizer/bpe_word_merger.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {
namespace {

bool merges_later(const auto& a, const auto& b) { return a.rank != b.rank ? a.rank > b.rank : a.at > b.at; }

}  // namespace

// Merges the pair of the lowest rank at all its places, left to right, until no pair can be merged. What such
// a round brings together waits for the next one. O(n log n) in the word's bytes.
void BpeWordMerger::merge(std::string_view word, std::vector<std::int32_t>& ids) {
  PODIUM_CHECK(word.size() < INT32_MAX, "a word of 2 GiB");
  if (word.empty()) return;
  const auto bytes = static_cast<std::int32_t>(word.size());
  pieces_.clear();
  pieces_.reserve(word.size());
  queue_.clear();
  queue_.reserve(word.size());
  for (std::int32_t i = 0; i < bytes; ++i)
    pieces_.push_back(
        {vocabulary_.byte_token(word[static_cast<std::size_t>(i)]), i - 1, i + 1 < bytes ? i + 1 : -1});
  for (std::int32_t i = 0; i < bytes; ++i) add_candidate(i, queue_);
  std::make_heap(queue_.begin(), queue_.end(), merges_later<Candidate, Candidate>);
  while (!queue_.empty()) {
    fresh_.clear();
    const std::int32_t rank = queue_.front().rank;
    while (!queue_.empty() && queue_.front().rank == rank) {
      std::pop_heap(queue_.begin(), queue_.end(), merges_later<Candidate, Candidate>);
      apply(queue_.back());
      queue_.pop_back();
    }
    for (const Candidate& candidate : fresh_) {
      queue_.push_back(candidate);
      std::push_heap(queue_.begin(), queue_.end(), merges_later<Candidate, Candidate>);
    }
  }
  for (std::int32_t i = 0; i >= 0; i = pieces_[static_cast<std::size_t>(i)].after)
    ids.push_back(pieces_[static_cast<std::size_t>(i)].token);
}

void BpeWordMerger::add_candidate(std::int32_t at, std::vector<Candidate>& candidates) const {
  if (at < 0) return;
  const Piece& piece = pieces_[static_cast<std::size_t>(at)];
  if (piece.after < 0) return;
  const std::int32_t right = pieces_[static_cast<std::size_t>(piece.after)].token;
  if (const BpeMerge* merge = vocabulary_.find_merge(piece.token, right))
    candidates.push_back({merge->rank, at});
}

void BpeWordMerger::apply(const Candidate& candidate) {
  Piece& left = pieces_[static_cast<std::size_t>(candidate.at)];
  if (left.token < 0 || left.after < 0) return;  // an earlier merge took it or its neighbour
  Piece& right = pieces_[static_cast<std::size_t>(left.after)];
  const BpeMerge* merge = vocabulary_.find_merge(left.token, right.token);
  if (!merge || merge->rank != candidate.rank) return;  // an earlier merge made another pair of them
  left.token = merge->token;
  left.after = right.after;
  right.token = -1;
  if (left.after >= 0) pieces_[static_cast<std::size_t>(left.after)].before = candidate.at;
  add_candidate(left.before, fresh_);
  add_candidate(candidate.at, fresh_);
}

}  // namespace podium

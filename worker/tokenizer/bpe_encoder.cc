#include "worker/tokenizer/bpe_encoder.h"

#include <algorithm>
#include <functional>

#include "common/base/check.h"
#include "worker/tokenizer/bpe_words.h"

namespace podium {
namespace {

constexpr std::size_t kCachedWords = 1 << 16;

std::size_t cache_slot(std::string_view word) { return std::hash<std::string_view>{}(word) % kCachedWords; }

bool merges_later(const auto& a, const auto& b) {
  return a.merge.rank != b.merge.rank ? a.merge.rank > b.merge.rank : a.at > b.at;
}

}  // namespace

BpeEncoder::BpeEncoder(const BpeVocabulary& vocabulary) : vocabulary_(vocabulary), cache_(kCachedWords) {}

void BpeEncoder::encode(std::string_view text, std::vector<std::int32_t>& ids) {
  for (std::size_t at = 0; (at = text.find(kEndOfText)) != std::string_view::npos;) {
    encode_words(text.substr(0, at), at, ids);
    ids.push_back(vocabulary_.end_of_text());
    text.remove_prefix(at + kEndOfText.size());
  }
  encode_words(text, text.size(), ids);
}

std::size_t BpeEncoder::encode_words(std::string_view text, std::size_t bytes,
                                     std::vector<std::int32_t>& ids) {
  std::size_t done = 0;
  while (done < std::min(bytes, text.size())) {
    const std::string_view rest = text.substr(done);
    const std::size_t word = first_bpe_word(rest);
    encode_word(rest.substr(0, word), ids);
    done += word;
  }
  return done;
}

void BpeEncoder::encode_word(std::string_view word, std::vector<std::int32_t>& ids) {
  CachedWord& cached = cache_[cache_slot(word)];
  if (std::string_view(cached.text.data(), cached.bytes) == word) {
    ids.insert(ids.end(), cached.ids.begin(), cached.ids.begin() + cached.tokens);
    return;
  }
  const std::size_t begin = ids.size();
  merge_word(word, ids);
  const std::size_t count = ids.size() - begin;
  if (word.size() > cached.text.size() || count > cached.ids.size()) return;
  cached.bytes = static_cast<std::uint8_t>(word.copy(cached.text.data(), word.size()));
  cached.tokens = static_cast<std::uint8_t>(count);
  std::copy_n(ids.end() - static_cast<std::ptrdiff_t>(count), count, cached.ids.begin());
}

// Merges the pair of the lowest rank at all its places, left to right, until no pair can be merged. What such
// a round brings together waits for the next one. O(n log n) in the word's bytes.
void BpeEncoder::merge_word(std::string_view word, std::vector<std::int32_t>& ids) {
  PODIUM_CHECK(word.size() < INT32_MAX, "a word of 2 GiB");
  const auto bytes = static_cast<std::int32_t>(word.size());
  pieces_.clear();
  queue_.clear();
  for (std::int32_t i = 0; i < bytes; ++i)
    pieces_.push_back(
        {vocabulary_.byte_token(word[static_cast<std::size_t>(i)]), i - 1, i + 1 < bytes ? i + 1 : -1});
  for (std::int32_t i = 0; i < bytes; ++i) add_candidate(i, queue_);
  std::make_heap(queue_.begin(), queue_.end(), merges_later<Candidate, Candidate>);
  while (!queue_.empty()) {
    fresh_.clear();
    const std::int32_t rank = queue_.front().merge.rank;
    while (!queue_.empty() && queue_.front().merge.rank == rank) {
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

void BpeEncoder::add_candidate(std::int32_t at, std::vector<Candidate>& candidates) const {
  if (at < 0) return;
  const Piece& piece = pieces_[static_cast<std::size_t>(at)];
  if (piece.after < 0) return;
  const std::int32_t right = pieces_[static_cast<std::size_t>(piece.after)].token;
  if (const BpeMerge* merge = vocabulary_.find_merge(piece.token, right))
    candidates.push_back({*merge, at, piece.token, right});
}

void BpeEncoder::apply(const Candidate& candidate) {
  Piece& left = pieces_[static_cast<std::size_t>(candidate.at)];
  if (left.token != candidate.left || left.after < 0) return;  // an earlier merge took it
  Piece& right = pieces_[static_cast<std::size_t>(left.after)];
  if (right.token != candidate.right) return;
  left.token = candidate.merge.token;
  left.after = right.after;
  right.token = -1;
  if (left.after >= 0) pieces_[static_cast<std::size_t>(left.after)].before = candidate.at;
  add_candidate(left.before, fresh_);
  add_candidate(candidate.at, fresh_);
}

}  // namespace podium

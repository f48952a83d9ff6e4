#include "worker/tokenizer/pair_merger.h"

namespace podium {
namespace {

void replace(std::vector<std::int32_t>& pieces, PiecePair pair, std::int32_t id) {
  std::size_t out = 0;
  for (std::size_t in = 0; in < pieces.size(); ++in) {
    const bool match = in + 1 < pieces.size() && pieces[in] == pair.first && pieces[in + 1] == pair.second;
    pieces[out++] = match ? id : pieces[in];
    if (match) ++in;
  }
  pieces.resize(out);
}

}  // namespace

PairMerger::PairMerger(std::vector<std::string> tokens, std::vector<Word> words, Join join)
    : tokens_(std::move(tokens)), words_(std::move(words)), join_(std::move(join)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) ids_[tokens_[i]] = static_cast<std::int32_t>(i);
  for (std::size_t w = 0; w < words_.size(); ++w) count_pairs(w, +1);
  for (const auto& [pair, count] : counts_) queue_.push({count, pair});
}

std::optional<PiecePair> PairMerger::merge_best() {
  while (!queue_.empty()) {
    const Candidate best = queue_.top();
    queue_.pop();
    const auto known = counts_.find(best.pair);
    if (known == counts_.end() || known->second != best.count) continue;  // an outdated entry
    merge(best.pair);
    return best.pair;
  }
  return std::nullopt;
}

void PairMerger::merge(PiecePair pair) {
  const std::int32_t id = token_id(
      join_(tokens_[static_cast<std::size_t>(pair.first)], tokens_[static_cast<std::size_t>(pair.second)]));
  const std::vector<std::size_t> places = std::move(places_[pair]);
  std::set<PiecePair> changed;
  for (const std::size_t w : std::set<std::size_t>(places.begin(), places.end())) {
    count_pairs(w, -1, &changed);
    replace(words_[w].pieces, pair, id);
    count_pairs(w, +1, &changed);
  }
  places_.erase(pair);
  for (const PiecePair& touched : changed) {
    const auto known = counts_.find(touched);
    if (known->second > 0) {
      queue_.push({known->second, touched});
    } else {
      counts_.erase(known);
    }
  }
}

// Different pairs can spell the same token ("a"+"bc", "ab"+"c"): it gets one id.
std::int32_t PairMerger::token_id(const std::string& text) {
  const auto [known, added] = ids_.emplace(text, static_cast<std::int32_t>(tokens_.size()));
  if (added) tokens_.push_back(text);
  return known->second;
}

void PairMerger::count_pairs(std::size_t w, int sign, std::set<PiecePair>* changed) {
  const Word& word = words_[w];
  for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i) {
    const PiecePair pair{word.pieces[i], word.pieces[i + 1]};
    counts_[pair] += sign * word.count;
    if (sign > 0) places_[pair].push_back(w);
    if (changed) changed->insert(pair);
  }
}

}  // namespace podium

// Learns byte-pair merges (Sennrich et al., 2016) from counted words: always the most frequent adjacent pair
// next, ties to the pair whose tokens were known first. Every occurrence in a word is replaced, left to
// right.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace podium {

using PiecePair = std::pair<std::int32_t, std::int32_t>;

class PairMerger {
 public:
  struct Word {
    std::vector<std::int32_t> pieces;  // token ids
    std::int64_t count = 0;
  };
  // What the token is called that two tokens make.
  using Join = std::function<std::string(const std::string& left, const std::string& right)>;

  PairMerger(std::vector<std::string> tokens, std::vector<Word> words, Join join);

  // Merges the most frequent pair everywhere and returns it; nothing when no pair is left. The token it makes
  // is new unless another pair spells the same.
  std::optional<PiecePair> merge_best();

  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  struct Candidate {
    std::int64_t count;
    PiecePair pair;
    bool operator<(const Candidate& other) const {  // the largest count, then the smallest pair, is on top
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };
  struct PairHash {
    std::size_t operator()(const PiecePair& pair) const {
      return std::hash<std::int64_t>{}((static_cast<std::int64_t>(pair.first) << 32) | pair.second);
    }
  };

  void merge(PiecePair pair);
  std::int32_t token_id(const std::string& text);
  void count_pairs(std::size_t word, int sign, std::set<PiecePair>* changed = nullptr);

  std::vector<std::string> tokens_;
  std::vector<Word> words_;
  Join join_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<PiecePair, std::int64_t, PairHash> counts_;              // weighted by the words'
  std::unordered_map<PiecePair, std::vector<std::size_t>, PairHash> places_;  // words that may hold it
  std::priority_queue<Candidate> queue_;
};

}  // namespace podium

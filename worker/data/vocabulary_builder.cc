#include "worker/data/vocabulary_builder.h"

#include <queue>
#include <set>
#include <unordered_map>

#include "worker/data/bad_data.h"
#include "worker/data/words.h"

namespace podium {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

struct PairHash {
  std::size_t operator()(const Pair& pair) const {
    return std::hash<std::int64_t>{}((static_cast<std::int64_t>(pair.first) << 32) | pair.second);
  }
};

struct Word {
  std::vector<std::int32_t> pieces;
  std::int64_t count = 0;
};

struct Candidate {
  std::int64_t count;
  Pair pair;
  bool operator<(const Candidate& other) const {  // the largest count, then the smallest pair, is on top
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

std::string merged_text(const std::string& left, const std::string& right) { return left + right.substr(2); }

// All words as pieces, and for every adjacent pair its weighted count and the words that may hold it.
class Merger {
 public:
  Merger(std::vector<std::string>& tokens, std::vector<Word> words)
      : tokens_(tokens), words_(std::move(words)) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) ids_[tokens_[i]] = static_cast<std::int32_t>(i);
    for (std::size_t w = 0; w < words_.size(); ++w) count_pairs(w, +1);
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  // Merges the most frequent pair everywhere; false when no pair is left.
  bool merge_best() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const auto known = counts_.find(best.pair);
      if (known == counts_.end() || known->second != best.count) continue;  // an outdated entry
      merge(best.pair);
      return true;
    }
    return false;
  }

 private:
  void merge(Pair pair) {
    const std::int32_t id = token_id(merged_text(tokens_[static_cast<std::size_t>(pair.first)],
                                                 tokens_[static_cast<std::size_t>(pair.second)]));
    const std::vector<std::size_t> places = std::move(places_[pair]);
    std::set<Pair> changed;
    for (const std::size_t w : std::set<std::size_t>(places.begin(), places.end())) {
      count_pairs(w, -1, &changed);
      replace(words_[w].pieces, pair, id);
      count_pairs(w, +1, &changed);
    }
    places_.erase(pair);
    for (const Pair& touched : changed) {
      const auto known = counts_.find(touched);
      if (known->second > 0) {
        queue_.push({known->second, touched});
      } else {
        counts_.erase(known);
      }
    }
  }

  // Different pairs can spell the same token ("a"+"##bc", "ab"+"##c"): it gets one id.
  std::int32_t token_id(const std::string& text) {
    const auto [known, added] = ids_.emplace(text, static_cast<std::int32_t>(tokens_.size()));
    if (added) tokens_.push_back(text);
    return known->second;
  }

  void count_pairs(std::size_t w, int sign, std::set<Pair>* changed = nullptr) {
    const Word& word = words_[w];
    for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i) {
      const Pair pair{word.pieces[i], word.pieces[i + 1]};
      counts_[pair] += sign * word.count;
      if (sign > 0) places_[pair].push_back(w);
      if (changed) changed->insert(pair);
    }
  }

  static void replace(std::vector<std::int32_t>& pieces, Pair pair, std::int32_t id) {
    std::size_t out = 0;
    for (std::size_t in = 0; in < pieces.size(); ++in) {
      const bool match = in + 1 < pieces.size() && pieces[in] == pair.first && pieces[in + 1] == pair.second;
      pieces[out++] = match ? id : pieces[in];
      if (match) ++in;
    }
    pieces.resize(out);
  }

  std::vector<std::string>& tokens_;
  std::vector<Word> words_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<Pair, std::int64_t, PairHash> counts_;
  std::unordered_map<Pair, std::vector<std::size_t>, PairHash> places_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

void VocabularyBuilder::add_text(std::string_view line) {
  split_words(line, lowercase_, [&](std::string_view word, int) {
    const auto known = words_.find(word);
    if (known != words_.end()) {
      ++known->second;
    } else {
      words_.emplace(word, 1);
    }
  });
}

std::vector<std::string> VocabularyBuilder::build(std::int32_t size) const {
  if (words_.empty()) throw BadData("the text holds no words to build a vocabulary from");
  std::set<std::string> characters;
  for (const auto& [word, count] : words_)
    split_characters(word, [&](std::string_view character) { characters.emplace(character); });

  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::map<std::string, std::int32_t, std::less<>> single;
  for (const std::string& prefix : {std::string(), std::string("##")})
    for (const std::string& character : characters) {
      single[prefix + character] = static_cast<std::int32_t>(tokens.size());
      tokens.push_back(prefix + character);
    }
  const auto limit = static_cast<std::size_t>(size);
  if (tokens.size() > limit)
    throw BadData("a vocabulary of " + std::to_string(size) + " tokens cannot hold the text's " +
                  std::to_string(characters.size()) + " characters; ask for at least " +
                  std::to_string(tokens.size()));

  std::vector<Word> words;
  for (const auto& [text, count] : words_) {
    Word word{{}, count};
    split_characters(text, [&](std::string_view character) {
      word.pieces.push_back(single.at((word.pieces.empty() ? "" : "##") + std::string(character)));
    });
    words.push_back(std::move(word));
  }
  Merger merger(tokens, std::move(words));
  while (tokens.size() < limit && merger.merge_best()) {
  }
  return tokens;
}

}  // namespace podium

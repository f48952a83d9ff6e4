#include "worker/data/sentence_pairs.h"

#include <algorithm>

namespace podium {
namespace {

constexpr double kRandomNextShare = 0.5;  // of pairs get a B from elsewhere

std::int32_t draw_target(std::int32_t budget, double short_share, Random& random) {
  if (random.uniform() >= short_share) return budget;
  return 2 + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(budget - 1)));
}

// The end of the sentences from `begin` that reach `target` tokens or the document's end.
std::int64_t gather(const Corpus& corpus, std::int64_t begin, std::int64_t limit, std::int32_t target) {
  std::int64_t length = 0;
  std::int64_t end = begin;
  while (end < limit && length < target) length += corpus.sentence_length(end++);
  return end;
}

std::int64_t draw_other_document(const Corpus& corpus, std::int64_t document, Random& random) {
  if (corpus.documents() == 1) return document;
  const auto other =
      static_cast<std::int64_t>(random.below(static_cast<std::uint32_t>(corpus.documents() - 1)));
  return other < document ? other : other + 1;
}

// B from a random sentence of another document, as long as the target leaves room for.
void append_random_next(const Corpus& corpus, const PairSpan& span, std::size_t a_length, Random& random,
                        std::vector<std::int32_t>& ids) {
  const std::int64_t document = draw_other_document(corpus, span.document, random);
  const std::int64_t first = corpus.first_sentence(document);
  const std::int64_t end = corpus.end_sentence(document);
  std::int64_t sentence = first + random.below(static_cast<std::uint32_t>(end - first));
  const auto room = std::max<std::int64_t>(1, span.target - static_cast<std::int64_t>(a_length));
  while (sentence < end && static_cast<std::int64_t>(ids.size()) < room)
    corpus.append_sentence(sentence++, ids);
}

// What is left of a segment, [begin, end).
struct Kept {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  void cut(std::vector<std::int32_t>& ids) const {
    ids.resize(end);
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(begin));
  }
};

// Takes token after token from a random end of the longer segment; an article may be one long sentence, so
// they are counted first and cut off together.
void truncate(TokenPair& pair, std::int32_t budget, Random& random) {
  Kept a{0, pair.a.size()};
  Kept b{0, pair.b.size()};
  while (a.size() + b.size() > static_cast<std::size_t>(budget)) {
    Kept& longer = a.size() > b.size() ? a : b;
    if (random.below(2) == 0)
      ++longer.begin;
    else
      --longer.end;
  }
  a.cut(pair.a);
  b.cut(pair.b);
}

}  // namespace

std::vector<PairSpan> plan_pairs(const Corpus& corpus, std::int32_t budget, double short_share,
                                 Random& random) {
  std::vector<PairSpan> spans;
  for (std::int64_t document = 0; document < corpus.documents(); ++document) {
    const std::int64_t limit = corpus.end_sentence(document);
    for (std::int64_t begin = corpus.first_sentence(document); begin < limit;) {
      PairSpan span{document, begin, 0, 0, draw_target(budget, short_share, random), false};
      span.end = gather(corpus, begin, limit, span.target);
      const std::int64_t sentences = span.end - begin;
      span.middle =
          sentences == 1 ? span.end : begin + 1 + random.below(static_cast<std::uint32_t>(sentences - 1));
      span.random_next = sentences == 1 || random.uniform() < kRandomNextShare;
      begin = span.random_next ? span.middle : span.end;
      spans.push_back(span);
    }
  }
  return spans;
}

TokenPair draw_pair(const Corpus& corpus, const PairSpan& span, std::int32_t budget, Random& random) {
  TokenPair pair;
  pair.random_next = span.random_next;
  for (std::int64_t i = span.begin; i < span.middle; ++i) corpus.append_sentence(i, pair.a);
  if (span.random_next) {
    append_random_next(corpus, span, pair.a.size(), random, pair.b);
  } else {
    for (std::int64_t i = span.middle; i < span.end; ++i) corpus.append_sentence(i, pair.b);
  }
  truncate(pair, budget, random);
  return pair;
}

}  // namespace podium

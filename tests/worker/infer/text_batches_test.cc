// The shapes that texts are rounded up to, and the sessions that are kept of them.
#include "worker/infer/text_batches.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/worker/infer/small_source.h"
#include "worker/infer/bert_sessions.h"

namespace podium::test {
namespace {

std::vector<TextSequence> texts(int count, std::size_t length) {
  return std::vector<TextSequence>(static_cast<std::size_t>(count),
                                   {.ids = std::vector<std::int32_t>(length, 1)});
}

TEST(TextBatches, NumbersOfSequencesAreRoundedUpALittle) {
  std::set<int> found;
  for (int count = 1; count <= 1000; ++count) {
    const int rounded = podium::shape_of(texts(count, 3), 64).sequences;
    EXPECT_GE(rounded, count);
    EXPECT_LE(4 * rounded, 5 * count);
    found.insert(rounded);
  }
  EXPECT_LT(found.size(), 40U);
  for (const int exact : {1, 2, 3, 5, 7, 8, 10, 16, 64, 256}) EXPECT_TRUE(found.contains(exact)) << exact;
}

TEST(BertSessions, KeepsThoseUsedLast) {
  ModelSpec spec = small_spec(ModelFamily::bert);
  Context context{.threads = 1};
  const SourceModel source = random_source_model(spec);
  BertWeights weights = make_bert_weights(context, source, {});
  BertSessions sessions(context, weights);
  const BertSession* const first = &sessions.at({.sequences = 1, .length = 8});
  for (int i = 2; i < 40; ++i) {
    sessions.at({.sequences = i, .length = 8});
    EXPECT_EQ(&sessions.at({.sequences = 1, .length = 8}), first) << "it is used again and again";
    EXPECT_LE(sessions.size(), BertSessions::kMost);
  }
}

}  // namespace
}  // namespace podium::test

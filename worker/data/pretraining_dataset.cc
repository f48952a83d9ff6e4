#include "worker/data/pretraining_dataset.h"

#include "common/base/check.h"

namespace podium {
namespace {

// Independent streams of one seed; the low bits number the epoch or the sample.
constexpr std::uint64_t kPlanStream = std::uint64_t{1} << 60;
constexpr std::uint64_t kOrderStream = std::uint64_t{2} << 60;
constexpr std::uint64_t kSampleStream = std::uint64_t{3} << 60;

constexpr std::int32_t kSpecialsInSequence = 3;  // [CLS] … [SEP] … [SEP]

}  // namespace

PretrainingDataset::PretrainingDataset(const Corpus& corpus, const Vocabulary& vocabulary,
                                       const PretrainingOptions& options)
    : corpus_(corpus),
      vocabulary_(vocabulary),
      options_(options),
      budget_(options.sequence_length - kSpecialsInSequence),
      epoch_(make_epoch(0, 0)) {}

PretrainingDataset::Epoch PretrainingDataset::make_epoch(std::int64_t number,
                                                         std::int64_t first_sample) const {
  PODIUM_CHECK(budget_ >= 2, "a sequence needs room for two tokens");
  const auto stream = static_cast<std::uint64_t>(number);
  Random random(options_.seed, kPlanStream | stream);
  std::vector<PairSpan> spans = plan_pairs(corpus_, budget_, options_.short_share, random);
  const Shuffle order(options_.seed, kOrderStream | stream, static_cast<std::int64_t>(spans.size()));
  return {number, first_sample, std::move(spans), order};
}

void PretrainingDataset::move_to(std::int64_t index) {
  if (index < epoch_.first_sample) epoch_ = make_epoch(0, 0);
  while (index >= epoch_.first_sample + epoch_.order.size())
    epoch_ = make_epoch(epoch_.number + 1, epoch_.first_sample + epoch_.order.size());
}

PretrainingSample PretrainingDataset::sample(std::int64_t index) {
  PODIUM_CHECK(index >= 0, "samples count from 0");
  move_to(index);
  const PairSpan& span = epoch_.spans[static_cast<std::size_t>(epoch_.order[index - epoch_.first_sample])];
  Random random(options_.seed, kSampleStream | static_cast<std::uint64_t>(index));
  const TokenPair pair = draw_pair(corpus_, span, budget_, random);

  PretrainingSample sample;
  sample.random_next = pair.random_next;
  sample.ids.push_back(vocabulary_.special().classify);
  sample.ids.insert(sample.ids.end(), pair.a.begin(), pair.a.end());
  sample.ids.push_back(vocabulary_.special().separator);
  sample.first_of_b = static_cast<std::int32_t>(sample.ids.size());
  sample.ids.insert(sample.ids.end(), pair.b.begin(), pair.b.end());
  sample.ids.push_back(vocabulary_.special().separator);
  sample.masked = mask_tokens(sample.ids, options_.masking, vocabulary_, random);
  return sample;
}

std::int64_t PretrainingDataset::first_epoch_size() {
  move_to(0);
  return epoch_.order.size();
}

}  // namespace podium

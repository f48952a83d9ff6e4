// Which data set each sample of a weighted mix comes from: Megatron-LM's blendable data set. Sample i comes
// from the one that is furthest behind its share of i samples (the first of several), and is its next. So at
// every sample each data set is at its share to within the number of data sets, whatever the weights.
//
// A resumed run finds its place by walking there from sample 0, at up to 3 ns for each data set and sample:
// 5e8 samples of kMostBlended data sets (common/model/data_path.h) take some six minutes, in which a request
// to stop is not looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/model/text_identity.h"

namespace podium {

// Divided by their sum.
std::vector<double> shares_of(std::vector<double> weights);

// Used by one thread at a time: it keeps how far the sample that was asked for last was. Going forward takes
// a comparison for each data set and sample passed over; going back begins anew.
class Blend {
 public:
  // At least one weight, all positive; their shares count.
  explicit Blend(std::vector<double> weights);

  struct Place {
    std::size_t set = 0;
    std::int64_t sample = 0;  // of that data set, without an end
    bool operator==(const Place&) const = default;
  };
  // Of sample `index`, which counts from 0. A pure function of the weights and the index.
  Place operator[](std::int64_t index);

  std::size_t sets() const { return weights_.size(); }

 private:
  std::size_t furthest_behind() const;

  std::vector<double> weights_;
  std::int64_t next_ = 0;            // samples that were given out
  std::vector<std::int64_t> given_;  // of each data set
};

// Of data sets that are blended, and their shares; that of the only one if there is one.
TextIdentity identity_of_blend(std::span<const TextIdentity> sets, std::vector<double> weights);

}  // namespace podium

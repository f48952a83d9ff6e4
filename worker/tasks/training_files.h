// The data sets that a job trains on: one, of all that data.train names, or one for each of its entries where
// it blends them by weight.
#pragma once

#include <filesystem>
#include <vector>

#include "common/model/spec.h"
#include "worker/data/blend.h"

namespace podium {

struct TrainingFiles {
  std::vector<std::vector<std::filesystem::path>> sets;
  std::vector<double> weights;  // of each set

  std::vector<std::filesystem::path> all() const;
};

// Relative paths begin at `data_folder`. Throws BadData where one names nothing.
TrainingFiles training_files(const DataSpec& data, const std::filesystem::path& data_folder);

// How often each token id occurs in all sets together.
template <class Set>
std::vector<std::int64_t> frequencies_of(const std::vector<Set>& sets) {
  std::vector<std::int64_t> all = sets.front().frequencies();
  for (std::size_t i = 1; i < sets.size(); ++i) {
    const std::vector<std::int64_t> more = sets[i].frequencies();
    for (std::size_t token = 0; token < all.size(); ++token) all[token] += more[token];
  }
  return all;
}

template <class Set>
TextIdentity identity_of_sets(const std::vector<Set>& sets, const std::vector<double>& weights) {
  std::vector<TextIdentity> identities;
  for (const Set& set : sets) identities.push_back(set.identity());
  return identity_of_blend(identities, weights);
}

}  // namespace podium

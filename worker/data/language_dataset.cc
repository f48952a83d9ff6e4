#include "worker/data/language_dataset.h"

#include <algorithm>

#include "common/base/check.h"
#include "worker/data/shuffle.h"

namespace podium {
namespace {

// The stream of a seed that orders windows; the low bits number the epoch.
constexpr std::uint64_t kWindowStream = std::uint64_t{4} << 60;

}  // namespace

LanguageDataset::LanguageDataset(const TokenStream& stream, std::int32_t sequence_length, std::uint64_t seed)
    : stream_(stream), length_(sequence_length), seed_(seed), windows_((stream.tokens() - 2) / length_ + 1) {}

std::vector<std::int32_t> LanguageDataset::sample(std::int64_t index) const {
  PODIUM_CHECK(index >= 0, "samples count from 0");
  const Shuffle order(seed_, kWindowStream | static_cast<std::uint64_t>(index / windows_), windows_);
  const std::int64_t begin = order[index % windows_] * length_;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(std::min(length_ + 1, stream_.tokens() - begin)));
  stream_.read(begin, ids);
  return ids;
}

}  // namespace podium

// Samples for next-token prediction (GPT): the token stream cut into windows that share one token with the
// window before, so that every token but the first is predicted once an epoch. Windows ignore where documents
// end, as in Megatron-LM; the last one may be short. Sample i is a pure function of (stream, length, seed,
// i), whatever rank, thread or restart asks for it, and nothing is kept per window.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/data/token_stream.h"

namespace podium {

class LanguageDataset {
 public:
  // `stream` must outlive the dataset.
  LanguageDataset(const TokenStream& stream, std::int32_t sequence_length, std::uint64_t seed);

  std::int64_t epoch_size() const { return windows_; }
  // 2 to sequence_length + 1 tokens: all but the last are read, all but the first predicted. Sample i is of
  // epoch i / epoch_size(); every epoch has an order of its own. Throws BadData (TokenStream::read).
  std::vector<std::int32_t> sample(std::int64_t index) const;

 private:
  const TokenStream& stream_;
  std::int64_t length_;
  std::uint64_t seed_;
  std::int64_t windows_;
};

}  // namespace podium

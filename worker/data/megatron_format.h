// The head of Megatron's NAME.idx, which megatron_data.h describes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace podium {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

inline constexpr std::string_view kMegatronMagic("MMIDIDX\0\0", 9);
inline constexpr std::uint64_t kMegatronVersion = 1;
inline constexpr std::size_t kMegatronHeaderBytes = kMegatronMagic.size() + 8 + 1 + 8 + 8;

struct MegatronHeader {
  std::uint8_t code = 0;  // of the tokens' type
  std::uint64_t sequences = 0;
  std::uint64_t document_entries = 0;  // one more than there are documents

  std::string bytes() const {
    std::string all(kMegatronMagic);
    const auto add = [&](const auto& number) {
      all.append(reinterpret_cast<const char*>(&number), sizeof(number));
    };
    add(kMegatronVersion);
    add(code);
    add(sequences);
    add(document_entries);
    return all;
  }
};

}  // namespace podium

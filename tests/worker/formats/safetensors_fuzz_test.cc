// Hostile and damaged safetensors headers: each is refused with SafetensorsError, or is one that a plain JSON
// reader understands just so. Seeded, so that every run tries the same cases; best run under sanitizers, too.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "worker/formats/safetensors.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::uint64_t kBuffer = 48;
const std::string kValid =
    R"({"__metadata__":{"format":"pt","step":"7"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b.weight":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},)"
    R"("scalar":{"dtype":"I64","shape":[],"data_offsets":[32,40]},)"
    R"("none":{"dtype":"F16","shape":[0,9],"data_offsets":[40,40]},)"
    R"("c":{"dtype":"U8","shape":[1,8],"data_offsets":[40,48]}})";

std::uint64_t bits_of(const std::string& dtype) {
  for (const auto& [name, bits] : std::map<std::string, std::uint64_t>{{"BOOL", 8},
                                                                       {"U8", 8},
                                                                       {"I8", 8},
                                                                       {"F8_E5M2", 8},
                                                                       {"F8_E4M3", 8},
                                                                       {"I16", 16},
                                                                       {"U16", 16},
                                                                       {"F16", 16},
                                                                       {"BF16", 16},
                                                                       {"I32", 32},
                                                                       {"U32", 32},
                                                                       {"F32", 32},
                                                                       {"F64", 64},
                                                                       {"I64", 64},
                                                                       {"U64", 64}})
    if (name == dtype) return bits;
  return 0;
}

// What was accepted must be what the JSON says and what the format allows.
void check_accepted(const std::string& text, std::uint64_t buffer, const SafetensorsHeader& header) {
  const json plain = json::parse(text);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::size_t tensors = 0;
  for (const auto& [name, entry] : plain.items()) {
    if (name == "__metadata__") {
      EXPECT_EQ(json(header.metadata), entry);
      continue;
    }
    ++tensors;
    const SafetensorsTensor& tensor = header.tensors.at(name);
    EXPECT_EQ(
        json(
            {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}}),
        entry);
    __uint128_t bits = bits_of(tensor.dtype);
    EXPECT_GT(bits, 0u);
    for (const std::int64_t extent : tensor.shape) bits *= static_cast<std::uint64_t>(extent);
    EXPECT_TRUE(bits == static_cast<__uint128_t>(tensor.end - tensor.begin) * 8);
    ranges.emplace_back(tensor.begin, tensor.end);
  }
  EXPECT_EQ(tensors, header.tensors.size());
  std::ranges::sort(ranges);
  std::uint64_t end = 0;
  for (const auto& [first, last] : ranges) {
    EXPECT_EQ(first, end);
    end = last;
  }
  EXPECT_EQ(end, buffer);
}

bool is_accepted(const std::string& text, std::uint64_t buffer = kBuffer) {
  try {
    check_accepted(text, buffer, parse_safetensors_header(text, buffer));
    return true;
  } catch (const SafetensorsError&) {
    return false;
  }
}

// Breaks a header the way bits, disks and people do.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::uint64_t times = 1 + draw(3); times > 0; --times) once(text);
    return text;
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }
  std::string token() {
    static const std::vector<std::string> tokens{"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "\"\"",
                                                 "0",
                                                 "-1",
                                                 "24",
                                                 "1e9",
                                                 "0.5",
                                                 "null",
                                                 "true",
                                                 "\\u0000",
                                                 "[[[",
                                                 "{}",
                                                 "\"a\":",
                                                 "\"F32\"",
                                                 "\"F4\"",
                                                 "\"dtype\":",
                                                 "\xff",
                                                 "\xc3",
                                                 " ",
                                                 "\"\\ud800\"",
                                                 "4294967296",
                                                 "9223372036854775807",
                                                 "18446744073709551615",
                                                 "99999999999999999999",
                                                 "\"data_offsets\":",
                                                 "\"shape\":",
                                                 "\"__metadata__\":",
                                                 R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"};
    return tokens[draw(tokens.size())];
  }
  void once(std::string& text) {
    if (text.empty()) text = "{";
    const std::size_t at = draw(text.size()), length = 1 + draw(12);
    switch (draw(7)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << draw(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(draw(text.size()), 1 + draw(80)));
        break;
      case 3:
        text.insert(at, token());
        break;
      case 4:
        text.replace(at, length, token());
        break;
      case 5:
        text.resize(at);
        break;
      default:
        replace_number(text, at);
    }
  }
  void replace_number(std::string& text, std::size_t at) {
    const std::size_t first = text.find_first_of("0123456789", at);
    if (first == std::string::npos) return;
    const std::size_t last = std::min(text.find_first_not_of("0123456789", first), text.size());
    text.replace(first, last - first, std::to_string(draw(2) == 0 ? draw(64) : random_()));
  }

  std::mt19937_64 random_;
};

TEST(SafetensorsFuzz, AMutatedHeaderIsRefusedOrUnderstoodRight) {
  ASSERT_TRUE(is_accepted(kValid));
  Mutator mutator(20190926);
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) accepted += is_accepted(mutator.mutate(kValid));
  EXPECT_GT(accepted, 100) << "some mutations, of white space or names, leave a valid header";
  EXPECT_LT(accepted, 50'000);
}

TEST(SafetensorsFuzz, EveryTruncationIsRefused) {
  for (std::size_t length = 0; length < kValid.size(); ++length)
    EXPECT_FALSE(is_accepted(kValid.substr(0, length)));
  for (const std::uint64_t buffer : {std::uint64_t{0}, kBuffer - 1, kBuffer + 1, UINT64_MAX})
    EXPECT_FALSE(is_accepted(kValid, buffer));
}

TEST(SafetensorsFuzz, WhatIsDeepLongOrHugeCostsNoMoreThanItsText) {
  const std::size_t many = 2'000'000;
  const auto entry = [](const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}}";
  };
  std::string zeros = "0";
  for (std::size_t i = 0; i < many; ++i) zeros += ",0";
  const std::string deep(many, '['), nested = [&] {
    std::string text;
    for (std::size_t i = 0; i < many / 5; ++i) text += "{\"a\":";
    return text;
  }();
  EXPECT_FALSE(is_accepted(nested));
  EXPECT_FALSE(is_accepted("{\"a\":" + deep));
  EXPECT_FALSE(is_accepted(R"({"a":{"shape":)" + deep));
  EXPECT_FALSE(is_accepted(entry(zeros, "0,0")));
  EXPECT_FALSE(is_accepted(entry("1", zeros)));
  EXPECT_FALSE(
      is_accepted(R"({"a":{"dtype":")" + std::string(many, 'F') + R"(","shape":[],"data_offsets":[0,0]}})"));
  EXPECT_FALSE(is_accepted("{\"" + std::string(many, 'n') + "\":3}"));
  EXPECT_FALSE(is_accepted(entry("4294967296,4294967296", "0,0"))) << "overflows to 0";
  EXPECT_FALSE(is_accepted(entry("9223372036854775807,2", "0,48")));
  EXPECT_FALSE(is_accepted(entry("4611686018427387905", "0,4"), 4)) << "overflows to 4";
  EXPECT_FALSE(is_accepted(entry("12", "18446744073709551615,47")));
  EXPECT_TRUE(is_accepted(entry("12", "0,48")));
  EXPECT_TRUE(is_accepted(entry("12", "0,48") + std::string(many, ' ')));
}

// Whole files: also what lies around the header is damaged, and what is accepted is read.
TEST(SafetensorsFuzz, AMutatedFileIsRefusedOrRead) {
  const TempFolder folder;
  const auto path = folder.path() / "x.safetensors";
  std::string header = kValid;
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::uint64_t size = header.size();
  const std::string valid =
      std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + std::string(kBuffer, 'x');
  Mutator mutator(7);
  int read = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string text = i == 0 ? valid : mutator.mutate(valid);
    const Fd file = open_file(path.string() + std::to_string(i), O_WRONLY | O_CREAT | O_TRUNC);
    write_all(file.get(), text, path);
    try {
      const SafetensorsFile opened(path.string() + std::to_string(i));
      for (const auto& [name, tensor] : opened.tensors()) {
        std::vector<std::byte> bytes(tensor.end - tensor.begin);
        opened.read(name, tensor.dtype, tensor.shape, bytes);
      }
      ++read;
    } catch (const SafetensorsError&) {  // refused
    }
  }
  EXPECT_GT(read, 1);
}

}  // namespace
}  // namespace podium

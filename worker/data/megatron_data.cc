#include "worker/data/megatron_data.h"

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "worker/data/megatron_format.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

// Bytes of a token by type code: u8 i8 i16 i32 i64 - - u16, and in some descendants of Megatron u32 u64. 6
// and 7 are floating point, which ids never are.
constexpr std::array<std::int64_t, 11> kTokenBytes{0, 1, 1, 2, 4, 8, 0, 0, 2, 4, 8};

// Of tokens that do not fit into so many stripes, these are hashed: the first, the last, and others as far
// from one another as can be, 4 MiB in all.
constexpr std::size_t kStripes = 64;
constexpr std::size_t kStripe = std::size_t{64} << 10;

void add_samples(Xxh3& hash, std::span<const std::byte> bytes) {
  if (bytes.size() <= kStripes * kStripe) return hash.add(bytes);
  const std::size_t last = bytes.size() - kStripe;
  for (std::size_t i = 0; i < kStripes; ++i)
    hash.add(bytes.subspan(last / (kStripes - 1) * i + last % (kStripes - 1) * i / (kStripes - 1), kStripe));
}

template <class T>
T load(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::size_t place(std::size_t begin, std::int64_t i, std::size_t size) {
  return begin + static_cast<std::size_t>(i) * size;
}

// Calls `body` with a value of the token type that `code` stands for.
template <class Body>
void with_token_type(std::uint8_t code, const Body& body) {
  switch (code) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::int8_t{});
    case 3:
      return body(std::int16_t{});
    case 4:
      return body(std::int32_t{});
    case 5:
      return body(std::int64_t{});
    case 8:
      return body(std::uint16_t{});
    case 9:
      return body(std::uint32_t{});
    case 10:
      return body(std::uint64_t{});
    default:
      PODIUM_CHECK(false, "the header's type code was not checked");
  }
}

}  // namespace

MegatronData::MegatronData(const std::filesystem::path& bin)
    : index_path_(std::filesystem::path(bin).replace_extension(".idx")),
      bin_path_(bin),
      index_(index_path_),
      bin_(bin) {
  read_header();
  check_sequences();
  check_documents();
}

void MegatronData::refuse(const std::string& what) const {
  throw BadData(index_path_.string() + ": " + what +
                "; write it again with podium-worker prepare or Megatron-LM's preprocess_data.py");
}

void MegatronData::read_header() {
  const std::string_view bytes = index_.bytes();
  if (bytes.size() < kMegatronHeaderBytes || !bytes.starts_with(kMegatronMagic))
    refuse("it is no index of Megatron data");
  const auto version = load<std::uint64_t>(bytes, kMegatronMagic.size());
  if (version != kMegatronVersion) refuse("version " + std::to_string(version) + " of the format is unknown");
  code_ = load<std::uint8_t>(bytes, kMegatronMagic.size() + 8);
  if (code_ == 6 || code_ == 7)
    refuse("type code " + std::to_string(code_) + " is floating point, not token ids");
  if (code_ >= kTokenBytes.size() || kTokenBytes[code_] == 0)
    refuse("type code " + std::to_string(code_) + " is unknown");
  token_bytes_ = kTokenBytes[code_];

  const auto sequences = load<std::uint64_t>(bytes, kMegatronMagic.size() + 9);
  const auto entries = load<std::uint64_t>(bytes, kMegatronMagic.size() + 17);
  const std::uint64_t most = bytes.size();  // every sequence and entry takes several bytes
  const std::uint64_t expected = kMegatronHeaderBytes + sequences * 12 + entries * 8;
  if (sequences > most || entries > most ||
      (expected != bytes.size() && expected + sequences != bytes.size()))
    refuse("its " + std::to_string(bytes.size()) + " bytes do not hold " + std::to_string(sequences) +
           " sequences and " + std::to_string(entries) + " document entries");
  sequences_ = static_cast<std::int64_t>(sequences);
  document_entries_ = static_cast<std::int64_t>(entries);
  tokens_ = static_cast<std::int64_t>(bin_.bytes().size()) / token_bytes_;
}

void MegatronData::check_sequences() const {
  const auto size = static_cast<std::int64_t>(bin_.bytes().size());
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < sequences_; ++i) {
    const std::int64_t length = sequence_length(i);
    if (length < 0 || length > (size - offset) / token_bytes_)
      refuse("sequence " + std::to_string(i) + " of length " + std::to_string(length) +
             " does not fit into " + bin_path_.string());
    if (sequence_offset(i) != offset)
      refuse("sequence " + std::to_string(i) + " begins at byte " + std::to_string(sequence_offset(i)) +
             " where the one before it ends at " + std::to_string(offset));
    offset += length * token_bytes_;
  }
  if (offset != size)
    refuse("it describes " + std::to_string(offset) + " bytes of tokens, but " + bin_path_.string() +
           " has " + std::to_string(size));
}

void MegatronData::check_documents() const {
  if (document_entries_ < 1) refuse("it has no document entries");
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < document_entries_; ++i) {
    const std::int64_t first = document_sequence(i);
    const bool in_order = i == 0 ? first == 0 : first >= before;
    if (!in_order || (i + 1 == document_entries_ && first != sequences_) || first > sequences_)
      refuse("document entry " + std::to_string(i) + " is " + std::to_string(first) +
             "; entries must go up from 0 to the " + std::to_string(sequences_) + " sequences");
    before = first;
  }
}

void MegatronData::add_to(Xxh3& hash) const {
  const auto tokens = std::as_bytes(std::span(bin_.bytes()));
  const std::size_t bytes = tokens.size();
  hash.add(std::as_bytes(std::span(index_.bytes())));
  hash.add(std::as_bytes(std::span(&bytes, 1)));
  add_samples(hash, tokens);
}

std::int32_t MegatronData::sequence_length(std::int64_t sequence) const {
  return load<std::int32_t>(index_.bytes(), place(kMegatronHeaderBytes, sequence, 4));
}

std::int64_t MegatronData::sequence_offset(std::int64_t sequence) const {
  return load<std::int64_t>(index_.bytes(), place(place(kMegatronHeaderBytes, sequences_, 4), sequence, 8));
}

std::int64_t MegatronData::document_sequence(std::int64_t document) const {
  return load<std::int64_t>(index_.bytes(), place(place(kMegatronHeaderBytes, sequences_, 12), document, 8));
}

void MegatronData::read(std::int64_t begin, std::int32_t vocabulary_size, std::span<std::int32_t> ids) const {
  PODIUM_CHECK(begin >= 0 && begin + static_cast<std::int64_t>(ids.size()) <= tokens_,
               "tokens beyond the end");
  with_token_type(code_, [&]<class T>(T) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t position = begin + static_cast<std::int64_t>(i);
      const T token = load<T>(bin_.bytes(), place(0, position, sizeof(T)));
      if (std::cmp_less(token, 0) || std::cmp_greater_equal(token, vocabulary_size))
        throw BadData(bin_path_.string() + ": token " + std::to_string(token) + " at position " +
                      std::to_string(position) + " is not among the tokenizer's " +
                      std::to_string(vocabulary_size) + "; the data were made with another tokenizer");
      ids[i] = static_cast<std::int32_t>(token);
    }
  });
}

}  // namespace podium

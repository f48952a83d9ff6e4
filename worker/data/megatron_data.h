// Tokenised text as Megatron-LM's preprocess_data.py writes it: tokens one after another in NAME.bin, and in
// NAME.idx what they are. All little-endian: "MMIDIDX\0\0", u64 version 1, u8 type code, u64 sequences N, u64
// document entries M, i32[N] lengths, i64[N] byte offsets, i64[M] first sequence of each document and N.
// (Multimodal data append i8[N] modes, which are ignored.) Nothing in either file is trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "worker/data/xxh3.h"
#include "worker/input/mapped_file.h"

namespace podium {

class MegatronData {
 public:
  // `bin` is NAME.bin. Throws BadData where the two files are malformed or do not belong together.
  explicit MegatronData(const std::filesystem::path& bin);

  std::int64_t size() const { return tokens_; }  // tokens
  std::int64_t sequences() const { return sequences_; }
  std::int64_t documents() const { return document_entries_ - 1; }
  // Adds what tells these data from others: all of the index, and of the tokens how many bytes they take and
  // samples from end to end, for they may be more than a machine can read at every start.
  void add_to(Xxh3& hash) const;

  std::int32_t sequence_length(std::int64_t sequence) const;
  std::int64_t sequence_offset(std::int64_t sequence) const;  // bytes into NAME.bin
  std::int64_t sequence_token(std::int64_t sequence) const {  // its first, counted from the begin of NAME.bin
    return sequence_offset(sequence) / token_bytes_;
  }
  std::int64_t document_sequence(std::int64_t document) const;  // its first; documents() gives sequences()

  // Tokens [begin, begin + ids.size()). Throws BadData where one is no id below `vocabulary_size`.
  void read(std::int64_t begin, std::int32_t vocabulary_size, std::span<std::int32_t> ids) const;

 private:
  void read_header();
  void check_sequences() const;
  void check_documents() const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::filesystem::path index_path_;
  std::filesystem::path bin_path_;
  MappedFile index_;
  MappedFile bin_;
  std::uint8_t code_ = 0;
  std::int64_t token_bytes_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t sequences_ = 0;
  std::int64_t document_entries_ = 0;
};

}  // namespace podium

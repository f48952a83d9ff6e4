// Writes Megatron data for tests, whole or broken on purpose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace podium {

// What NAME.idx says; by default what is true of the sequences it is made from.
struct MegatronIndex {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  std::uint64_t version = 1;
  std::uint8_t code = 8;
  std::uint64_t sequences = 0;
  std::uint64_t entries = 0;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> documents;

  template <class T>
  static void append(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }

  std::string bytes() const {
    std::string all = magic;
    append(all, version);
    append(all, code);
    append(all, sequences);
    append(all, entries);
    for (const std::int32_t length : lengths) append(all, length);
    for (const std::int64_t offset : offsets) append(all, offset);
    for (const std::int64_t document : documents) append(all, document);
    return all;
  }
};

// Every sequence is a document, as preprocess_data.py writes without --split-sentences.
inline MegatronIndex index_of(const std::vector<std::vector<std::int32_t>>& sequences, std::uint8_t code,
                              std::int64_t token_bytes) {
  MegatronIndex index;
  index.code = code;
  index.sequences = sequences.size();
  index.entries = sequences.size() + 1;
  std::int64_t offset = 0;
  index.documents.push_back(0);
  for (const auto& sequence : sequences) {
    index.lengths.push_back(static_cast<std::int32_t>(sequence.size()));
    index.offsets.push_back(offset);
    index.documents.push_back(static_cast<std::int64_t>(index.lengths.size()));
    offset += static_cast<std::int64_t>(sequence.size()) * token_bytes;
  }
  return index;
}

// Writes NAME.idx and NAME.bin with tokens of type T and returns the path of NAME.bin.
template <class T>
std::filesystem::path write_megatron(const std::filesystem::path& name,
                                     const std::vector<std::vector<std::int32_t>>& sequences,
                                     std::uint8_t code) {
  std::string tokens;
  for (const auto& sequence : sequences)
    for (const std::int32_t token : sequence) MegatronIndex::append(tokens, static_cast<T>(token));
  std::ofstream(name.string() + ".idx", std::ios::binary) << index_of(sequences, code, sizeof(T)).bytes();
  std::ofstream(name.string() + ".bin", std::ios::binary) << tokens;
  return name.string() + ".bin";
}

}  // namespace podium

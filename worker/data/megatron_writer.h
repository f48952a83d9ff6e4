// Writes Megatron data (megatron_data.h) as it comes, in memory that does not grow with them: tokens go to
// NAME.bin.part, lengths and the number of sequences before each document's end to files beside it, from
// which finish() makes NAME.idx. Whoever keeps what state() gave after a sync() may drop all that was written
// later and go on from there, after a kill or a power cut. Final names appear by renaming, whole. All
// failures are std::system_error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/file.h"

namespace podium {

// How a vocabulary's ids are stored, as Megatron-LM chooses it: u16 below 65,500 tokens, else i32.
struct MegatronTokenType {
  std::uint8_t code = 8;
  std::int64_t bytes = 2;
};
MegatronTokenType megatron_token_type(std::int32_t vocabulary_size);

// How far the files of a MegatronWriter have come.
struct MegatronState {
  std::int64_t token_bytes = 0;
  std::int64_t sequences = 0;
  std::int64_t documents = 0;
  bool operator==(const MegatronState&) const = default;
};

class MegatronWriter {
 public:
  // Goes on from `state`; `complete`: nothing comes behind it. Throws Failure where another process writes
  // these files, or where they hold less.
  MegatronWriter(const std::filesystem::path& name, MegatronTokenType type, const MegatronState& state,
                 bool complete = false);

  // Sequences one after another, as their tokens are stored, with each one's length in tokens; and where
  // documents end among them: the number of sequences from the first of these to the document's end.
  void append(std::span<const std::byte> tokens, std::span<const std::int32_t> lengths,
              std::span<const std::int64_t> document_ends);
  const MegatronState& state() const { return state_; }
  // What was appended is on disk afterwards.
  void sync();
  // Makes NAME.idx and gives both files their names. Whoever asks has kept before that state() is complete:
  // then it may be repeated after a kill.
  void finish();
  // Removes what is left beside the final files.
  static void remove_parts(const std::filesystem::path& name);

 private:
  void write_index();

  std::filesystem::path name_;
  MegatronTokenType type_;
  MegatronState state_;
  bool has_final_tokens_;  // a run before this one has renamed NAME.bin
  Fd tokens_;
  Fd lengths_;    // i32 each
  Fd documents_;  // i64 each: sequences up to the end of a document
};

}  // namespace podium

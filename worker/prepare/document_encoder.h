// Turns batches of documents into token ids as Megatron-LM's preprocess_data.py does: a sequence for each
// document, or for each of its lines or sentences; what has no token is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/data/megatron_writer.h"
#include "worker/input/sentence_splitter.h"
#include "worker/prepare/document_reader.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

enum class SequenceForm { documents, lines, sentences };

struct EncodingRules {
  DocumentForm documents = DocumentForm::blank_lines;
  SequenceForm sequences = SequenceForm::lines;
  std::string field;                  // of objects: the member that holds the text
  std::int32_t end_of_document = -1;  // follows the last token of every document; -1: nothing does
};

struct EncodedBatch {
  std::size_t file = 0;
  TextPosition end;  // of the text that it is of
  std::uint64_t text_bytes = 0;
  std::uint64_t packed_bytes = 0;           // of the file, read so far
  std::vector<std::byte> tokens;            // as they are stored
  std::vector<std::int32_t> lengths;        // of sequences
  std::vector<std::int64_t> document_ends;  // in sequences of this batch
  std::vector<Skip> skips;                  // in the order of the text
};

// Used by one thread at a time.
class DocumentEncoder {
 public:
  // `tokenizer` must outlive the encoder.
  DocumentEncoder(const Tokenizer& tokenizer, const EncodingRules& rules);

  EncodedBatch encode(const TextBatch& batch);

 private:
  struct Place {
    std::size_t file;
    std::int64_t line;
  };

  void encode_object(std::string_view line, Place place);
  void encode_document(std::string_view text, Place place);
  void encode_sequence(std::string_view text);
  void skip(SkipReason reason, Place place, std::string detail);

  const Tokenizer& tokenizer_;
  EncodingRules rules_;
  MegatronTokenType type_;
  std::optional<SentenceSplitter> splitter_;  // where sequences are sentences
  std::vector<std::int32_t> ids_;
  EncodedBatch batch_;  // that is being made
};

}  // namespace podium

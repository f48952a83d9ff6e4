// Reads files one after another and cuts their text where documents end, into batches of whole documents, so
// that other threads can look at them. It looks at line ends alone and holds a batch in memory, however long
// the files are.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/input/bad_data.h"
#include "worker/input/packed_text.h"

namespace podium {

// What separates documents: a line of white space; the line end; "<|endoftext|>" written out. In `objects`
// each line is a JSON object.
enum class DocumentForm { blank_lines, lines, end_of_text, objects };

inline constexpr std::size_t kLongestDocument = std::size_t{64} << 20;  // bytes

// Between two documents.
struct TextPosition {
  std::size_t file = 0;
  std::uint64_t byte = 0;  // of the unpacked text
  std::int64_t line = 1;
  bool operator==(const TextPosition&) const = default;
};

// Why documents are left out.
enum class SkipReason { empty, not_utf8, no_json, no_field, too_long, damaged_file };

struct Skip {
  SkipReason reason;
  std::string detail;
  std::size_t file = 0;
  std::int64_t line = 1;
};

struct TextBatch {
  TextPosition begin;
  TextPosition end;
  std::string text;                // whole documents of one file
  std::vector<Skip> skips;         // what came behind them and is left out
  std::uint64_t packed_bytes = 0;  // of the file, read so far
};

class DocumentReader {
 public:
  // `files` and `stop` must outlive the reader.
  DocumentReader(const std::vector<std::filesystem::path>& files, DocumentForm form, TextPosition begin,
                 const std::atomic<bool>& stop);

  // Nothing behind the last file, or where `stop` was raised on the way to where it begins. Throws what
  // opening a file throws.
  std::optional<TextBatch> next();
  bool stopped() const { return stopped_; }

 private:
  bool open();
  void fill(TextBatch& batch);
  bool read_up_to(std::size_t bytes);  // in the buffer; false at the end of the file
  void take(std::size_t bytes, TextBatch& batch);
  void skip_document(TextBatch& batch);
  void leave_file();
  void leave_damaged_file(const BadData& damage, TextBatch& batch);
  Skip skip_here(SkipReason reason, std::string detail) const;

  const std::vector<std::filesystem::path>& files_;
  DocumentForm form_;
  const std::atomic<bool>& stop_;
  bool stopped_ = false;
  TextPosition position_;  // of the begin of buffer_
  std::optional<PackedText> source_;
  std::uint64_t read_ = 0;  // bytes of the file's text
  std::string buffer_;
};

// Where the first document in `text` ends, behind what separates it from the next; npos where it goes on.
std::size_t document_end(std::string_view text, DocumentForm form);

}  // namespace podium

#include "worker/prepare/document_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "worker/input/text_files.h"
#include "worker/tokenizer/bpe_vocabulary.h"

namespace podium {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

std::size_t behind(std::string_view text, std::size_t found, std::string_view separator) {
  return found == text.npos ? text.npos : found + separator.size();
}

std::size_t first_behind_blank_line(std::string_view text) {
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    if (end == text.npos) return text.npos;
    if (is_blank(text.substr(begin, end - begin))) return end + 1;
    begin = end + 1;
  }
}

std::size_t last_behind_blank_line(std::string_view text) {
  for (std::size_t end = text.rfind('\n'); end != text.npos;) {
    const std::size_t before = end == 0 ? text.npos : text.rfind('\n', end - 1);
    const std::size_t begin = before == text.npos ? 0 : before + 1;
    if (is_blank(text.substr(begin, end - begin))) return end + 1;
    end = before;
  }
  return text.npos;
}

// Where the last whole document in `text` ends; npos where there is none.
std::size_t last_document_end(std::string_view text, DocumentForm form) {
  if (form == DocumentForm::blank_lines) return last_behind_blank_line(text);
  const std::string_view separator = form == DocumentForm::end_of_text ? kEndOfText : "\n";
  return behind(text, text.rfind(separator), separator);
}

// What must stay in memory of the text of a document that goes on, to find where it ends.
std::string tail_of(std::string_view text, DocumentForm form) {
  if (form == DocumentForm::end_of_text)
    return std::string(text.substr(text.size() - std::min(text.size(), kEndOfText.size() - 1)));
  if (form != DocumentForm::blank_lines) return "";
  const std::size_t line = text.rfind('\n') + 1;  // 0 where there is none
  if (line == text.size()) return "";
  return is_blank(text.substr(line)) ? " " : "x";
}

}  // namespace

std::size_t document_end(std::string_view text, DocumentForm form) {
  if (form == DocumentForm::blank_lines) return first_behind_blank_line(text);
  const std::string_view separator = form == DocumentForm::end_of_text ? kEndOfText : "\n";
  return behind(text, text.find(separator), separator);
}

DocumentReader::DocumentReader(const std::vector<std::filesystem::path>& files, DocumentForm form,
                               TextPosition begin, const std::atomic<bool>& stop)
    : files_(files), form_(form), stop_(stop), position_(begin) {}

std::optional<TextBatch> DocumentReader::next() {
  while (position_.file < files_.size()) {
    if (!source_ && !open()) return std::nullopt;
    TextBatch batch;
    batch.begin = position_;
    fill(batch);
    batch.end = position_;
    if (!batch.text.empty() || !batch.skips.empty()) return batch;
  }
  return std::nullopt;
}

bool DocumentReader::open() {
  source_.emplace(files_[position_.file]);
  stopped_ = !source_->skip_to(position_.byte, stop_);
  read_ = position_.byte;
  return !stopped_;
}

void DocumentReader::fill(TextBatch& batch) {
  try {
    for (std::size_t wanted = kBatchBytes;; wanted = std::min(2 * wanted, kLongestDocument)) {
      if (!read_up_to(wanted)) {
        take(buffer_.size(), batch);
        return leave_file();
      }
      const std::size_t end = last_document_end(buffer_, form_);
      if (end != std::string::npos) return take(end, batch);
      if (buffer_.size() >= kLongestDocument) return skip_document(batch);
    }
  } catch (const BadData& damage) {
    const std::size_t end = last_document_end(buffer_, form_);
    if (end != std::string::npos) take(end, batch);
    leave_damaged_file(damage, batch);
  }
}

bool DocumentReader::read_up_to(std::size_t bytes) {
  while (buffer_.size() < bytes) {
    const std::size_t used = buffer_.size();
    buffer_.resize(bytes);
    std::size_t got = 0;
    try {
      got = source_->read(std::span(buffer_).subspan(used));
    } catch (...) {
      buffer_.resize(used);
      throw;
    }
    buffer_.resize(used + got);
    read_ += got;
    if (got == 0) return false;
  }
  return true;
}

void DocumentReader::take(std::size_t bytes, TextBatch& batch) {
  batch.text = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  position_.line += std::count(batch.text.begin(), batch.text.end(), '\n');
  position_.byte = read_ - buffer_.size();
  batch.packed_bytes = source_->packed_bytes_read();
}

void DocumentReader::skip_document(TextBatch& batch) {
  batch.skips.push_back(skip_here(SkipReason::too_long,
                                  "the document is longer than " + std::to_string(kLongestDocument >> 20) +
                                      " MiB; break it up, or choose --documents by what separates them"));
  const auto drop = [&](std::size_t bytes, const std::string& tail) {
    const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(bytes);
    position_.line += std::count(buffer_.begin(), end, '\n') - std::count(tail.begin(), tail.end(), '\n');
    buffer_.replace(0, bytes, tail);
  };
  std::optional<BadData> damage;
  std::size_t end = std::string::npos;
  for (bool more = true; more && end == std::string::npos; end = document_end(buffer_, form_)) {
    drop(buffer_.size(), tail_of(buffer_, form_));
    try {
      more = read_up_to(kBatchBytes);
    } catch (const BadData& error) {  // the text before it may hold the end of the document and more
      damage = error;
      more = false;
    }
  }
  if (end != std::string::npos) {
    drop(end, "");
    position_.byte = read_ - buffer_.size();
  } else if (damage) {
    leave_damaged_file(*damage, batch);
  } else {
    leave_file();
  }
}

void DocumentReader::leave_damaged_file(const BadData& damage, TextBatch& batch) {
  batch.skips.push_back(skip_here(SkipReason::damaged_file, damage.what()));
  leave_file();
}

void DocumentReader::leave_file() {
  buffer_.clear();
  source_.reset();
  position_ = {position_.file + 1, 0, 1};
}

Skip DocumentReader::skip_here(SkipReason reason, std::string detail) const {
  return {reason, std::move(detail), position_.file, position_.line};
}

}  // namespace podium

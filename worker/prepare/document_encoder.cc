#include "worker/prepare/document_encoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "worker/input/text_files.h"
#include "worker/input/utf8.h"
#include "worker/prepare/json_member.h"
#include "worker/tokenizer/bpe_vocabulary.h"

namespace podium {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::int64_t count_lines(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

// A document without what separates it from the next.
std::string_view without_separator(std::string_view text, DocumentForm form) {
  if (form == DocumentForm::end_of_text) {
    if (text.ends_with(kEndOfText)) text.remove_suffix(kEndOfText.size());
    return text;
  }
  const std::size_t last = text.find_last_not_of(form == DocumentForm::blank_lines ? kSpaces : "\r\n");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

void store(const std::vector<std::int32_t>& ids, MegatronTokenType type, std::vector<std::byte>& bytes) {
  const std::size_t used = bytes.size();
  bytes.resize(used + ids.size() * static_cast<std::size_t>(type.bytes));
  std::byte* to = bytes.data() + used;
  if (type.bytes == 4) {
    std::memcpy(to, ids.data(), ids.size() * 4);
    return;
  }
  for (const std::int32_t id : ids) {
    const auto narrow = static_cast<std::uint16_t>(id);
    std::memcpy(to, &narrow, 2);
    to += 2;
  }
}

}  // namespace

DocumentEncoder::DocumentEncoder(const Tokenizer& tokenizer, const EncodingRules& rules)
    : tokenizer_(tokenizer), rules_(rules), type_(megatron_token_type(tokenizer.size())) {
  if (rules.sequences == SequenceForm::sentences) splitter_.emplace();
}

EncodedBatch DocumentEncoder::encode(const TextBatch& batch) {
  batch_ = {.file = batch.begin.file,
            .end = batch.end,
            .text_bytes = batch.text.size(),
            .packed_bytes = batch.packed_bytes};
  std::string_view rest = batch.text;
  for (Place place{batch.begin.file, batch.begin.line}; !rest.empty();) {
    const std::size_t end = std::min(rest.size(), document_end(rest, rules_.documents));
    const std::string_view whole = rest.substr(0, end);
    const std::string_view document = without_separator(whole, rules_.documents);
    if (rules_.documents == DocumentForm::objects)
      encode_object(document, place);
    else
      encode_document(document, place);
    place.line += count_lines(whole);
    rest.remove_prefix(end);
  }
  batch_.skips.insert(batch_.skips.end(), batch.skips.begin(), batch.skips.end());
  return std::exchange(batch_, {});
}

void DocumentEncoder::encode_object(std::string_view line, Place place) {
  if (line.find_first_not_of(kSpaces) == line.npos) return;
  const JsonMember member = find_json_member(line, rules_.field);
  if (!member.malformed.empty()) return skip(SkipReason::no_json, place, member.malformed);
  if (!member.text)
    return skip(SkipReason::no_field, place, "the object has no text \"" + rules_.field + "\"");
  encode_document(*member.text, place);
}

void DocumentEncoder::encode_document(std::string_view text, Place place) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad != text.npos) {
    place.line += count_lines(text.substr(0, bad));
    return skip(
        SkipReason::not_utf8, place,
        "the text is not UTF-8; convert the file (for example with iconv) or leave it out by --skip-bad");
  }
  const std::size_t before = batch_.lengths.size();
  const bool blank = text.find_first_not_of(kSpaces) == text.npos;
  if (!blank) {
    if (rules_.sequences == SequenceForm::documents)
      encode_sequence(text);
    else if (rules_.sequences == SequenceForm::lines)
      for_each_line_in(text, [&](std::string_view line) { encode_sequence(line); });
    else
      splitter_->split(text, [&](std::string_view sentence) { encode_sequence(sentence); });
  }
  if (batch_.lengths.size() == before) {
    // White space between separators is no document; an object without text is one.
    if (rules_.documents == DocumentForm::objects || !blank)
      skip(SkipReason::empty, place, "the document has no token");
    return;
  }
  if (rules_.end_of_document >= 0) {
    store({rules_.end_of_document}, type_, batch_.tokens);
    ++batch_.lengths.back();
  }
  batch_.document_ends.push_back(std::ssize(batch_.lengths));
}

void DocumentEncoder::encode_sequence(std::string_view text) {
  ids_.clear();
  tokenizer_.encode(text, ids_);
  if (ids_.empty()) return;
  store(ids_, type_, batch_.tokens);
  batch_.lengths.push_back(static_cast<std::int32_t>(ids_.size()));
}

void DocumentEncoder::skip(SkipReason reason, Place place, std::string detail) {
  batch_.skips.push_back({reason, std::move(detail), place.file, place.line});
}

}  // namespace podium

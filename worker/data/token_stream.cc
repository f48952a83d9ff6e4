#include "worker/data/token_stream.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "worker/data/data_files.h"
#include "worker/data/documents.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostCounted = std::int64_t{1} << 26;
constexpr std::int64_t kCountedTogether = 4096;
constexpr std::size_t kEncodedTogether = std::size_t{1} << 20;  // bytes; a document may be a whole file

TokenArray encode_file(const fs::path& path, const BpeTokenizer& tokenizer, Reading& reading) {
  TokenArray tokens(tokenizer.size());
  std::vector<std::int32_t> ids;
  for_each_document(path, reading, [&](std::string_view document) {
    while (!document.empty()) {
      ids.clear();
      const std::size_t bytes = tokenizer.encode_words(document, kEncodedTogether, ids);
      tokens.append(ids);
      document.remove_prefix(bytes);
      reading.advance(bytes);
    }
    tokens.append(std::array{tokenizer.vocabulary().end_of_text()});
  });
  return tokens;
}

void read_part(const TokenArray& tokens, std::int64_t begin, std::int32_t, std::span<std::int32_t> ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = tokens[static_cast<std::size_t>(begin) + i];
}

void read_part(const MegatronData& data, std::int64_t begin, std::int32_t vocabulary_size,
               std::span<std::int32_t> ids) {
  data.read(begin, vocabulary_size, ids);
}

void add_part(Xxh3& hash, const TokenArray& tokens) { hash.add(tokens.bytes()); }
void add_part(Xxh3& hash, const MegatronData& data) { data.add_to(hash); }

}  // namespace

TokenStream::TokenStream(const std::vector<fs::path>& files, const BpeTokenizer& tokenizer, Reading& reading)
    : vocabulary_size_(tokenizer.size()) {
  PODIUM_CHECK(!files.empty(), "no file to read tokens from");
  std::int64_t begin = 0;
  std::string names;
  const auto add = [&](auto tokens) {
    const std::int64_t end = begin + static_cast<std::int64_t>(tokens.size());
    parts_.push_back({std::move(tokens), begin, end});
    begin = end;
  };
  for (const fs::path& file : files)
    if (!is_megatron(file)) reading.expect(open_input(file).bytes);
  for (const fs::path& file : files) {
    names += (names.empty() ? "" : ", ") + file.string();
    if (is_megatron(file)) {
      add(MegatronData(file));
    } else {
      add(encode_file(file, tokenizer, reading));
    }
  }
  if (tokens() < 2) throw BadData("no text in " + names);
}

void TokenStream::read(std::int64_t begin, std::span<std::int32_t> ids) const {
  PODIUM_CHECK(begin >= 0 && begin + static_cast<std::int64_t>(ids.size()) <= tokens(),
               "tokens beyond the end");
  auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                               [](std::int64_t position, const Part& other) { return position < other.end; });
  for (; !ids.empty(); ++part) {
    const auto count =
        static_cast<std::size_t>(std::min(part->end - begin, static_cast<std::int64_t>(ids.size())));
    std::visit(
        [&](const auto& tokens) {
          read_part(tokens, begin - part->begin, vocabulary_size_, ids.first(count));
        },
        part->tokens);
    ids = ids.subspan(count);
    begin += static_cast<std::int64_t>(count);
  }
}

TextIdentity TokenStream::identity() const {
  Xxh3 hash;
  hash.add(std::as_bytes(std::span(&vocabulary_size_, 1)));
  for (const Part& part : parts_)
    std::visit([&](const auto& tokens) { add_part(hash, tokens); }, part.tokens);
  return {.tokens = tokens(), .sentences = 0, .xxh3 = hash.digest().xxh3};
}

std::vector<std::int64_t> TokenStream::frequencies() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary_size_), 0);
  std::vector<std::int32_t> ids;
  const std::int64_t stride = kCountedTogether * (1 + (tokens() - 1) / kMostCounted);
  for (std::int64_t begin = 0; begin < tokens(); begin += stride) {
    ids.resize(static_cast<std::size_t>(std::min(kCountedTogether, tokens() - begin)));
    read(begin, ids);
    for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

}  // namespace podium

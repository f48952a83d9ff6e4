#include "worker/tokenizer/load_tokenizer.h"

#include "worker/input/bad_data.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/tokenizer_config.h"
#include "worker/tokenizer/tokenizer_json.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBpePrefix = "bpe:";

std::unique_ptr<const Tokenizer> load_wordpiece_folder(const fs::path& folder,
                                                       const TokenizerConfig& config) {
  Vocabulary vocabulary = Vocabulary::load(folder / "vocab.txt", config.names);
  WordPieceOptions options;
  config.apply_to(options.rules);
  TokenizerConfig all = config;
  for (const std::string* name : {&config.names.pad, &config.names.unknown, &config.names.classify,
                                  &config.names.separator, &config.names.mask})
    all.special.push_back({.content = *name});
  options.added =
      resolve(all, vocabulary.size(), [&](const std::string& token) { return vocabulary.find(token); });
  return std::make_unique<WordPieceTokenizer>(std::move(vocabulary), options);
}

std::unique_ptr<const Tokenizer> load_bpe_folder(const fs::path& folder, const TokenizerConfig& config) {
  BpeVocabulary vocabulary =
      BpeVocabulary::load(folder / "vocab.json", folder / "merges.txt", BpeVocabulary::EndOfText::optional);
  const auto id_of = [&](const std::string& token) -> std::optional<std::int32_t> {
    for (std::int32_t id = 0; id < vocabulary.size(); ++id)
      if (vocabulary.token(id) == token) return id;
    return std::nullopt;
  };
  BpeOptions options{.add_prefix_space = config.add_prefix_space.value_or(false)};
  options.added = resolve(config, vocabulary.size(), id_of);
  options.end_of_text = config.end_of_text.value_or(options.end_of_text);
  if (vocabulary.end_of_text() >= 0)
    options.added.push_back({.content = std::string(kEndOfText), .id = vocabulary.end_of_text()});
  return std::make_unique<BpeTokenizer>(std::move(vocabulary), std::move(options));
}

}  // namespace

bool holds_tokenizer(const fs::path& folder) {
  return fs::exists(folder / "tokenizer.json") || fs::exists(folder / "vocab.txt") ||
         fs::exists(folder / "vocab.json");
}

std::unique_ptr<const Tokenizer> load_tokenizer_folder(const fs::path& folder) {
  const TokenizerConfig config = read_tokenizer_config(folder);
  if (fs::exists(folder / "tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json", config);
  if (fs::exists(folder / "vocab.txt")) return load_wordpiece_folder(folder, config);
  if (fs::exists(folder / "vocab.json")) return load_bpe_folder(folder, config);
  throw BadData(folder.string() +
                " holds no tokenizer: neither tokenizer.json, nor vocab.txt, nor vocab.json with merges.txt");
}

std::unique_ptr<const Tokenizer> load_tokenizer(const std::string& what, bool lowercase) {
  if (what.starts_with(kWordPiecePrefix))
    return std::make_unique<WordPieceTokenizer>(Vocabulary::load(what.substr(kWordPiecePrefix.size())),
                                                lowercase);
  if (what.starts_with(kBpePrefix)) {
    const std::string files = what.substr(kBpePrefix.size());
    const std::size_t comma = files.find(',');
    if (comma == std::string::npos)
      throw BadData("\"" + what + "\" names one file; byte pairs need two: bpe:vocab.json,merges.txt");
    return std::make_unique<BpeTokenizer>(
        BpeVocabulary::load(files.substr(0, comma), files.substr(comma + 1)));
  }
  if (!fs::is_directory(what))
    throw BadData(
        "\"" + what +
        "\" is no tokenizer: name wordpiece:vocab.txt, bpe:vocab.json,merges.txt or a folder with one");
  return load_tokenizer_folder(what);
}

}  // namespace podium

#include "worker/tokenizer/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/token_ids.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

using nlohmann::json;

class TokenizerJson {
 public:
  TokenizerJson(json content, std::string origin, const TokenizerConfig& config)
      : content_(std::move(content)), origin_(std::move(origin)), config_(config) {}

  std::unique_ptr<const Tokenizer> make() const {
    const json& model = content_.at("model");
    const std::string type = model.value("type", model.contains("merges") ? "BPE" : "WordPiece");
    if (type == "WordPiece") return make_wordpiece(model);
    if (type == "BPE") return make_bpe(model);
    refuse("model", type);
  }

 private:
  [[noreturn]] void refuse(const std::string& part, const std::string& type) const {
    throw BadData(origin_ + ": the " + part + " \"" + type +
                  "\" is not known; Podium reads BERT's WordPiece and GPT-2's byte-level BPE");
  }

  // The part of that name, or null if the file has none. A sequence of one part stands for that part. Refuses
  // a part of another type than `type`.
  const json* part(const std::string& name, const std::string& sequence, std::string_view type) const {
    if (!content_.contains(name) || content_.at(name).is_null()) return nullptr;
    const json* found = &content_.at(name);
    if (found->at("type") == "Sequence") {
      const json& members = found->at(sequence);
      if (members.empty()) return nullptr;
      if (members.size() > 1) refuse(name, "Sequence");
      found = &members.front();
    }
    if (found->at("type") != type) refuse(name, found->at("type").get<std::string>());
    return found;
  }
  const json* normalizer(std::string_view type) const { return part("normalizer", "normalizers", type); }
  const json* pre_tokenizer(std::string_view type) const {
    return part("pre_tokenizer", "pretokenizers", type);
  }

  std::vector<AddedToken> added_tokens(const TokenIds& ids) const {
    TokenizerConfig config = config_;
    config.added.clear();
    const auto id_of = [&](const std::string& token) {
      const auto found = ids.find(token);
      return found == ids.end() ? std::nullopt : std::optional(found->second);
    };
    for (const json& entry : content_.value("added_tokens", json::array()))
      config.added.push_back(
          added_token_of(entry, token_id(entry.at("id"), entry.at("content").get<std::string>(), origin_)));
    config.added.insert(config.added.end(), config_.added.begin(), config_.added.end());
    for (AddedToken& token : config.added) token.id = id_of(token.content).value_or(token.id);
    return resolve(config, static_cast<std::int32_t>(ids.size()), id_of);
  }

  std::unique_ptr<const Tokenizer> make_wordpiece(const json& model) const {
    const TokenIds ids = token_ids(model.at("vocab"), origin_);
    WordPieceOptions options{.rules = {false, false, false, false}};
    if (const json* bert = normalizer("BertNormalizer")) {
      const auto flag = [&](const char* key) { return bert->value(key, true); };
      options.rules = {flag("clean_text"), flag("handle_chinese_chars"), false, flag("lowercase")};
      const json strip = bert->value("strip_accents", json());
      options.rules.strip_accents = strip.is_null() ? options.rules.lowercase : strip.get<bool>();
    }
    config_.apply_to(options.rules);
    if (!pre_tokenizer("BertPreTokenizer")) refuse("pre_tokenizer", "null");
    options.continuation = model.value("continuing_subword_prefix", options.continuation);
    options.longest_word = model.value("max_input_chars_per_word", options.longest_word);
    options.added = added_tokens(ids);
    SpecialNames names = config_.names;
    names.unknown = model.value("unk_token", names.unknown);
    options.names = names;
    Vocabulary vocabulary(tokens_by_id(ids, origin_), origin_, names, Vocabulary::Needs::unknown_alone);
    return std::make_unique<WordPieceTokenizer>(std::move(vocabulary), options);
  }

  std::unique_ptr<const Tokenizer> make_bpe(const json& model) const {
    const TokenIds ids = token_ids(model.at("vocab"), origin_);
    for (const char* key :
         {"continuing_subword_prefix", "end_of_word_suffix", "dropout", "byte_fallback", "ignore_merges"}) {
      const json value = model.value(key, json());
      if (!value.is_null() && value != "" && value != false && value != 0) refuse("model's setting", key);
    }
    normalizer("");  // refuses any
    const json* level = pre_tokenizer("ByteLevel");
    if (!level || !level->value("use_regex", true)) refuse("pre_tokenizer", level ? "ByteLevel" : "null");
    BpeOptions options;
    options.add_prefix_space = config_.add_prefix_space.value_or(level->value("add_prefix_space", true));
    read_post_processor(content_.value("post_processor", json()), options);
    options.added = added_tokens(ids);
    options.end_of_text = config_.end_of_text.value_or(options.end_of_text);
    return std::make_unique<BpeTokenizer>(
        BpeVocabulary(ids, origin_, merges_of(model), BpeVocabulary::EndOfText::optional),
        std::move(options));
  }

  // Of it only counts what it does with offsets.
  static void read_post_processor(const json& processor, BpeOptions& options) {
    const std::string type = processor.is_object() ? processor.value("type", "") : "";
    if (type == "Sequence")
      for (const json& member : processor.at("processors")) read_post_processor(member, options);
    if (type != "ByteLevel" && type != "RobertaProcessing") return;
    options.trim_offsets = processor.value("trim_offsets", true);
    options.trims_prefix = !processor.value("add_prefix_space", true);
  }

  // "left right" or ["left", "right"].
  BpeMergeList merges_of(const json& model) const {
    BpeMergeList merges{.origin = origin_ + ": merge "};
    for (const json& merge : model.at("merges")) {
      if (merge.is_array() && merge.size() == 2) {
        merges.pairs.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        continue;
      }
      const std::string text = merge.is_string() ? merge.get<std::string>() : "";
      const std::size_t space = text.find(' ');
      if (space == std::string::npos)
        throw BadData(merges.origin + std::to_string(merges.pairs.size() + 1) + ": a merge is two tokens");
      merges.pairs.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    return merges;
  }

  json content_;
  std::string origin_;
  const TokenizerConfig& config_;
};

}  // namespace

std::unique_ptr<const Tokenizer> read_tokenizer_json(const std::filesystem::path& path,
                                                     const TokenizerConfig& config) {
  const std::string origin = path.string();
  try {
    return TokenizerJson(parse_json(read_input(path), origin), origin, config).make();
  } catch (const json::exception& error) {
    throw BadData(origin + ": " + error.what());
  }
}

}  // namespace podium

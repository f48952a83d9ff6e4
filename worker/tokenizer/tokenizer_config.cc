#include "worker/tokenizer/tokenizer_config.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/tokenizer/token_ids.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<bool> flag(const json& config, const char* key) {
  const json value = config.value(key, json());
  if (value.is_null()) return std::nullopt;
  return value.get<bool>();
}

// A name, or an object with it.
std::string content_of(const json& token) {
  return token.is_object() ? token.at("content").get<std::string>() : token.get<std::string>();
}

AddedToken special_token(const json& token) {
  if (token.is_object()) return added_token_of(token, -1);
  return {.content = token.get<std::string>(), .id = -1};
}

void read_added(const json& decoder, const std::string& origin, TokenizerConfig& config) {
  for (const auto& [key, entry] : decoder.items()) {
    std::int32_t id = -1;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), id);
    if (read.ec != std::errc() || read.ptr != key.data() + key.size() || id < 0 || id >= kMostTokens)
      throw BadData(origin + ": added_tokens_decoder: \"" + key + "\" is no id");
    config.added.push_back(added_token_of(entry, id));
  }
}

void read_names(const json& config, TokenizerConfig& read) {
  const auto name = [&](const char* key, std::string& into) {
    if (const json token = config.value(key, json()); !token.is_null()) into = content_of(token);
  };
  name("pad_token", read.names.pad);
  name("unk_token", read.names.unknown);
  name("cls_token", read.names.classify);
  name("sep_token", read.names.separator);
  name("mask_token", read.names.mask);
  if (const json token = config.value("eos_token", json()); !token.is_null())
    read.end_of_text = content_of(token);
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
    if (const json token = config.value(key, json()); !token.is_null())
      read.special.push_back(special_token(token));
  const json more = config.value("additional_special_tokens", json());
  if (!more.is_null())
    for (const json& token : more) read.special.push_back(special_token(token));
}

void read_config(const json& config, const std::string& origin, TokenizerConfig& read) {
  read.lowercase = flag(config, "do_lower_case");
  read.strip_accents = flag(config, "strip_accents");
  read.isolate_ideographs = flag(config, "tokenize_chinese_chars");
  read.add_prefix_space = flag(config, "add_prefix_space");
  if (config.contains("added_tokens_decoder")) read_added(config.at("added_tokens_decoder"), origin, read);
  read_names(config, read);
}

// Calls `read` with the JSON of a file that is there.
void read_file_if_there(const fs::path& file,
                        const std::function<void(const json& content, const std::string& origin)>& read) {
  if (!fs::exists(file)) return;
  const std::string origin = file.string();
  const json content = parse_json(read_input(file), origin);
  try {
    read(content, origin);
  } catch (const json::exception& error) {
    throw BadData(origin + ": " + error.what());
  }
}

}  // namespace

void TokenizerConfig::apply_to(BertRules& rules) const {
  if (lowercase) rules.lowercase = *lowercase;
  if (lowercase || strip_accents) rules.strip_accents = strip_accents.value_or(rules.lowercase);
  if (isolate_ideographs) rules.isolate_ideographs = *isolate_ideographs;
}

AddedToken added_token_of(const json& entry, std::int32_t id) {
  const bool special = entry.value("special", false);
  return {.content = entry.at("content").get<std::string>(),
          .id = id,
          .single_word = entry.value("single_word", false),
          .lstrip = entry.value("lstrip", false),
          .rstrip = entry.value("rstrip", false),
          .normalized = entry.value("normalized", !special)};
}

TokenizerConfig read_tokenizer_config(const fs::path& folder) {
  TokenizerConfig config;
  read_file_if_there(folder / "tokenizer_config.json", [&](const json& content, const std::string& origin) {
    read_config(content, origin, config);
  });
  read_file_if_there(folder / "added_tokens.json", [&](const json& content, const std::string& origin) {
    for (const auto& [token, id] : content.items())
      config.added.push_back({.content = token, .id = token_id(id, token, origin), .normalized = true});
  });
  return config;
}

std::vector<AddedToken> resolve(const TokenizerConfig& config, std::int32_t next,
                                const std::function<std::optional<std::int32_t>(const std::string&)>& id_of) {
  std::vector<AddedToken> resolved = config.added;
  for (const AddedToken& token : resolved) next = std::max(next, token.id + 1);
  for (AddedToken token : config.special) {
    const bool known = std::ranges::any_of(
        resolved, [&](const AddedToken& other) { return other.content == token.content; });
    if (known) continue;
    const std::optional<std::int32_t> id = id_of(token.content);
    token.id = id ? *id : next++;
    resolved.push_back(std::move(token));
  }
  return resolved;
}

}  // namespace podium

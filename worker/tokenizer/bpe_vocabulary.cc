#include "worker/tokenizer/bpe_vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/tokenizer/byte_alphabet.h"

namespace podium {
namespace {

using nlohmann::json;

// The ids of one JSON object {token: id}. nlohmann's own object would keep the last of two equal tokens.
std::unordered_map<std::string, std::int32_t> parse_ids(std::string_view text, const std::string& origin) {
  std::unordered_map<std::string, std::int32_t> ids;
  std::string token;
  const auto take = [&](int depth, json::parse_event_t event, json& value) {
    if (depth == 0 && event != json::parse_event_t::object_start && event != json::parse_event_t::object_end)
      throw BadData(origin + ": the vocabulary must be one JSON object of tokens and their ids");
    if (event == json::parse_event_t::key) token = value.get<std::string>();
    if (depth == 0 || event == json::parse_event_t::key) return true;
    if (event != json::parse_event_t::value || !value.is_number_unsigned() || value > INT32_MAX)
      throw BadData(origin + ": the id of token \"" + token + "\" is no whole number from 0");
    if (!ids.emplace(token, value.get<std::int32_t>()).second)
      throw BadData(origin + ": the token \"" + token + "\" appears a second time");
    return true;
  };
  try {
    [[maybe_unused]] const json whole = json::parse(text, take);
  } catch (const json::exception& error) {
    throw BadData(origin + ": " + error.what());
  }
  return ids;
}

}  // namespace

BpeVocabulary BpeVocabulary::load(const std::filesystem::path& vocab_json,
                                  const std::filesystem::path& merges_txt) {
  return BpeVocabulary(read_input(vocab_json), vocab_json.string(), read_input(merges_txt),
                       merges_txt.string());
}

BpeVocabulary::BpeVocabulary(std::string_view vocab_json, const std::string& vocab_origin,
                             std::string_view merges_txt, const std::string& merges_origin)
    : merges_(static_cast<std::size_t>(std::count(merges_txt.begin(), merges_txt.end(), '\n')) + 1) {
  const Ids ids = parse_ids(vocab_json, vocab_origin);
  take_tokens(ids, vocab_origin);
  read_merges(merges_txt, merges_origin, ids);
}

void BpeVocabulary::take_tokens(const Ids& ids, const std::string& origin) {
  std::vector<const std::string*> names(ids.size(), nullptr);
  for (const auto& [name, id] : ids) {
    if (id >= static_cast<std::int32_t>(ids.size()))
      throw BadData(origin + ": token \"" + name + "\" has id " + std::to_string(id) + " among " +
                    std::to_string(ids.size()) + " tokens; ids must count from 0 without a gap");
    const std::string*& place = names[static_cast<std::size_t>(id)];
    if (place)
      throw BadData(origin + ": the tokens \"" + *place + "\" and \"" + name + "\" share id " +
                    std::to_string(id));
    place = &name;
  }
  for (const std::string* name : names) tokens_.push_back(from_byte_alphabet(*name).value_or(*name));

  const auto need = [&](const std::string& name) {
    const auto found = ids.find(name);
    if (found == ids.end()) throw BadData(origin + ": the vocabulary lacks the token " + name);
    return found->second;
  };
  end_of_text_ = need(std::string(kEndOfText));
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte)
    byte_tokens_[byte] = need(to_byte_alphabet(std::string(1, static_cast<char>(byte))));
}

void BpeVocabulary::read_merges(std::string_view text, const std::string& origin, const Ids& ids) {
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line.starts_with("#version")) continue;

    const auto refuse = [&](const std::string& what) {
      throw BadData(origin + ":" + std::to_string(number) + ": " + what);
    };
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos)
      refuse("a merge is two tokens with a space between them");
    const auto id_of = [&](std::string token) {
      const auto found = ids.find(token);
      if (found == ids.end()) refuse("the vocabulary lacks the token \"" + token + "\"");
      return found->second;
    };
    const std::string left(line.substr(0, space));
    const std::string right(line.substr(space + 1));
    const BpeMerge merge{static_cast<std::int32_t>(merges_.size()), id_of(left + right)};
    if (!merges_.add(id_of(left), id_of(right), merge))
      refuse("the merge \"" + std::string(line) + "\" appears a second time");
  }
}

std::string BpeVocabulary::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    PODIUM_CHECK(id >= 0 && id < size(), "no token has id " + std::to_string(id));
    text += token(id);
  }
  return text;
}

}  // namespace podium

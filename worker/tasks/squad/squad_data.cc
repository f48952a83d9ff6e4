#include "worker/tasks/squad/squad_data.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"

namespace podium {
namespace {

using nlohmann::json;

json parse(const std::filesystem::path& path, const json::parser_callback_t& callback = nullptr) {
  const std::string text = read_utf8_input(path);
  try {
    return json::parse(text, callback);
  } catch (const json::exception& error) {
    throw BadData(path.string() + ": no JSON: " + error.what());
  }
}

// A value and where it stands in its file.
class Place {
 public:
  Place(const json& file, const std::filesystem::path& path) : value_(file), file_(path.string()) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw BadData(fmt::format("{}: {} {}", file_, path_.empty() ? "the file" : path_, what));
  }

  Place member(const char* key) const {
    if (!value_.is_object()) refuse("is no object");
    const auto found = value_.find(key);
    if (found == value_.end()) refuse(fmt::format("has no \"{}\"", key));
    return {*found, file_, path_.empty() ? key : path_ + "." + key};
  }
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  std::string text() const {
    if (!value_.is_string()) refuse("is no text");
    return value_.get<std::string>();
  }
  std::int64_t integer() const {
    if (!value_.is_number_integer()) refuse("is no whole number");
    return value_.get<std::int64_t>();
  }
  bool boolean() const {
    if (!value_.is_boolean()) refuse("is neither true nor false");
    return value_.get<bool>();
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    if (!value_.is_array()) refuse("is no array");
    for (std::size_t i = 0; i < value_.size(); ++i)
      visit(Place(value_[i], file_, fmt::format("{}[{}]", path_, i)));
  }

 private:
  Place(const json& value, std::string file, std::string path)
      : value_(value), file_(std::move(file)), path_(std::move(path)) {}

  const json& value_;
  std::string file_;
  std::string path_;
};

SquadQuestion question_at(const Place& place, SquadData& data) {
  SquadQuestion question{.id = place.member("id").text(), .text = place.member("question").text()};
  if (place.has("is_impossible")) {
    data.version2 = true;
    question.impossible = place.member("is_impossible").boolean();
  }
  place.member("answers").for_each([&](const Place& answer) {
    question.answers.push_back({answer.member("text").text(), answer.member("answer_start").integer()});
  });
  if (question.answers.empty() && !data.version2)
    place.member("answers").refuse("is empty; only in SQuAD 2.0 a question may have no answer");
  return question;
}

// Also where one key occurs twice, as Python's json module has it: in the place of the first, with the value
// of the last.
template <class Value>
std::vector<std::pair<std::string, Value>> read_by_id(const std::filesystem::path& path,
                                                      bool (json::*is_value)() const noexcept,
                                                      const char* what) {
  std::vector<std::string> ids;
  json content = parse(path, [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1) ids.push_back(parsed.get<std::string>());
    return true;
  });
  if (!content.is_object())
    throw BadData(
        fmt::format("{}: the file is no object with {} for each question's id", path.string(), what));
  std::vector<std::pair<std::string, Value>> values;
  for (const std::string& id : ids) {
    const auto found = content.find(id);
    if (found == content.end()) continue;
    if (!((*found).*is_value)())
      throw BadData(fmt::format("{}: the value of \"{}\" is not {}", path.string(), id, what));
    values.emplace_back(id, found->get<Value>());
    content.erase(found);
  }
  return values;
}

}  // namespace

std::int64_t SquadData::questions() const {
  std::int64_t count = 0;
  for (const SquadParagraph& paragraph : paragraphs) count += std::ssize(paragraph.questions);
  return count;
}

SquadData read_squad(const std::filesystem::path& path) {
  const json content = parse(path);
  const Place file(content, path);
  SquadData data;
  data.version2 = file.has("version") && (content.at("version") == "v2.0" || content.at("version") == "2.0");
  file.member("data").for_each([&](const Place& article) {
    article.member("paragraphs").for_each([&](const Place& paragraph) {
      data.paragraphs.push_back({paragraph.member("context").text(), {}});
      paragraph.member("qas").for_each([&](const Place& question) {
        data.paragraphs.back().questions.push_back(question_at(question, data));
      });
    });
  });
  if (data.questions() == 0) file.member("data").refuse("has no question");
  return data;
}

std::vector<std::pair<std::string, std::string>> read_squad_predictions(const std::filesystem::path& path) {
  return read_by_id<std::string>(path, &json::is_string, "a text");
}

std::vector<std::pair<std::string, double>> read_squad_null_odds(const std::filesystem::path& path) {
  return read_by_id<double>(path, &json::is_number, "a number");
}

}  // namespace podium

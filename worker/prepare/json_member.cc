#include "worker/prepare/json_member.h"

#include <nlohmann/json.hpp>

namespace podium {
namespace {

using nlohmann::json;

constexpr int kDeepest = 64;

// nlohmann's parser does not recurse; the depth is bounded for those who read the data after us.
class MemberFinder final : public nlohmann::json_sax<json> {
 public:
  explicit MemberFinder(std::string_view name) : name_(name) {}

  bool null() override { return other_value(); }
  bool boolean(bool) override { return other_value(); }
  bool number_integer(number_integer_t) override { return other_value(); }
  bool number_unsigned(number_unsigned_t) override { return other_value(); }
  bool number_float(number_float_t, const string_t&) override { return other_value(); }
  bool binary(binary_t&) override { return other_value(); }
  bool string(string_t& value) override {
    if (depth_ == 0) return refuse("it is no JSON object");
    if (is_value()) found_.text = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override { return go_down(); }
  bool key(string_t& key) override {
    if (depth_ == 1) matches_ = key == name_;
    return true;
  }
  bool end_object() override { return go_up(); }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return refuse("it is no JSON object");
    return go_down();
  }
  bool end_array() override { return go_up(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    return refuse(error.what());
  }

  JsonMember take() { return std::move(found_); }

 private:
  bool is_value() const { return depth_ == 1 && matches_; }
  bool other_value() {
    if (depth_ == 0) return refuse("it is no JSON object");
    if (is_value()) found_.text.reset();
    return true;
  }
  bool go_down() {
    if (is_value()) found_.text.reset();
    return ++depth_ <= kDeepest || refuse("its values are nested in more than 64 levels");
  }
  bool go_up() {
    --depth_;
    return true;
  }
  bool refuse(const std::string& why) {
    if (found_.malformed.empty()) found_.malformed = why;
    return false;
  }

  std::string_view name_;
  JsonMember found_;
  int depth_ = 0;
  bool matches_ = false;  // the member at the first level
};

}  // namespace

JsonMember find_json_member(std::string_view line, std::string_view name) {
  MemberFinder finder(name);
  json::sax_parse(line.begin(), line.end(), &finder);
  return finder.take();
}

}  // namespace podium

// Reads a header while it is parsed, so that nothing is kept of it that a header may not have: neither depth
// nor length of what a file claims costs more than the text itself.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "worker/formats/safetensors.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMostAxes = 64;

// Names come from the file: kept short in messages.
std::string in_quotes(const std::string& name) {
  return "\"" + (name.size() <= 200 ? name : name.substr(0, 200) + "…") + "\"";
}

class HeaderParser final : public json::json_sax_t {
 public:
  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) return go_to(Place::names);
    if (place_ != Place::names) refuse("an object where none belongs");
    entry_ = {};
    fields_.clear();
    return go_to(name_ == "__metadata__" ? Place::metadata : Place::entry);
  }

  bool end_object() override {
    if (place_ == Place::names) return go_to(Place::outside);
    if (place_ == Place::entry) finish_entry();
    return go_to(Place::names);
  }

  bool key(std::string& key) override {
    if (place_ == Place::names) {
      if (!names_.insert(key).second) refuse("it names " + in_quotes(key) + " twice");
      name_ = key;
      return true;
    }
    if (!fields_.insert(key).second) refuse("it names " + in_quotes(key) + " twice in " + in_quotes(name_));
    if (place_ == Place::entry && key != "dtype" && key != "shape" && key != "data_offsets")
      refuse("unknown field " + in_quotes(key) + " of " + in_quotes(name_));
    field_ = key;
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      header_.metadata.emplace(field_, value);
    } else if (place_ == Place::entry && field_ == "dtype") {
      entry_.dtype = value;
    } else {
      refuse("a string where none belongs");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::entry || field_ == "dtype") refuse("an array where none belongs");
    numbers_.clear();
    return go_to(Place::numbers);
  }

  bool end_array() override {
    (field_ == "shape" ? entry_.shape : offsets_) = numbers_;
    return go_to(Place::entry);
  }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::numbers) refuse("a number where none belongs");
    if (numbers_.size() == kMostAxes) refuse("too many numbers in " + in_quotes(name_));
    if (value > static_cast<std::uint64_t>(INT64_MAX)) refuse("too large a number in " + in_quotes(name_));
    numbers_.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("a truth value"); }
  bool number_integer(std::int64_t) override { refuse("a negative number"); }
  bool number_float(double, const std::string&) override { refuse("a number that is no integer"); }
  bool binary(json::binary_t&) override { refuse("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    refuse("no valid JSON at byte " + std::to_string(position));
  }

 private:
  enum class Place { outside, names, entry, numbers, metadata };

  [[noreturn]] static void refuse(const std::string& what) {
    throw SafetensorsError("malformed header: " + what);
  }

  bool go_to(Place place) {
    place_ = place;
    return true;
  }

  void finish_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field)) refuse(in_quotes(name_) + " has no " + field);
    std::uint64_t bytes = size_of_safetensors_type(entry_.dtype);
    if (bytes == 0) refuse(in_quotes(name_) + " has the unknown type " + in_quotes(entry_.dtype));
    for (const std::int64_t extent : entry_.shape)
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
        refuse("the shape of " + in_quotes(name_) + " is too large");
    if (offsets_.size() != 2 || offsets_[1] < offsets_[0] ||
        static_cast<std::uint64_t>(offsets_[1] - offsets_[0]) != bytes)
      refuse("type, shape and offsets of " + in_quotes(name_) + " do not agree");
    entry_.begin = static_cast<std::uint64_t>(offsets_[0]);
    entry_.end = static_cast<std::uint64_t>(offsets_[1]);
    header_.tensors.emplace(name_, std::move(entry_));
  }

  SafetensorsHeader header_;
  Place place_ = Place::outside;
  std::set<std::string> names_;
  std::string name_;
  std::set<std::string> fields_;  // seen in the object of this name
  std::string field_;
  SafetensorsTensor entry_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> numbers_;
};

// The tensors must lie side by side and fill the buffer.
void check_layout(const std::map<std::string, SafetensorsTensor>& tensors, std::uint64_t buffer_bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, tensor] : tensors) ranges.emplace_back(tensor.begin, tensor.end);
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) throw SafetensorsError("tensors overlap or leave a hole");
    covered = end;
  }
  if (covered != buffer_bytes) throw SafetensorsError("the file is truncated or has bytes left over");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t buffer_bytes) {
  if (!text.starts_with('{')) throw SafetensorsError("the header is no JSON object");
  HeaderParser parser;
  json::sax_parse(text, &parser);
  SafetensorsHeader header = parser.take();
  check_layout(header.tensors, buffer_bytes);
  return header;
}

}  // namespace podium

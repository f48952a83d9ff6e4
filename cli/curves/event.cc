#include "cli/curves/event.h"

#include <cmath>
#include <limits>

#include "cli/curves/tensor.h"
#include "cli/curves/wire.h"

namespace podium::cli {
namespace {

// Numbers of the fields.
namespace event {
constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
}
namespace session {
constexpr int status = 1, starts = 1;
}
namespace value {
constexpr int tag = 1, simple_value = 2, tensor = 8, metadata = 9;
}
namespace metadata {
constexpr int plugin_data = 1, data_class = 4, scalar = 1, tensor = 2;
}
namespace plugin {
constexpr int name = 1, content = 2;
}

namespace hparam {
constexpr int start = 3;                        // of HParamsPluginData
constexpr int values = 1, group = 4, time = 5;  // of SessionStartInfo
constexpr int number = 2, text = 3, flag = 4;   // of google.protobuf.Value
}  // namespace hparam

constexpr char kScalars[] = "scalars", kHyperParameters[] = "hparams";
constexpr int kString = 7;  // DataType of a tensor

double seconds_of(std::int64_t millis) { return static_cast<double>(millis) / 1000; }

// What 32 bits cannot hold is infinite.
float to_float(double value) {
  const double largest = std::numeric_limits<float>::max();
  if (std::abs(value) > largest)
    return std::copysign(std::numeric_limits<float>::infinity(), value > 0 ? 1.F : -1.F);
  return static_cast<float>(value);
}

WireWriter begun(double wall_time, std::int64_t step) {
  WireWriter event;
  event.float64(event::wall_time, wall_time);
  if (step != 0) event.varint(event::step, static_cast<std::uint64_t>(step));
  return event;
}

std::string with_summary(WireWriter event, const WireWriter& value) {
  WireWriter summary;
  summary.bytes(1, value.text());
  event.bytes(event::summary, summary.text());
  return event.text();
}

WireWriter plugin_metadata(const char* name, std::string_view content, int data_class) {
  WireWriter data, metadata;
  data.bytes(plugin::name, name);
  if (!content.empty()) data.bytes(plugin::content, content);
  metadata.bytes(metadata::plugin_data, data.text());
  if (data_class != 0) metadata.varint(metadata::data_class, static_cast<std::uint64_t>(data_class));
  return metadata;
}

// google.protobuf.Value
WireWriter value_message(const HyperParameter& value) {
  WireWriter message;
  if (const double* number = std::get_if<double>(&value)) message.float64(hparam::number, *number);
  if (const std::string* text = std::get_if<std::string>(&value)) message.bytes(hparam::text, *text);
  if (const bool* flag = std::get_if<bool>(&value)) message.varint(hparam::flag, *flag ? 1 : 0);
  return message;
}

struct Plugin {
  std::string name;
  std::string_view content;
};

Plugin plugin_of(std::string_view metadata, bool& ok) {
  Plugin plugin;
  WireReader field(metadata);
  while (field.next()) {
    if (field.is(metadata::data_class, WireType::varint) && field.varint() == metadata::scalar)
      plugin.name = kScalars;
    if (!field.is(metadata::plugin_data, WireType::bytes)) continue;
    WireReader data(field.bytes());
    while (data.next()) {
      if (data.is(plugin::name, WireType::bytes)) plugin.name = data.bytes();
      if (data.is(plugin::content, WireType::bytes)) plugin.content = data.bytes();
    }
    ok = ok && data.ok();
  }
  ok = ok && field.ok();
  return plugin;
}

// One entry of a map of google.protobuf.Value.
void add_parameter(std::string_view entry, HyperParameters& parameters, bool& ok) {
  std::string name;
  std::string_view message;
  WireReader field(entry);
  while (field.next()) {
    if (field.is(1, WireType::bytes)) name = field.bytes();
    if (field.is(2, WireType::bytes)) message = field.bytes();
  }
  WireReader value(message);
  while (value.next()) {
    if (value.is(hparam::number, WireType::fixed64)) parameters.emplace_back(name, value.float64());
    if (value.is(hparam::text, WireType::bytes)) parameters.emplace_back(name, std::string(value.bytes()));
    if (value.is(hparam::flag, WireType::varint)) parameters.emplace_back(name, value.varint() != 0);
  }
  ok = ok && field.ok() && value.ok();
}

// HParamsPluginData
void add_parameters(std::string_view content, HyperParameters& parameters, bool& ok) {
  WireReader data(content);
  while (data.next()) {
    if (!data.is(hparam::start, WireType::bytes)) continue;
    WireReader start(data.bytes());
    while (start.next())
      if (start.is(hparam::values, WireType::bytes)) add_parameter(start.bytes(), parameters, ok);
    ok = ok && start.ok();
  }
  ok = ok && data.ok();
}

}  // namespace

std::string version_event(double wall_time) {
  WireWriter event = begun(wall_time, 0);
  event.bytes(event::file_version, "brain.Event:2");
  return event.text();
}

std::string scalar_event(const std::string& tag, const CurvePoint& point) {
  WireWriter value;
  value.bytes(value::tag, tag);
  value.float32(value::simple_value, to_float(point.value));
  return with_summary(begun(seconds_of(point.time_ms), point.step), value);
}

std::string text_event(const std::string& tag, std::string_view text, std::int64_t time_ms) {
  WireWriter tensor, value;
  tensor.varint(1, kString);
  tensor.bytes(2, "");  // no dimensions
  tensor.bytes(8, text);
  value.bytes(value::tag, tag);
  value.bytes(value::tensor, tensor.text());
  value.bytes(value::metadata, plugin_metadata("text", "", metadata::tensor).text());
  return with_summary(begun(seconds_of(time_ms), 0), value);
}

std::string hyperparameters_event(const std::string& run, const HyperParameters& values,
                                  std::int64_t time_ms) {
  WireWriter start, content, value;
  for (const auto& [name, each] : values) {
    WireWriter entry;
    entry.bytes(1, name);
    entry.bytes(2, value_message(each).text());
    start.bytes(hparam::values, entry.text());
  }
  start.bytes(hparam::group, run);
  start.float64(hparam::time, seconds_of(time_ms));
  content.bytes(hparam::start, start.text());
  value.bytes(value::tag, "_hparams_/session_start_info");
  value.bytes(value::metadata, plugin_metadata(kHyperParameters, content.text(), 0).text());
  return with_summary(begun(seconds_of(time_ms), 0), value);
}

std::optional<Event> EventReader::read(std::string_view message) {
  Event event;
  WireReader field(message);
  while (field.next()) {
    if (field.is(event::wall_time, WireType::fixed64)) event.wall_time = field.float64();
    if (field.is(event::step, WireType::varint)) event.step = static_cast<std::int64_t>(field.varint());
    if (field.is(event::file_version, WireType::bytes)) event.file_version = field.bytes();
    if (field.is(event::session_log, WireType::bytes)) {
      WireReader log(field.bytes());
      while (log.next())
        if (log.is(session::status, WireType::varint)) event.session_starts = log.varint() == session::starts;
      if (!log.ok()) return std::nullopt;
    }
    if (field.is(event::summary, WireType::bytes) && !read_summary(field.bytes(), event)) return std::nullopt;
  }
  if (!field.ok()) return std::nullopt;
  return event;
}

bool EventReader::read_summary(std::string_view summary, Event& event) {
  WireReader field(summary);
  while (field.next())
    if (field.is(1, WireType::bytes) && !read_value(field.bytes(), event)) return false;
  return field.ok();
}

bool EventReader::read_value(std::string_view message, Event& event) {
  std::string tag;
  std::optional<double> number;
  Plugin plugin;
  bool ok = true, is_tensor = false;
  WireReader field(message);
  while (ok && field.next()) {
    if (field.is(value::tag, WireType::bytes)) tag = field.bytes();
    if (field.is(value::simple_value, WireType::fixed32)) number = field.float32();
    if (field.is(value::metadata, WireType::bytes)) plugin = plugin_of(field.bytes(), ok);
    if (!field.is(value::tensor, WireType::bytes)) continue;
    const Tensor tensor = read_tensor(field.bytes());
    ok = ok && tensor.ok;
    is_tensor = true;
    number = tensor.number;
  }
  if (plugin.name == kHyperParameters) add_parameters(plugin.content, event.parameters, ok);
  if (!ok || !field.ok()) return false;
  if (plugin.name == kScalars) scalar_tensors_.insert(tag);
  if (number && (!is_tensor || scalar_tensors_.contains(tag)))
    event.scalars.push_back({std::move(tag), *number});
  else if (plugin.name != kHyperParameters)
    event.others.push_back(std::move(tag));
  return true;
}

}  // namespace podium::cli

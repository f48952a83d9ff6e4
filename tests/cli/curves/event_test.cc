// TensorBoard's messages: what is written reads back, both forms of a scalar in every type of number, and
// messages that hostile files hold. tests/cli/event_reader.py reads what is written, too, on its own.
#include "cli/curves/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "cli/curves/tensor.h"
#include "cli/curves/wire.h"

namespace podium::cli {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

TEST(Event, VersionIsTheFirstRecordOfEveryFile) {
  EXPECT_EQ(version_event(0),
            "\x09\0\0\0\0\0\0\0\0\x1a\x0d"
            "brain.Event:2"s);
  EXPECT_EQ(EventReader().read(version_event(1.5))->file_version, "brain.Event:2");
}

TEST(Event, ScalarIsWrittenAsTensorFlowWritesIt) {
  // wall_time 1.5, step 300, summary { value { tag: "a" simple_value: 0.5 } }
  EXPECT_EQ(scalar_event("a", {300, 1500, 0.5}),
            "\x09\0\0\0\0\0\0\xf8\x3f"
            "\x10\xac\x02"
            "\x2a\x0a\x0a\x08\x0a\x01"
            "a"
            "\x15\0\0\0\x3f"s);
}

TEST(Event, ScalarReadsBack) {
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{-5}, INT64_MAX})
    for (const double value : {0.5, HUGE_VAL, -HUGE_VAL}) {
      const auto event = EventReader().read(scalar_event("train/loss", {step, 1700000000250, value}));
      ASSERT_TRUE(event);
      EXPECT_EQ(event->step, step);
      EXPECT_EQ(event->wall_time, 1700000000.25);
      ASSERT_EQ(event->scalars.size(), 1u);
      EXPECT_EQ(event->scalars[0].tag, "train/loss");
      EXPECT_EQ(event->scalars[0].value, value);
    }
}

TEST(Event, ScalarBeyondFloatsIsInfinite) {
  const auto value_of = [](double value) {
    return EventReader().read(scalar_event("a", {1, 1, value}))->scalars.at(0).value;
  };
  EXPECT_EQ(value_of(1e300), HUGE_VAL);
  EXPECT_EQ(value_of(-1e300), -HUGE_VAL);
  EXPECT_EQ(value_of(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isnan(value_of(NAN)));
}

TEST(Event, HyperparametersReadBack) {
  const HyperParameters values{{"lr", 0.5}, {"fp8", true}, {"task", std::string("lm")}};
  const auto event = EventReader().read(hyperparameters_event("my-run", values, 1500));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->parameters, values);
  EXPECT_TRUE(event->others.empty() && event->scalars.empty());
}

TEST(Event, TextIsNoScalar) {
  const auto event = EventReader().read(text_event("spec", "# my spec", 1500));
  ASSERT_TRUE(event);
  EXPECT_THAT(event->others, ElementsAre("spec"));
  EXPECT_TRUE(event->scalars.empty());
}

// An event with one value of a summary.
std::string event_of(const WireWriter& value) {
  WireWriter summary, event;
  summary.bytes(1, value.text());
  event.bytes(5, summary.text());
  return event.text();
}

std::string tensor_event(const std::string& tensor, const std::string& plugin) {
  WireWriter data, metadata, value;
  data.bytes(1, plugin);
  metadata.bytes(1, data.text());
  value.bytes(1, "a");
  value.bytes(8, tensor);
  if (!plugin.empty()) value.bytes(9, metadata.text());
  return event_of(value);
}

std::string float_tensor(float number) {
  WireWriter tensor;
  tensor.varint(1, 1);
  tensor.bytes(2, "");
  tensor.float32(5, number);
  return tensor.text();
}

TEST(Event, TensorIsAScalarWhereTheFirstOfItsTagSaysSo) {
  EventReader reader;
  EXPECT_TRUE(reader.read(tensor_event(float_tensor(1), ""))->scalars.empty());
  EXPECT_EQ(reader.read(tensor_event(float_tensor(2), "scalars"))->scalars.at(0).value, 2);
  EXPECT_EQ(reader.read(tensor_event(float_tensor(3), ""))->scalars.at(0).value, 3);
  EXPECT_TRUE(EventReader().read(tensor_event(float_tensor(4), "pr_curves"))->scalars.empty());
}

TEST(Event, DataClassSaysWhatIsAScalar) {
  for (const std::uint64_t data_class : {1, 2}) {
    WireWriter metadata, value;
    metadata.varint(4, data_class);
    value.bytes(1, "a");
    value.bytes(8, float_tensor(1));
    value.bytes(9, metadata.text());
    EXPECT_EQ(EventReader().read(event_of(value))->scalars.size(), data_class == 1 ? 1u : 0u);
  }
}

TEST(Event, MalformedPartsMakeTheWholeMalformed) {
  const std::string torn = "\x0a\x7f";  // 127 bytes that do not follow
  EXPECT_FALSE(EventReader().read(tensor_event(torn, "scalars"))) << "the tensor";
  for (const int part : {1, 2}) {  // the plugin's data, and HParamsPluginData within it
    WireWriter data, metadata, value;
    data.bytes(1, "hparams");
    data.bytes(2, torn);
    metadata.bytes(1, part == 1 ? torn : data.text());
    value.bytes(1, "a");
    value.bytes(9, metadata.text());
    EXPECT_FALSE(EventReader().read(event_of(value))) << part;
  }
  for (const int number : {5, 7}) {  // the summary, the session log
    WireWriter event;
    event.bytes(number, torn);
    EXPECT_FALSE(EventReader().read(event.text())) << number;
  }
}

TEST(Event, SessionStart) {
  const auto event_with_status = [](std::uint64_t status) {
    WireWriter log, event;
    log.varint(1, status);
    event.varint(2, 40);
    event.bytes(7, log.text());
    return *EventReader().read(event.text());
  };
  EXPECT_TRUE(event_with_status(1).session_starts);
  EXPECT_FALSE(event_with_status(2).session_starts);
  EXPECT_EQ(event_with_status(1).step, 40);
}

TEST(Event, NoPrefixOfAMessageAndNoChangedByteBreaksTheReader) {
  for (const std::string& message :
       {scalar_event("train/loss", {300, 1500, 0.5}), hyperparameters_event("r", {{"lr", 0.5}}, 1),
        tensor_event(float_tensor(1), "scalars"), text_event("spec", "text", 1)}) {
    for (std::size_t size = 0; size < message.size(); ++size) EventReader().read(message.substr(0, size));
    EXPECT_FALSE(EventReader().read(message.substr(0, message.size() - 1)));
    for (std::size_t at = 0; at < message.size(); ++at)
      for (const int bit : {1, 4, 128}) {
        std::string changed = message;
        changed[at] = static_cast<char>(changed[at] ^ bit);
        EventReader().read(changed);
      }
  }
}

std::optional<double> number_of(std::uint64_t type, int field, std::uint64_t varint) {
  WireWriter tensor;
  tensor.varint(1, type);
  tensor.varint(field, varint);
  return read_tensor(tensor.text()).number;
}

std::optional<double> content_of(std::uint64_t type, const std::string& content) {
  WireWriter tensor;
  tensor.varint(1, type);
  tensor.bytes(4, content);
  return read_tensor(tensor.text()).number;
}

TEST(Tensor, NumbersOfEveryType) {
  EXPECT_EQ(number_of(3, 7, static_cast<std::uint64_t>(-2)), -2) << "int32";
  EXPECT_EQ(number_of(4, 7, 200), 200) << "uint8";
  EXPECT_EQ(number_of(5, 7, static_cast<std::uint64_t>(-300)), -300) << "int16";
  EXPECT_EQ(number_of(6, 7, static_cast<std::uint64_t>(-3)), -3) << "int8";
  EXPECT_EQ(number_of(9, 10, static_cast<std::uint64_t>(-4)), -4) << "int64";
  EXPECT_EQ(number_of(10, 11, 1), 1) << "bool";
  EXPECT_EQ(number_of(14, 13, 0x4049), 3.140625) << "bfloat16";
  EXPECT_EQ(number_of(19, 13, 0x4248), 3.140625) << "float16";
  EXPECT_EQ(number_of(19, 13, 0xc000), -2);
  EXPECT_EQ(number_of(19, 13, 1), std::ldexp(1, -24));
  EXPECT_EQ(number_of(19, 13, 0xfc00), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(*number_of(19, 13, 0x7e00)));
  EXPECT_EQ(number_of(22, 16, 4'000'000'000), 4e9) << "uint32";
  EXPECT_EQ(number_of(23, 17, UINT64_MAX), 18446744073709551616.0) << "uint64";
  EXPECT_EQ(content_of(2, "\0\0\0\0\0\0\xf8\x3f"s), 1.5) << "double";
  EXPECT_EQ(content_of(1, "\0\0\xc0\x3f"s), 1.5) << "float";
  EXPECT_EQ(content_of(3, "\xfe\xff\xff\xff"s), -2) << "int32";
  EXPECT_EQ(content_of(14, "\x49\x40"s), 3.140625) << "bfloat16";
  EXPECT_EQ(content_of(6, "\xfd"s), -3) << "int8";
}

TEST(Tensor, ManyNumbersTextAndBrokenOnesAreNoNumber) {
  EXPECT_FALSE(content_of(1, "\0\0\xc0\x3f\0\0\xc0\x3f"s)) << "two";
  EXPECT_FALSE(content_of(7, "text")) << "a string";
  EXPECT_FALSE(content_of(0, "abcd")) << "no type";
  EXPECT_EQ(number_of(9, 99, 1), 0) << "no value is zero";
  WireWriter packed;
  packed.varint(1, 1);
  packed.bytes(5, "\0\0\xc0\x3f"s);
  EXPECT_EQ(read_tensor(packed.text()).number, 1.5);
  packed.bytes(5, "\0\0\xc0\x3f"s);
  EXPECT_FALSE(read_tensor(packed.text()).number) << "two";
  packed.bytes(5, "\0"s);
  EXPECT_FALSE(read_tensor(packed.text()).ok) << "a number of one byte";
  WireWriter varints;
  varints.varint(1, 9);
  varints.bytes(10, "\x85\x01"s);
  EXPECT_EQ(read_tensor(varints.text()).number, 133);
  varints.bytes(10, "\x85"s);
  EXPECT_FALSE(read_tensor(varints.text()).ok);
}

TEST(Tensor, ShapeOfOneNumber) {
  for (const std::uint64_t size : {1, 2}) {
    WireWriter dimension, shape, tensor;
    dimension.varint(1, size);
    shape.bytes(2, dimension.text());
    tensor.varint(1, 1);
    tensor.bytes(2, shape.text());
    tensor.float32(5, 1);
    EXPECT_EQ(read_tensor(tensor.text()).number.has_value(), size == 1);
  }
}

}  // namespace
}  // namespace podium::cli

#include "worker/train/product_timing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "worker/ops/backend.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kRehearsed = 8;  // micro-batches

// Every rank's text, in rank order. Collective.
std::vector<std::string> all_texts(Communicator& world, const std::string& own) {
  const auto ranks = static_cast<std::size_t>(world.size());
  std::vector<std::int64_t> sizes(ranks);
  const auto size = static_cast<std::int64_t>(own.size());
  world.all_gather(std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(sizes))).get();
  const auto most = static_cast<std::size_t>(*std::ranges::max_element(sizes));
  std::string padded = own, all(ranks * most, ' ');
  padded.resize(most, ' ');
  world.all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all))).get();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ranks; ++i)
    texts.push_back(all.substr(i * most, static_cast<std::size_t>(sizes[i])));
  return texts;
}

std::string device_text(const json& device) {
  return fmt::format("{} ({}) and {}", device.at("device").get<std::string>(),
                     device.at("architecture").get<std::string>(), device.at("library").get<std::string>());
}

bool is_timed(const json& choice) { return choice.at("first_ms") != 0; }

// Of each product the choice of the lowest rank that has timed it, else of the lowest that met it.
json merged(const std::vector<std::string>& choices) {
  json all = json::array();
  std::set<std::string> known;
  for (const bool timed : {true, false})
    for (const std::string& text : choices)
      for (const json& choice : json::parse(text))
        if ((is_timed(choice) || !timed) && known.insert(choice.at("product").dump()).second)
          all.push_back(choice);
  return all;
}

std::string describe_gain(const json& choices) {
  const auto goes_elsewhere = [](const json& choice) { return choice.at("ms") != choice.at("first_ms"); };
  return fmt::format("{} of {} were timed, and {} go another way than cuBLASLt's first",
                     std::ranges::count_if(choices, is_timed), choices.size(),
                     std::ranges::count_if(choices, goes_elsewhere));
}

}  // namespace

ProductTiming::ProductTiming(Context& context, Communicator& world, const ParallelLayout& layout, bool wanted)
    : context_(context),
      world_(world),
      most_seconds_(kMostSeconds / layout.pipeline),
      wanted_(wanted && ops::backend(context).choose_products != nullptr) {}

json ProductTiming::of_this_device() const {
  const DeviceDescription& device = context_.memory.device->description();
  return {{"library", ops::backend(context_).product_library(context_)},
          {"device", device.name},
          {"architecture", device.architecture}};
}

std::vector<ProductNote> ProductTiming::take_over(const json& record) {
  record_ = nullptr;
  if (!wanted_) {
    if (record.is_null()) return {};
    return {
        {"warning",
         "the checkpoint's products were chosen by time and this run's are not (training.timed_products, or "
         "no GPU): it goes on to rounding, not to the bit"}};
  }
  const json here = of_this_device();
  for (const std::string& other : all_texts(world_, here.dump())) {
    if (other == here.dump()) continue;
    wanted_ = false;
    return {{"warning", fmt::format("products are not timed, for the ranks' devices differ: {}, and {}",
                                    device_text(here), device_text(json::parse(other)))}};
  }
  if (record.is_null()) return {};
  try {
    json there = record;
    there.erase("timed");
    there.erase("choices");
    if (there != here)
      return {
          {"warning", fmt::format("the checkpoint's products were chosen for {}, and this is {}: they are "
                                  "chosen anew, and it goes on to rounding, not to the bit",
                                  device_text(there), device_text(here))}};
    const auto timed = record.at("timed").get<std::vector<std::string>>();
    ops::backend(context_).choose_products(context_, record.at("choices"));
    record_ = record;
    return {{"info",
             fmt::format("{} products are computed as the checkpoint says", record.at("choices").size())}};
  } catch (const std::exception& error) {
    return {
        {"warning", fmt::format("what the checkpoint says of the products' algorithms cannot be read ({}): "
                                "they are chosen anew, and it goes on to rounding, not to the bit",
                                error.what())}};
  }
}

bool ProductTiming::wants(const std::string& shapes) const {
  if (!wanted_) return false;
  if (record_.is_null()) return true;
  const json& timed = record_.at("timed");
  return std::ranges::find(timed, json(shapes)) == timed.end();
}

std::string ProductTiming::choose(const std::string& shapes, const std::function<void()>& rehearse) {
  const auto begin = std::chrono::steady_clock::now();
  const bool recordings = std::exchange(context_.recordings, false);
  ops::backend(context_).begin_timing_products(context_, most_seconds_);
  rehearse();
  const json own = ops::backend(context_).end_timing_products(context_);
  const json choices = merged(all_texts(world_, own.dump()));
  ops::backend(context_).choose_products(context_, choices);
  rehearse();  // what another rank chose is done here once before it is recorded
  context_.recordings = recordings;
  if (record_.is_null()) {
    record_ = of_this_device();
    record_["timed"] = record_["choices"] = json::array();
  }
  record_["timed"].push_back(shapes);
  record_["choices"].insert(record_["choices"].end(), choices.begin(), choices.end());
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  return fmt::format("timed the products of {} in {:.1f} s: {}", shapes, duration.count(),
                     describe_gain(choices));
}

std::string shapes_of(const TrainingPhase& phase, const JobSpec& spec, const ParallelLayout& layout) {
  return fmt::format("phase {}, {} x {} tokens{}, tensor {} x pipeline {}", phase.index + 1,
                     phase.training.batch.micro, phase.training.sequence_length,
                     spec.training.unpadded ? " without padding" : "", layout.tensor, layout.pipeline);
}

std::span<const MicroBatch> rehearsed(std::span<const MicroBatch> batches, const ParallelLayout& layout) {
  const auto stages = static_cast<std::size_t>(layout.pipeline);
  const std::size_t most = std::max(kRehearsed / stages, std::size_t{1}) * stages;
  return batches.first(std::min(batches.size(), most));
}

}  // namespace podium

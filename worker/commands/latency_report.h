// What podium-worker latency prints: a row for each shape, and figures that others published beside those of
// the same model and shape.
#pragma once

#include <string>
#include <vector>

#include "common/model/spec.h"
#include "common/spec/published.h"
#include "worker/infer/bert_session.h"
#include "worker/infer/latency.h"

namespace podium {

struct MeasuredLatency {
  std::string model, device, precision;
  bool sparse = false;
  SessionShape shape;
  int warmup = 0, repeats = 0;
  Latency latency;
};

// "1,8x128,384": every number of sequences with every length. Throws Failure(bad_spec) on other text.
std::vector<SessionShape> shapes_from(const std::string& text);

// Of one sequence of 128 tokens, the only shape that latencies are published for; else none.
std::vector<PublishedRow> published_latencies(const ModelSpec& model, const SessionShape& shape);

std::string latency_json(const MeasuredLatency& measured, const std::vector<PublishedRow>& published);

// The table's head, which tells what all rows have in common, its rows, and what follows it.
std::string latency_heading(const MeasuredLatency& measured);
std::string latency_row(const MeasuredLatency& measured);
std::string published_text(const std::vector<PublishedRow>& published);

}  // namespace podium

#include "common/model/worker_event.h"

#include "common/base/overloaded.h"
#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<WorkerPhase, 5> kPhases{{{WorkerPhase::rendezvous, "rendezvous"},
                                             {WorkerPhase::loading, "loading"},
                                             {WorkerPhase::stepping, "stepping"},
                                             {WorkerPhase::evaluating, "evaluating"},
                                             {WorkerPhase::checkpointing, "checkpointing"}}};

}  // namespace

std::string_view to_string(WorkerPhase phase) { return enum_name(kPhases, phase); }

json to_json(const WorkerEvent& event) {
  json out = std::visit(Overloaded{
                            [](const StartedEvent& e) -> json {
                              json started{{"type", "started"},
                                           {"step", e.step},
                                           {"steps", e.steps},
                                           {"parameters", e.parameters},
                                           {"device", e.device}};
                              if (e.text) started["text"] = to_json(*e.text);
                              if (e.origin) started["origin"] = to_json(*e.origin);
                              return started;
                            },
                            [](const MetricsEvent& e) -> json {
                              json values = json::object();
                              for (const auto& [name, value] : e.values) values[name] = number_to_json(value);
                              return {{"type", "metrics"}, {"step", e.step}, {"values", std::move(values)}};
                            },
                            [](const CheckpointEvent& e) -> json {
                              json saved{{"type", "checkpoint"},
                                         {"step", e.step},
                                         {"path", e.path},
                                         {"bytes", e.bytes},
                                         {"seconds", e.seconds}};
                              if (e.best)
                                saved["best"] = {{"metric", e.best->metric}, {"value", e.best->value}};
                              if (e.again) saved["again"] = true;
                              return saved;
                            },
                            [](const TargetEvent& e) -> json {
                              return {{"type", "target"},
                                      {"step", e.step},
                                      {"metric", e.metric},
                                      {"value", number_to_json(e.value)}};
                            },
                            [](const NoteEvent& e) -> json {
                              return {{"type", "note"}, {"level", e.level}, {"message", e.message}};
                            },
                            [](const FinishedEvent& e) -> json {
                              return {{"type", "finished"}, {"step", e.step}, {"status", e.status}};
                            },
                            [](const PhaseEvent& e) -> json {
                              json phase{{"type", "phase"}, {"phase", to_string(e.phase)}};
                              if (e.step) phase["step"] = *e.step;
                              return phase;
                            },
                        },
                        event.body);
  out["t"] = to_millis(event.time);
  return out;
}

WorkerEvent worker_event_from_json(const json& in) {
  WorkerEvent event{from_millis(in.at("t").get<std::int64_t>()), {}};
  const auto& type = in.at("type").get_ref<const std::string&>();
  if (type == "metrics") {
    MetricsEvent metrics{in.at("step"), {}};
    for (const auto& [name, value] : in.at("values").items())
      metrics.values.emplace_back(name, number_from_json(value));
    event.body = std::move(metrics);
  } else if (type == "started") {
    StartedEvent started{in.at("step"), in.at("steps"), in.value("parameters", std::int64_t{0}),
                         in.value("device", "")};
    if (const auto text = in.find("text"); text != in.end() && text->is_object())
      started.text = text_identity_from_json(*text);
    if (const auto origin = in.find("origin"); origin != in.end() && origin->is_object())
      started.origin = origin_from_json(*origin);
    event.body = std::move(started);
  } else if (type == "checkpoint") {
    CheckpointEvent saved{in.at("step"), in.at("path"), in.value("bytes", std::int64_t{0}),
                          in.value("seconds", 0.0)};
    if (const auto best = in.find("best"); best != in.end() && best->is_object())
      saved.best = {best->at("metric"), best->at("value")};
    saved.again = in.value("again", false);
    event.body = std::move(saved);
  } else if (type == "target") {
    event.body = TargetEvent{in.at("step"), in.at("metric"), number_from_json(in.at("value"))};
  } else if (type == "note") {
    event.body = NoteEvent{in.at("level"), in.at("message")};
  } else if (type == "finished") {
    event.body = FinishedEvent{in.at("step"), in.at("status")};
  } else if (type == "phase") {
    PhaseEvent phase{enum_value(kPhases, in.at("phase").get<std::string>(), "phase"), {}};
    if (const auto step = in.find("step"); step != in.end()) phase.step = step->get<std::int64_t>();
    event.body = phase;
  } else {
    throw std::invalid_argument("unknown event type \"" + type + "\"");
  }
  return event;
}

}  // namespace podium

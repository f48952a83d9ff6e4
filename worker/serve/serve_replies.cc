#include "worker/serve/serve_replies.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "common/net/problem.h"
#include "common/net/prometheus_text.h"
#include "worker/serve/endpoint.h"

namespace podium {
namespace {

using nlohmann::json;
using Figures = ServeMeter::Figures;

ServerReply reply_of(std::string type, std::string body) {
  ServerReply reply;
  reply.headers.set("Content-Type", std::move(type));
  reply.headers.set("Cache-Control", "no-store");
  reply.body = std::move(body);
  return reply;
}

struct Told {
  std::string name;
  const ModelRegistry::Entry* entry;
  Figures figures;
};

void tell_histograms(PrometheusText& page, const std::vector<Told>& models) {
  struct Family {
    const char *name, *help;
    Histogram Figures::*histogram;
  };
  const Family families[] = {
      {"podium_serve_queue_duration_seconds",
       "Time from a request's arrival until a sequence of it is computed.", &Figures::waited},
      {"podium_serve_compute_duration_seconds", "Time in which a batch is computed.", &Figures::computed},
      {"podium_serve_request_duration_seconds", "Time from a request's arrival to its answer.",
       &Figures::whole},
      {"podium_serve_batch_sequences", "Sequences of a batch.", &Figures::batch_sequences},
      {"podium_serve_batch_tokens", "Tokens of a batch, without padding.", &Figures::batch_tokens}};
  for (const Family& family : families) {
    page.histogram(family.name, family.help);
    for (const Told& model : models) page.sample({{"model", model.name}}, model.figures.*family.histogram);
  }
}

}  // namespace

bool is_json(std::string_view content_type) {
  return equal_ignoring_case(content_type.substr(0, content_type.find_first_of("; ")), "application/json");
}

ServerReply text_reply(std::string text) { return reply_of("text/plain", std::move(text)); }
ServerReply json_reply(std::string json) { return reply_of("application/json", std::move(json)); }

ServerReply timed_out(const std::string& request_id) {
  return problem(504, "the request was not computed within its timeout; timeout_ms says how long it may take",
                 request_id);
}

// 499 is nginx's for this; only a client that has ended no more than its side of the connection sees it.
ServerReply client_left(const std::string& request_id) {
  return problem(499, "the connection was ended before the answer", request_id);
}

ServerReply model_failed(const std::string& request_id) {
  return problem(500, "the model could not compute this; the server's log says why", request_id);
}

std::string endpoint_names(const LoadedModel* model) {
  std::string names;
  for (const Endpoint& endpoint : endpoints())
    if (!model || endpoint.suits(*model)) names += (names.empty() ? "" : ", ") + std::string(endpoint.name);
  return names;
}

std::string list_models(const ModelRegistry& models) {
  json list = json::array();
  for (const auto& [name, entry] : models.entries()) {
    json told{{"name", name}, {"folder", entry.folder.string()}, {"ready", entry.model != nullptr}};
    if (entry.model) {
      const LoadedModel& loaded = entry.model->loaded();
      told["folder"] = entry.model->folder().string();
      told["precision"] = loaded.precision;
      told["max_tokens"] = entry.model->positions();
      told["hidden"] = loaded.spec.hidden;
      told["endpoints"] = json::array();
      for (const Endpoint& endpoint : endpoints())
        if (endpoint.suits(loaded)) told["endpoints"].push_back(endpoint.name);
    }
    list.push_back(std::move(told));
  }
  return json{{"models", std::move(list)}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string list_loads(const ModelRegistry& models) {
  json list = json::object();
  const auto percentiles = [](const Percentiles& of) {
    return json{{"p50", of.p50}, {"p90", of.p90}, {"p99", of.p99}};
  };
  for (const auto& [name, entry] : models.entries()) {
    const LoadFigures load = entry.meter->load();
    json told{{"requests", load.requests},
              {"requests_per_second", load.requests_per_second},
              {"failed", load.failed},
              {"waiting", entry.model ? entry.model->waiting() : 0}};
    if (load.queue_ms) told["queue_ms"] = percentiles(*load.queue_ms);
    if (load.latency_ms) told["latency_ms"] = percentiles(*load.latency_ms);
    list[name] = std::move(told);
  }
  return json{{"models", std::move(list)}}.dump();
}

ServerReply metrics_reply(const ModelRegistry& models, bool draining) {
  std::vector<Told> told;
  for (const auto& [name, entry] : models.entries()) told.push_back({name, &entry, entry.meter->figures()});
  PrometheusText page;
  page.counter("podium_serve_requests_total", "Requests by endpoint and by what became of them.");
  for (const Told& model : told)
    for (const auto& [what, count] : model.figures.requests)
      page.sample({{"model", model.name}, {"endpoint", what.first}, {"outcome", what.second}},
                  static_cast<double>(count));
  page.counter("podium_serve_model_loads_total", "How often a model was loaded.");
  for (const Told& model : told)
    page.sample({{"model", model.name}}, static_cast<double>(model.figures.loads));
  page.gauge("podium_serve_ready", "Whether the model can answer, and the server is not about to stop.");
  for (const Told& model : told)
    page.sample({{"model", model.name}}, model.entry->model && !draining ? 1 : 0);
  page.gauge("podium_serve_waiting_sequences", "Sequences in the queue.");
  for (const Told& model : told)
    page.sample({{"model", model.name}},
                model.entry->model ? static_cast<double>(model.entry->model->waiting()) : 0);
  tell_histograms(page, told);
  return reply_of("text/plain; version=0.0.4; charset=utf-8", page.text());
}

}  // namespace podium

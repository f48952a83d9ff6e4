// MLflow: what is logged to a run.
#include <set>

#include "common/model/codec.h"
#include "coordinator/api/mlflow.h"
#include "coordinator/mlflow/names.h"

namespace podium::mlflow {
namespace {

constexpr std::size_t kMostParams = 100;  // of a batch, as the next two
constexpr std::size_t kMostTags = 100;
constexpr std::size_t kMostItems = 1'000;
constexpr std::size_t kMostInputTags = 100;

RunPoint read_point(Fields& fields) {
  RunPoint point;
  point.key = fields.needed_text("key");
  point.value = fields.needed_number("value");
  point.time_ms = fields.needed_integer("timestamp");
  point.step = fields.integer("step").value_or(0);
  if (!point.key.empty()) fields.refuse_if(wrong_key("metric", point.key));
  if (point.time_ms < 0)
    fields.refuse("Got invalid timestamp " + std::to_string(point.time_ms) + " for metric '" + point.key +
                  "'. Timestamp must be a nonnegative long (64-bit integer)");
  return point;
}

KeyValue read_param(Fields& fields) {
  KeyValue param{fields.needed_text("key"), fields.text("value").value_or("")};
  if (!param.key.empty()) fields.refuse_if(wrong_key("parameter", param.key));
  fields.refuse_if(too_long("parameter value", param.value, kLongestParam));
  return param;
}

void refuse_twice(Fields& fields, const std::vector<KeyValue>& params) {
  std::set<std::string_view> keys;
  for (const KeyValue& param : params)
    if (!keys.insert(param.key).second)
      fields.refuse("Duplicate parameter keys have been submitted: '" + param.key +
                    "'. Please ensure the request contains only one param value per param key");
}

LogToRun read_batch(Fields& fields) {
  LogToRun log;
  std::vector<Fields> metrics = fields.objects("metrics", kMostBatchMetrics);
  std::vector<Fields> params = fields.objects("params", kMostParams);
  log.tags = read_tags(fields, kMostTags);
  fields.refuse_more(metrics.size() + params.size() + log.tags.size(), kMostItems,
                     "metrics, params and tags");
  if (!fields.errors().empty()) return log;
  log.points.reserve(metrics.size());
  for (Fields& one : metrics) {
    log.points.push_back(read_point(one));
    fields.refuse(one);
  }
  for (Fields& one : params) {
    log.params.push_back(read_param(one));
    fields.refuse(one);
  }
  refuse_twice(fields, log.params);
  return log;
}

// {dataset: {name, digest, …}, tags: […]} or {model_id: …}
RunInput read_input(Fields& fields, const std::string& kind) {
  RunInput input{kind, "", dump(fields.object())};
  if (kind == "model") {
    input.id = fields.needed_text("model_id");
  } else if (const auto dataset = fields.object().find("dataset");
             dataset == fields.object().end() || !dataset->is_object()) {
    fields.refuse("Missing value for required parameter 'dataset'");
  } else {
    Fields named(*dataset);
    const std::string name = named.needed_text("name"), digest = named.needed_text("digest");
    input.id = name + "\n" + digest;
    named.needed_text("source_type");
    named.needed_text("source");
    named.refuse_if(wrong_name("dataset name", name, kLongestExperimentName));
    named.refuse_if(wrong_name("dataset digest", digest, kLongestKey));
    fields.refuse(named);
  }
  for (Fields& tag : fields.objects("tags", kMostInputTags)) {
    tag.needed_text("key");
    tag.text("value");
    fields.refuse(tag);
  }
  if (std::ssize(input.body) > kLargestRunInput)
    fields.refuse("the " + kind + " has more than 256 KiB; shorten its schema or its profile");
  return input;
}

// Reads what `read` finds in the fields, and writes it.
template <class Read>
awaitable<ServerReply> log_what(Api& api, Fields fields, const Read& read) {
  RunChange change;
  change.what = read(fields);
  if (auto fault = read_run(api, fields, change.run)) return turn_down(std::move(*fault));
  return carry_out(api, std::move(change));
}

}  // namespace

awaitable<ServerReply> log_metric(Api& api, Fields fields) {
  return log_what(api, std::move(fields), [](Fields& given) {
    return LogToRun{{read_point(given)}, {}, {}};
  });
}

awaitable<ServerReply> log_parameter(Api& api, Fields fields) {
  return log_what(api, std::move(fields), [](Fields& given) {
    return LogToRun{{}, {read_param(given)}, {}};
  });
}

awaitable<ServerReply> log_batch(Api& api, Fields fields) {
  return log_what(api, std::move(fields), read_batch);
}

awaitable<ServerReply> set_tag(Api& api, Fields fields) {
  return log_what(api, std::move(fields), [](Fields& given) {
    const KeyValue tag{given.needed_text("key"), given.text("value").value_or("")};
    refuse_tag(given, tag);
    return LogToRun{{}, {}, {tag}};
  });
}

awaitable<ServerReply> delete_tag(Api& api, Fields fields) {
  return log_what(api, std::move(fields),
                  [](Fields& given) { return RemoveRunTag{given.needed_text("key")}; });
}

awaitable<ServerReply> log_inputs(Api& api, Fields fields) {
  return log_what(api, std::move(fields), [](Fields& given) {
    AddRunInputs add;
    for (const std::string kind : {"dataset", "model"})
      for (Fields& one : given.objects(kind + "s", kMostItems)) {
        add.inputs.push_back(read_input(one, kind));
        given.refuse(one);
      }
    return add;
  });
}

}  // namespace podium::mlflow

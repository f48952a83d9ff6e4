// MLflow: experiments.
#include "coordinator/api/mlflow.h"
#include "coordinator/mlflow/names.h"
#include "coordinator/mlflow/objects.h"

namespace podium::mlflow {
namespace {

constexpr std::size_t kLongestLocation = 2'000;

std::optional<Fault> read_group(Fields& fields, RunGroupId& group) {
  const std::string id = fields.needed_text("experiment_id");
  if (!fields.errors().empty()) return fault_of(fields.errors());
  const std::optional<RunGroupId> found = experiment_id(id);
  if (!found) return no_such_experiment(id);
  group = *found;
  return std::nullopt;
}

// What `change_of` makes of the group that the fields name.
template <class ChangeOf>
awaitable<ServerReply> change_group(Api& api, Fields& fields, const ChangeOf& change_of) {
  RunGroupId group;
  if (auto fault = read_group(fields, group)) return turn_down(std::move(*fault));
  RunChange change;
  change.what = change_of(group);
  if (!fields.errors().empty()) return turn_down(fault_of(fields.errors()));
  return carry_out(api, std::move(change));
}

MakeRunGroup read_new_group(Fields& fields) {
  MakeRunGroup make{fields.needed_text("name"), fields.text("artifact_location").value_or(""),
                    read_tags(fields, kMostNewTags)};
  fields.refuse_if(wrong_name("experiment name", make.name, kLongestExperimentName));
  while (make.artifacts.ends_with('/')) make.artifacts.pop_back();
  fields.refuse_if(too_long("artifact_location", make.artifacts, kLongestLocation));
  if (make.artifacts.starts_with("runs:") || make.artifacts.find_first_of("#?") != std::string::npos)
    fields.refuse("Invalid artifact_location: it must be no runs:/ URI, and have no fragment and no query");
  if ((make.artifacts + "/").find("/../") != std::string::npos)
    fields.refuse("Invalid artifact_location: it must have no '..'");
  return make;
}

awaitable<ServerReply> change_lifecycle(Api& api, Fields fields, bool deleted) {
  const auto change_of = [&](RunGroupId group) {
    if (group == kDefaultRunGroup && deleted)
      fields.refuse("Cannot delete the default experiment '0'. This is an internally reserved experiment");
    return DeleteRunGroup{group, deleted};
  };
  return change_group(api, fields, change_of);
}

awaitable<ServerReply> change_tag(Api& api, Fields fields, bool removed) {
  const auto change_of = [&](RunGroupId group) {
    SetRunGroupTag tag{group, fields.needed_text("key"), std::nullopt};
    if (removed) return tag;
    if (!tag.key.empty()) fields.refuse_if(wrong_key("experiment tag", tag.key));
    tag.value = fields.text("value").value_or("");
    fields.refuse_if(too_long("tag value", *tag.value, kLongestTag));
    return tag;
  };
  return change_group(api, fields, change_of);
}

// Whoever may ask about one run alone may ask about its experiment.
template <class Key>
awaitable<ServerReply> show_group(Api& api, Key key, std::optional<JobId> limit, Fault missing) {
  const auto query = [key, limit](Reader& reader) {
    const std::optional<RunGroup> group = reader.runs().group(key);
    const std::optional<RunInfo> own = limit ? reader.runs().info(*limit) : std::nullopt;
    const bool may = !limit || (group && own && own->group == group->id);
    return std::pair(group, may);
  };
  const auto [group, may] = co_await api.pool.read(query);
  if (!may)
    co_return refusal(
        {Code::permission_denied, "this token is a job's, which may read its own experiment alone"});
  co_return group ? json_text(experiment_json(*group)) : refusal(missing);
}

}  // namespace

std::optional<RunGroupId> experiment_id(const std::string& text) {
  const std::optional<std::int64_t> number = parse_integer(text);
  return number && *number >= 0 ? std::optional(RunGroupId{*number}) : std::nullopt;
}

Fault no_such_experiment(const std::string& id) {
  return {Code::resource_does_not_exist, "No Experiment with id=" + id.substr(0, 100) + " exists"};
}

std::string key_of(RunGroupId group) { return "mlflow experiment " + std::to_string(group.value); }

awaitable<ServerReply> create_experiment(Api& api, Fields fields) {
  RunChange change{to_millis(api.loop.now()), {}, read_new_group(fields)};
  if (!fields.errors().empty()) co_return refusal(fault_of(fields.errors()));
  const auto shared = std::make_shared<const RunChange>(std::move(change));
  const Result<std::int64_t> made = co_await api.loop.change(shared);
  if (made) co_return json_text("{\"experiment_id\":\"" + std::to_string(*made) + "\"}");
  co_return refusal(fault_of_change(made.errors()));
}

awaitable<ServerReply> get_experiment(Api& api, Fields fields) {
  RunGroupId id;
  if (auto fault = read_group(fields, id)) return turn_down(std::move(*fault));
  return show_group(api, id, fields.limit(), no_such_experiment(std::to_string(id.value)));
}

awaitable<ServerReply> get_experiment_by_name(Api& api, Fields fields) {
  std::string name = fields.needed_text("experiment_name");
  if (!fields.errors().empty()) return turn_down(fault_of(fields.errors()));
  Fault missing{Code::resource_does_not_exist,
                "Could not find experiment with name '" + name.substr(0, 500) + "'"};
  return show_group(api, std::move(name), fields.limit(), std::move(missing));
}

awaitable<ServerReply> delete_experiment(Api& api, Fields fields) {
  return change_lifecycle(api, std::move(fields), true);
}

awaitable<ServerReply> restore_experiment(Api& api, Fields fields) {
  return change_lifecycle(api, std::move(fields), false);
}

awaitable<ServerReply> update_experiment(Api& api, Fields fields) {
  RunGroupId locked;
  if (const auto fault = read_group(fields, locked)) co_return refusal(*fault);
  const KeyLock::Guard guard = co_await api.keys.acquire(key_of(locked));
  const auto change_of = [&](RunGroupId group) {
    RenameRunGroup rename{group, fields.text("new_name").value_or("")};
    fields.refuse_if(wrong_name("experiment name", rename.name, kLongestExperimentName));
    return rename;
  };
  co_return co_await change_group(api, fields, change_of);
}

awaitable<ServerReply> set_experiment_tag(Api& api, Fields fields) {
  return change_tag(api, std::move(fields), false);
}

awaitable<ServerReply> delete_experiment_tag(Api& api, Fields fields) {
  return change_tag(api, std::move(fields), true);
}

}  // namespace podium::mlflow

// MLflow: runs.
#include <array>
#include <random>

#include "common/net/token.h"
#include "coordinator/api/mlflow.h"
#include "coordinator/mlflow/names.h"
#include "coordinator/mlflow/objects.h"
#include "coordinator/mlflow/run_id.h"
#include "coordinator/store/run_words.h"

namespace podium::mlflow {
namespace {

constexpr std::int64_t kLatestTime = 253'402'300'799'999;  // the end of the year 9999, in milliseconds

// For people to tell runs apart that nobody has named.
std::string made_up_name(std::uint64_t seed) {
  static constexpr std::array kAdjectives{"able",   "brave", "calm", "deft",   "eager", "fair",
                                          "gentle", "happy", "keen", "lively", "mild",  "neat",
                                          "proud",  "quick", "rare", "swift"};
  static constexpr std::array kNouns{"ant",  "bear", "crane", "deer", "eel",  "finch", "goat",  "hare",
                                     "ibis", "jay",  "kite",  "lynx", "mole", "newt",  "otter", "perch"};
  return std::string(kAdjectives[seed % 16]) + "-" + kNouns[seed / 16 % 16] + "-" +
         std::to_string(seed / 256 % 1000);
}

std::uint64_t any_number() { return std::stoull(random_hex(7), nullptr, 16); }

KeyValue* tag_of(std::vector<KeyValue>& tags, std::string_view key) {
  const auto found = std::ranges::find(tags, key, &KeyValue::key);
  return found == tags.end() ? nullptr : &*found;
}

// The tag always says how the run is called.
void read_run_name(Fields& fields, NewRun& run) {
  run.name = fields.text("run_name").value_or("");
  if (KeyValue* const tag = tag_of(run.tags, kRunNameTag)) {
    if (!run.name.empty() && run.name != tag->value)
      fields.refuse(
          "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with different values "
          "(run_name='" +
          run.name + "', mlflow.runName='" + tag->value + "')");
    run.name = tag->value;
  } else {
    if (run.name.empty()) run.name = made_up_name(any_number());
    run.tags.push_back({kRunNameTag, run.name});
  }
  fields.refuse_if(wrong_name("run name", run.name, kLongestRunName));
}

NewRun read_new_run(Fields& fields, std::int64_t now_ms) {
  NewRun run;
  run.tags = read_tags(fields, kMostNewTags);
  read_run_name(fields, run);
  KeyValue* const user = tag_of(run.tags, "mlflow.user");
  run.user = fields.text("user_id").value_or(user ? user->value : "");
  fields.refuse_if(wrong_name("user_id", run.user, kLongestRunName));
  run.started_ms = fields.integer("start_time", 0, kLatestTime).value_or(now_ms);
  return run;
}

struct Place {
  std::optional<RunGroup> group;
  std::optional<ExperimentId> experiment;  // of its tracked runs
};

awaitable<Place> find_place(Api& api, RunGroupId group) {
  co_return co_await api.pool.read([group](Reader& reader) {
    return Place{reader.runs().group(group), reader.runs().tracked_experiment(group)};
  });
}

// The first tracked run of a group makes the experiment of all.
awaitable<Result<JobId>> begin_run(Api& api, Place place, std::shared_ptr<const NewRun> run) {
  if (place.experiment) {
    TrackRun known{place.experiment, ""};
    co_return co_await api.loop.track(std::move(known), run);
  }
  const KeyLock::Guard guard = co_await api.keys.acquire(key_of(run->group));
  place = co_await find_place(api, run->group);
  TrackRun command{place.experiment, place.group->name};
  co_return co_await api.loop.track(std::move(command), run);
}

awaitable<std::optional<Run>> read(Api& api, JobId job) {
  co_return co_await api.pool.read([job](Reader& reader) { return reader.runs().run(job); });
}

awaitable<ServerReply> change_deleted(Api& api, Fields fields, bool deleted) {
  RunChange change;
  change.what = DeleteRun{deleted};
  if (auto fault = read_run(api, fields, change.run)) return turn_down(std::move(*fault));
  return carry_out(api, std::move(change));
}

}  // namespace

awaitable<ServerReply> create_run(Api& api, Fields fields) {
  if (const auto why = api.store.refusal()) co_return refusal(fault_of({*why}));
  NewRun wanted = read_new_run(fields, to_millis(api.loop.now()));
  const std::string experiment = fields.text("experiment_id").value_or("0");
  if (!fields.errors().empty()) co_return refusal(fault_of(fields.errors()));
  const std::optional<RunGroupId> group = experiment_id(experiment);
  Place place;
  if (group) place = co_await find_place(api, *group);
  if (!place.group) co_return refusal(no_such_experiment(experiment));
  if (place.group->deleted)
    co_return refusal({Code::invalid_parameter_value, "The experiment " + experiment +
                                                          " must be in the 'active' state. Current state is "
                                                          "deleted"});
  co_await api.loop.heard();
  wanted.group = *group;
  const auto run = std::make_shared<const NewRun>(std::move(wanted));
  const Result<JobId> job = co_await begin_run(api, std::move(place), run);
  if (!job) co_return refusal(fault_of(job.errors()));
  const std::optional<Run> made = co_await read(api, *job);
  PODIUM_CHECK(made.has_value(), "a committed run can be read");
  co_return json_text(run_json(*made, cluster_of(api)));
}

awaitable<ServerReply> get_run(Api& api, Fields fields) {
  JobId job;
  if (const auto fault = read_run(api, fields, job)) co_return refusal(*fault);
  const auto query = [job, cluster = cluster_of(api)](Reader& reader) {
    const std::optional<Run> run = reader.runs().run(job);
    return run ? run_json(*run, cluster) : std::string();
  };
  std::string found = co_await api.pool.read(query);
  if (found.empty()) co_return refusal(no_such_run(run_id_of(job, cluster_of(api))));
  co_return json_text(std::move(found));
}

awaitable<ServerReply> update_run(Api& api, Fields fields) {
  RunChange change;
  UpdateRun update;
  const std::string status = fields.text("status").value_or("");
  update.state = state_of_run(status);
  if (!status.empty() && !update.state)
    fields.refuse(
        "Invalid value \"" + status.substr(0, 100) +
        "\" for parameter 'status' supplied: it must be RUNNING, SCHEDULED, FINISHED, FAILED or KILLED");
  update.ended_ms = fields.integer("end_time", 0, kLatestTime);
  update.name = fields.text("run_name");
  if (update.name && update.name->empty()) update.name.reset();
  if (update.name) fields.refuse_if(wrong_name("run name", *update.name, kLongestRunName));
  change.what = std::move(update);
  if (const auto fault = read_run(api, fields, change.run)) co_return refusal(*fault);
  const JobId job = change.run;
  ServerReply done = co_await carry_out(api, std::move(change));
  if (!done.ok()) co_return done;
  const auto info = co_await api.pool.read([job](Reader& reader) { return reader.runs().info(job); });
  PODIUM_CHECK(info.has_value(), "a run that was changed can be read");
  co_return json_text(run_info_json(*info, cluster_of(api)));
}

awaitable<ServerReply> delete_run(Api& api, Fields fields) {
  return change_deleted(api, std::move(fields), true);
}

awaitable<ServerReply> restore_run(Api& api, Fields fields) {
  return change_deleted(api, std::move(fields), false);
}

}  // namespace podium::mlflow

#include "cli/determined/leftovers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/spec/source_map.h"

namespace podium::cli {
namespace {

struct Advice {
  std::string_view pointer;
  std::string_view text;
};

constexpr std::string_view kNoContainers =
    "Podium starts programs on the nodes themselves, without containers: install what it needs there, or "
    "name "
    "podman, apptainer or the like in command";

constexpr std::array kLeft{
    Advice{"/environment/image", kNoContainers},
    Advice{"/environment/force_pull_image", kNoContainers},
    Advice{"/environment/registry_auth", kNoContainers},
    Advice{"/environment/pod_spec", kNoContainers},
    Advice{"/environment/add_capabilities", kNoContainers},
    Advice{"/environment/drop_capabilities", kNoContainers},
    Advice{"/environment/ports",
           "the program may listen on any port; MASTER_PORT is one that no other job of the node has"},
    Advice{"/environment/proxy_ports", "there is no proxy to tasks; task: serve has a gateway"},
    Advice{"/resources/shm_size", "the program has the node's own /dev/shm"},
    Advice{"/resources/devices", "the program has the node's own devices"},
    Advice{"/resources/weight",
           "an account's share weighs its jobs: podium accounts set ACCOUNT --share N, and account: ACCOUNT"},
    Advice{"/resources/max_slots",
           "an account's limit bounds what its jobs hold: podium accounts set ACCOUNT --limit gpu=N, and "
           "account: ACCOUNT"},
    Advice{"/resources/native_parallel", "one job has the devices of one experiment"},
    Advice{"/searcher/max_concurrent_trials",
           "trials start as devices are free; an account's limit bounds how many: podium accounts set "
           "ACCOUNT --limit gpu=N"},
    Advice{"/searcher/source_trial_id",
           "a program loads its own weights: copy the checkpoint to where all nodes read it, and name it in "
           "a parameter"},
    Advice{"/searcher/source_checkpoint_uuid",
           "a program loads its own weights: copy the checkpoint to where all nodes read it, and name it in "
           "a parameter"},
    Advice{"/searcher/stop_once",
           "a trial that was stopped goes on from its checkpoint where it comes among the best later"},
    Advice{"/searcher/bracket_rungs",
           "sweep.asha has one bracket; its min_steps and reduction make the rungs"},
    Advice{"/searcher/budget", "sweep.trials bounds the search"},
    Advice{"/searcher/max_time", "sweep.asha.max_steps is what a trial trains to at most"},
    Advice{"/searcher/time_metric", "sweep.asha counts the steps that the program tells the metric with"},
    Advice{"/bind_mounts",
           "without containers the program sees the nodes' own paths: write host_path where it used "
           "container_path"},
    Advice{"/checkpoint_storage",
           "a job's checkpoints lie in PODIUM_CHECKPOINTS, a folder of the cluster's shared one; the program "
           "keeps as many as it likes there"},
    Advice{"/checkpoint_policy", "the program decides when it saves, and says so in PODIUM_EVENTS"},
    Advice{"/perform_initial_validation", "the program decides when it evaluates"},
    Advice{"/scheduling_unit",
           "Podium stops a program at any time with SIGTERM, and waits 30 s for it to save"},
    Advice{"/preemption_timeout", "a program has 30 s after SIGTERM"},
    Advice{"/optimizations", "how gradients are exchanged is the program's own"},
    Advice{"/profiling", "the program profiles itself"},
    Advice{"/log_policies",
           "exit status 17 says that the job is not to be tried again, 16 that other nodes are; the program "
           "says it"},
    Advice{"/retention_policy", "podium retention set NAME --logs 90d, by the operator"},
    Advice{"/tensorboard_storage", "podium export JOB writes TensorBoard's files"},
    Advice{"/integrations", "there is no counterpart"},
    Advice{"/slurm", "Podium schedules itself, without Slurm"},
    Advice{"/pbs", "Podium schedules itself, without PBS"},
    Advice{"/debug", "there is no counterpart"},
    Advice{"/internal", "is Determined's own"},
    Advice{"/template", "a spec is whole: det template describe NAME shows what the template adds"},
    Advice{"/security", "there is no counterpart"},
};

// What the translation reads, and the sections of which every key is looked at.
constexpr std::array<std::string_view, 18> kRead{"/name",
                                                 "/description",
                                                 "/labels",
                                                 "/workspace",
                                                 "/project",
                                                 "/data",
                                                 "/entrypoint",
                                                 "/hyperparameters",
                                                 "/max_restarts",
                                                 "/records_per_epoch",
                                                 "/searcher",
                                                 "/resources",
                                                 "/environment",
                                                 "/reproducibility",
                                                 "/min_validation_period",
                                                 "/min_checkpoint_period",
                                                 "/version",
                                                 "/user"};

struct Section {
  std::string_view pointer;
  std::array<std::string_view, 12> read;
};

constexpr std::array kSections{
    Section{"/searcher",
            {"name", "metric", "smaller_is_better", "max_trials", "max_length", "mode", "divisor",
             "max_rungs", "num_rungs"}},
    Section{"/resources",
            {"slots_per_trial", "slots", "agent_label", "resource_pool", "priority", "is_single_node"}},
    Section{"/environment", {"environment_variables"}}, Section{"/reproducibility", {"experiment_seed"}}};

void note(DeterminedExperiment& experiment, const std::string& pointer, bool read) {
  const auto advice = std::ranges::find(kLeft, std::string_view(pointer), &Advice::pointer);
  if (advice != kLeft.end())
    experiment.left(pointer, std::string(advice->text));
  else if (!read)
    experiment.left(pointer, "is no key that is known here");
}

}  // namespace

void note_leftovers(DeterminedExperiment& experiment) {
  const nlohmann::json document = experiment.document();
  for (const auto& [key, value] : document.items()) {
    const std::string pointer = "/" + pointer_step(key);
    if (value.is_null()) continue;
    note(experiment, pointer, std::ranges::find(kRead, std::string_view(pointer)) != kRead.end());
    const auto section = std::ranges::find(kSections, std::string_view(pointer), &Section::pointer);
    if (section == kSections.end() || !value.is_object()) continue;
    for (const auto& [below, each] : value.items())
      if (!each.is_null())
        note(experiment, pointer + "/" + pointer_step(below),
             std::ranges::find(section->read, below) != section->read.end());
  }
}

}  // namespace podium::cli

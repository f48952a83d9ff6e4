#include "worker/commands/spec_arguments.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <system_error>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "worker/commands/number_checks.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

constexpr int kMostUnasked = 16;  // processes started without --devices

std::string read_spec_text(const std::string& path) {
  try {
    return read_file(path);
  } catch (const std::system_error& error) {
    refuse_spec(std::string("cannot read the spec: ") + error.what());
  }
}

LoadedExperiment load(const std::string& text, const std::string& file,
                      const std::vector<Override>& overrides) {
  auto loaded = load_experiment(text, file, overrides);
  if (!loaded.ok()) refuse_spec("the spec cannot be trained:\n" + describe(loaded.errors()));
  return std::move(loaded).value();
}

std::vector<Override> overrides_of(const SpecArguments& arguments, bool is_scaling) {
  std::vector<Override> overrides{{"resources.kind", arguments.gpu ? "gpu" : "cpu"},
                                  {"resources.per_node", "0"}};
  if (arguments.devices > 0 && !is_scaling)
    overrides.push_back({"resources.devices", std::to_string(arguments.devices)});
  if (arguments.tensor > 0) overrides.push_back({"parallel.tensor", std::to_string(arguments.tensor)});
  if (arguments.pipeline > 0) overrides.push_back({"parallel.pipeline", std::to_string(arguments.pipeline)});
  for (const std::string& set : arguments.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos)
      refuse_spec("--set " + set + " must read KEY=VALUE, as in training.schedule.steps=20");
    overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  return overrides;
}

// A job that starts from another's checkpoint needs a path to it here.
void check_links(const JobSpec& job, const LoadedExperiment& list) {
  if (!list.listed()) return;
  const JobLinks& links = list.links[static_cast<std::size_t>(&job - list.jobs.data())];
  if (links.init)
    refuse_spec(
        fmt::format("{} begins with the weights of {}: train that one first, and give the path of its "
                    "checkpoint by --set model.init=PATH",
                    job.name, list.jobs[*links.init].name));
  if (links.resume)
    refuse_spec(
        fmt::format("{} resumes {}, which names a job of a cluster: submit the spec to its coordinator",
                    job.name, list.jobs[*links.resume].name));
}

// The job by its name, by the number of its devices, or the first.
const JobSpec& choose(const SpecArguments& arguments, const LoadedExperiment& study) {
  const auto suits = [&](const JobSpec& job) {
    if (!arguments.job.empty() && job.name != arguments.job && job.name != study.name + "-" + arguments.job)
      return false;
    return arguments.devices == 0 || job.resources.devices == arguments.devices;
  };
  const auto found = std::find_if(study.jobs.begin(), study.jobs.end(), suits);
  if (found != study.jobs.end()) return *found;
  std::string names;
  for (const JobSpec& job : study.jobs) names += "\n  " + job.name;
  refuse_spec(fmt::format(
      "{} has no job{}{}; it has{}", arguments.file, arguments.job.empty() ? "" : " " + arguments.job,
      arguments.devices == 0 ? "" : fmt::format(" of {} devices", arguments.devices), names));
}

}  // namespace

void add_spec_arguments(CLI::App& command, SpecArguments& arguments) {
  command.add_option("spec", arguments.file, "The experiment's YAML, or its normalised JSON")->required();
  command
      .add_option("--devices", arguments.devices, "Processes to start, one a device; else as the spec says")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--gpu", arguments.gpu, "Compute on this machine's GPUs; else on its CPU");
  command.add_option("--tensor", arguments.tensor, "Tensor-parallel devices, in place of parallel.tensor")
      ->check(at_least(1));
  command.add_option("--pipeline", arguments.pipeline, "Pipeline stages, in place of parallel.pipeline")
      ->check(at_least(1));
  command
      .add_option("--set", arguments.sets,
                  "A value in place of the spec's, as in training.schedule.steps=20; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--job", arguments.job, "Which job of a study or a list; else the first")
      ->type_name("NAME");
}

JobSpec read_spec(const SpecArguments& arguments, std::vector<std::string>& notes) {
  const std::string text = read_spec_text(arguments.file);
  const LoadedExperiment written = load(text, arguments.file, {});
  const bool is_scaling = written.normalised.contains("scaling");
  const LoadedExperiment loaded = load(text, arguments.file, overrides_of(arguments, is_scaling));
  const JobSpec& job = choose(arguments, loaded);
  check_links(job, loaded);
  if (!job.command.empty())
    refuse_spec(arguments.file +
                " runs a command; podium-worker trains models only, so start the command itself");
  if (arguments.devices == 0 && job.resources.devices > kMostUnasked)
    refuse_spec(fmt::format("{} asks for {} devices; say with --devices how many processes to start here",
                            arguments.file, job.resources.devices));
  if (job.serve)
    notes.push_back(fmt::format("{} is a service; this is one replica of it", arguments.file));
  else if (loaded.jobs.size() > 1)
    notes.push_back(fmt::format("{} {} {} jobs; this is {}", arguments.file,
                                loaded.listed() ? "lists" : "is a study of", loaded.jobs.size(), job.name));
  if (written.jobs.front().resources.kind != "cpu" && !arguments.gpu)
    notes.push_back(fmt::format("{} is written for {} devices and computed on the CPU here; --gpu uses GPUs",
                                arguments.file, written.jobs.front().resources.kind));
  return job;
}

}  // namespace podium

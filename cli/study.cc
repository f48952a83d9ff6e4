// podium study: how well a study scales, its jobs, and what must be known before its figures are believed.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/print.h"
#include "cli/published_text.h"
#include "cli/table.h"
#include "cli/trials_text.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct StudyOptions {
  std::int64_t id = 0;
  std::string published;
};

std::string percent(const json& fraction) {
  return fraction.is_number() ? fmt::format("{:.1f} %", 100 * fraction.get<double>()) : "–";
}

std::string factor(const json& value) {
  return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "–";
}

std::string value_text(const json& value) {
  return value.is_number() ? human_value(value.get<double>()) : "–";
}

std::string seconds_text(const json& value) {
  return value.is_number() ? human_seconds(value.get<double>()) : "–";
}

// "312.4 (308–315)": the median, and between which half of the points lie.
std::string rate_text(const json& rate) {
  if (!rate.is_object()) return "–";
  return fmt::format("{} ({}–{})", human_value(rate.at("median")), human_value(rate.at("low")),
                     human_value(rate.at("high")));
}

std::string tera(const json& flops) {
  return flops.is_number() ? fmt::format("{:.3g}", flops.get<double>() / 1e12) : "–";
}

std::string size_name(const json& row) {
  return std::to_string(integer_field(row, "devices")) + (flag_field(row, "so_far") ? " so far" : "");
}

std::string throughput_table(const json& rows, const Terminal& terminal) {
  Table table({{"DEVICES", true},
               {"RUNS", true, false, 0, 2},
               {"SAMPLES/S", true},
               {"TOKENS/S", true, false, 0, 5},
               {"PER DEVICE", true, false, 0, 4},
               {"SPEED-UP", true},
               {"EFFICIENCY", true},
               {"TFLOP/S", true, false, 0, 3},
               {"MFU", true, false, 0, 3},
               {"EVALUATING", true, false, 0, 6},
               {"SAVING", true, false, 0, 6}});
  for (const json& row : rows)
    table.add({{size_name(row)},
               {std::to_string(row.at("jobs").size())},
               {rate_text(row.at("samples_per_second"))},
               {rate_text(row.at("tokens_per_second"))},
               {value_text(row.at("per_device"))},
               {factor(row.at("speed_up"))},
               {percent(row.at("efficiency")), Colour::bold},
               {tera(row.at("model_flops_per_second"))},
               {percent(row.at("mfu"))},
               {percent(row.at("evaluation_share"))},
               {percent(row.at("checkpoint_share"))}});
  return table.render(terminal);
}

// The identity, each factor beside the others.
std::string time_table(const json& rows, const Terminal& terminal) {
  Table table({{"DEVICES", true},
               {"TIME TO TRAIN", true},
               {"SAMPLES", true},
               {"STEPPING", true},
               {"TIME EFFICIENCY", true},
               {"= THROUGHPUT", true},
               {"× SAMPLES", true},
               {"× STEPPING", true}});
  for (const json& row : rows) {
    if (!row.at("time_to_train_seconds").is_number()) continue;
    const json& time = row.at("time_efficiency");
    const auto part = [&time](const char* key) { return time.is_object() ? time.at(key) : json(); };
    table.add({{size_name(row)},
               {seconds_text(row.at("time_to_train_seconds"))},
               {value_text(row.at("samples_to_target"))},
               {percent(row.at("stepping_share"))},
               {percent(part("efficiency")), Colour::bold},
               {factor(part("throughput"))},
               {factor(part("samples"))},
               {factor(part("stepping"))}});
  }
  return table.empty() ? "" : "\n" + table.render(terminal);
}

std::string scaling_text(const json& table, const Terminal& terminal) {
  std::string text = "\n";
  for (const auto& [path, value] : table.at("parameters").items())
    text += fmt::format("{} = {}\n", printable(path), printable(value.dump()));
  text += paint(terminal, Colour::bold, text_field(table, "sentence")) +
          (flag_field(table, "slots_share_cores") ? "; CPU slots share cores" : "") + "\n";
  const json& rows = table.at("rows");
  return rows.empty() ? text : text + "\n" + throughput_table(rows, terminal) + time_table(rows, terminal);
}

std::string members_table(const json& members, const Terminal& terminal) {
  Table table({{"JOB", true},
               {"NAME", false, true, 12},
               {"DEVICES", true},
               {"SEED", true, false, 0, 2},
               {"STATE"},
               {"RESTARTS", true, false, 0, 3},
               {"TIME TO TRAIN", true},
               {"REASON", false, true, 12, 1}});
  for (const json& member : members) {
    const std::string state = text_field(member, "state");
    table.add({{std::to_string(integer_field(member, "job"))},
               {text_field(member, "name")},
               {std::to_string(integer_field(member, "devices")) + " " + text_field(member, "kind")},
               {field(member, "seed").is_null() ? "–" : field(member, "seed").dump()},
               {state, state_colour(state)},
               {std::to_string(integer_field(member, "restarts"))},
               {seconds_text(member.at("time_to_train_seconds"))},
               {text_field(member, "reason"), Colour::dim}});
  }
  return table.render(terminal);
}

std::string study_page(const json& study, const Terminal& terminal) {
  std::string text = fmt::format("study {}: {}, {}\n", integer_field(study, "id"),
                                 printable(text_field(study, "name")), text_field(study, "state"));
  for (const json& table : study.at("tables")) text += scaling_text(table, terminal);
  const bool judged = field(study, "asha").is_object();
  text += "\n" + (judged ? trials_text(study, terminal) : members_table(study.at("members"), terminal));
  if (!study.at("warnings").empty()) text += "\n";
  for (const json& warning : study.at("warnings"))
    text += paint(terminal, Colour::yellow, "warning: ") + printable(text_field(warning, "sentence")) + "\n";
  if (!study.at("published").empty())
    text += "\npublished by others, not measured here:\n" + published_table(study.at("published"), terminal);
  return text;
}

void run_study(const StudyOptions& options, const Session& session) {
  const json reply =
      Client(session).get(fmt::format("/studies/{}", options.id), {{"published", options.published}});
  print(session.json ? reply.dump() + "\n" : study_page(reply, detect_terminal()));
}

}  // namespace

void add_study(CLI::App& app, Session& session) {
  const auto options = std::make_shared<StudyOptions>();
  CLI::App* command =
      app.add_subcommand("study", "Show a study: how well it scales or how its trials compare, and its jobs");
  must_be_experiment(command->add_option("STUDY", options->id, "The number of its experiment"))->required();
  command
      ->add_option("--published", options->published,
                   "Also the rows of this benchmark that others published, in a table of their own")
      ->type_name("BENCHMARK");
  command->footer(R"(
Rates are of the steady part of a run, the points after the first tenth of its steps; podium-worker's leave out
evaluations and checkpoints. A rate is the median, with the quartiles in brackets, over all runs of a size (seeds).
With n devices, rate r, time to train T, samples to the target S, and b the smallest size that has ended:

  PER DEVICE       r / n
  SPEED-UP         r / r_b
  EFFICIENCY       (r / n) / (r_b / n_b)
  TFLOP/S          r × FLOPs of a sample (forward and backward products of the model, without recomputation)
  MFU              of the devices' peak; for devices whose peak is known, and specs that write model.vocab
  STEPPING         S / (r T), the fraction of T that S samples take at the rate r
  TIME EFFICIENCY  (n_b T_b) / (n T) = (r / n) / (r_b / n_b) × S_b / S × STEPPING / STEPPING_b, exactly

EVALUATING and SAVING: what training waited for, as a fraction of the time that its devices were held.
Jobs that failed or were cancelled are left out; "so far": no run of that size has ended.

Of a sweep with "asha": each trial's parameters, the last rung that it has reached, and its metric there and at the rungs
before. paused: others do better so far; the trial goes on if it comes among the best. Device time: what the trials have
held, and what all of them would hold if each trained to its end at the same device time a step.

Examples:
  podium study 3
  podium study 3 --json | jq .asha.best
  podium study 3 --published bert-large-pretraining
  podium study 3 --json | jq '.tables[0].rows[] | {devices, efficiency}')");
  command->callback([options, &session] { run_study(*options, session); });
}

}  // namespace podium::cli

// podium outputs: what was collected when a job ended, and its files.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/new_file.h"
#include "cli/print.h"
#include "cli/table.h"
#include "common/model/data_path.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kMostOutputs = 100'000;

struct OutputsCall {
  std::int64_t job = 0;
  int attempt = 0;  // 0: the newest that has outputs
  std::vector<std::string> paths;
  std::string out;
  bool partial = false;
};

// Whether the path is one that was asked for, or lies in one.
bool is_wanted(const std::string& path, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::ranges::any_of(wanted, [&](std::string one) {
           while (one.ends_with('/')) one.pop_back();
           return path == one || path.starts_with(one + "/");
         });
}

std::vector<json> chosen_outputs(const json& reply, const std::vector<std::string>& paths) {
  std::vector<json> outputs;
  for (const json& output : reply.at("outputs"))
    if (is_wanted(text_field(output, "path"), paths)) outputs.push_back(output);
  return outputs;
}

std::string outputs_table(const std::vector<json>& outputs) {
  Table table({{"RANK", true}, {"SIZE", true}, {"PATH"}});
  for (const json& output : outputs)
    table.add({{std::to_string(integer_field(output, "rank"))},
               {human_bytes(integer_field(output, "bytes"))},
               {text_field(output, "path")}});
  return table.render(detect_terminal());
}

std::string summary(const json& reply, const std::vector<json>& outputs) {
  std::int64_t bytes = 0;
  for (const json& output : outputs) bytes += integer_field(output, "bytes");
  return fmt::format("{} file(s), {}, of attempt {} and {} of {} process(es), in {} of the shared folder{}\n",
                     outputs.size(), human_bytes(bytes), integer_field(reply, "attempt"),
                     reply.at("ranks").size(), integer_field(reply, "processes"), text_field(reply, "folder"),
                     reply.value("more", false) ? "; there are more" : "");
}

// What the reply says of outputs that cannot be listed; "" where they can.
std::string why_none(const json& reply) {
  if (!reply.value("available", false))
    return fmt::format(
        "This coordinator does not see the nodes' shared folder: start it with --shared, or look into {} "
        "there.\n",
        text_field(reply, "folder"));
  if (reply.at("ranks").empty())
    return "No outputs yet. They are collected when the processes of a job have ended, where its spec has "
           "outputs.\n";
  return "";
}

void download(const Client& client, const OutputsCall& call, const json& reply, const json& output,
              const fs::path& to) {
  fs::create_directories(to.parent_path());
  NewFile file(to);
  const HttpRequest request = client.request("GET", fmt::format("/jobs/{}/outputs/file", call.job),
                                             {{"attempt", std::to_string(integer_field(reply, "attempt"))},
                                              {"rank", std::to_string(integer_field(output, "rank"))},
                                              {"path", text_field(output, "path")}});
  const Duration timeout = client.timeout(Patience::usual);
  try {
    const auto on_data = [&file](std::string_view bytes) { return file.write(bytes), true; };
    require_ok(fetch_in_pieces(client.server(), request, timeout, on_data, client.options()));
  } catch (const NetError& error) {
    client.give_up(error, request, timeout);
  }
  file.finish();
}

// A part of them passes for all of them only where that is wanted.
void require_all(const json& reply, const OutputsCall& call) {
  const auto there = std::ssize(reply.at("ranks"));
  const std::int64_t all = integer_field(reply, "processes");
  if (reply.value("more", false) && !call.partial)
    throw Failure(Exit::refused,
                  fmt::format("there are more than {} outputs; copy them from {} of the shared folder",
                              kMostOutputs, text_field(reply, "folder")));
  if (there < all && !call.partial)
    throw Failure(
        Exit::refused,
        fmt::format("the outputs of {} of {} processes are collected so far; try again, or take what is "
                    "there with --partial",
                    there, all));
}

// All of them or none: in a folder of another name until they are there. Those of several processes are in a
// folder of each rank.
void download_all(const Client& client, const OutputsCall& call, const json& reply,
                  const std::vector<json>& outputs) {
  const fs::path out = call.out;
  require_free(out);
  const fs::path draft = new_folder_beside(fs::absolute(out));
  try {
    for (const json& output : outputs) {
      const std::string path = text_field(output, "path");
      if (path.empty() || path.starts_with('/') || leads_out_of_folder(path))
        throw Failure(Exit::refused,
                      fmt::format("the coordinator names an output \"{}\", which is no path below "
                                  "the outputs",
                                  path));
      const std::string rank = std::to_string(integer_field(output, "rank"));
      download(client, call, reply, output,
               integer_field(reply, "processes") > 1 ? draft / rank / path : draft / path);
    }
    move_to_free(draft, out);
  } catch (const std::exception&) {
    std::error_code gone;
    fs::remove_all(draft, gone);
    throw;
  }
}

void run_outputs(const OutputsCall& call, const Session& session) {
  const Client client(session);
  const std::string attempt = call.attempt > 0 ? std::to_string(call.attempt) : "";
  const json reply = client.get(fmt::format("/jobs/{}/outputs", call.job),
                                {{"attempt", attempt}, {"limit", std::to_string(kMostOutputs)}});
  const std::vector<json> outputs = chosen_outputs(reply, call.paths);
  const std::string none = why_none(reply);
  if (!call.out.empty()) {
    if (!none.empty()) throw Failure(Exit::refused, none.substr(0, none.size() - 1));
    require_all(reply, call);
    if (outputs.empty()) throw Failure(Exit::refused, "no output is, or lies in, what was asked for");
    download_all(client, call, reply, outputs);
  }
  if (session.json) return print(reply.dump() + "\n");
  if (!none.empty()) return print(none);
  if (call.out.empty() && !outputs.empty()) print(outputs_table(outputs));
  print(summary(reply, outputs));
}

}  // namespace

void add_outputs(CLI::App& app, Session& session) {
  const auto call = std::make_shared<OutputsCall>();
  CLI::App* command = app.add_subcommand(
      "outputs", "List the outputs that were collected when a job ended, and download them");
  add_job(*command, call->job);
  command->add_option("PATH", call->paths, "Of these files, and of those in these folders alone");
  command->add_option("--attempt", call->attempt, "Of this attempt (default: the newest that has outputs)")
      ->check(CLI::Range(1, INT32_MAX));
  command->add_option("--out", call->out, "Download them into this folder, which is made");
  command->add_flag("--partial", call->partial, "Also where the outputs of some processes are not collected");
  command->footer(R"(
What a spec's outputs name is collected when a process of the job has ended, however it ended. Those of a job of
several processes are in a folder of each rank. The outputs of the three newest attempts that left any stay.

Examples:
  podium outputs 12
  podium outputs 12 --out results
  podium outputs 12 model.pt results/plots --out best
  podium outputs 12 --json | jq -r '.outputs[].path')");
  command->callback([call, &session] { run_outputs(*call, session); });
}

}  // namespace podium::cli

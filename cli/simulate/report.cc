#include "cli/simulate/report.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <functional>

#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using Figure = std::function<double(const Summary&)>;
using Show = std::string (*)(double);

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }
std::string whole(double number) { return human_count(std::llround(number)); }
std::string plain(double number) { return human_value(number); }

std::string ratio(double value, double base) {
  return base > 0 ? fmt::format(" (×{:.3g})", value / base) : std::string();
}

void add_figure(Table& table, const std::string& title, const std::vector<SimulatedRun>& runs,
                const Figure& figure, Show show) {
  std::vector<Cell> row{{title}};
  for (const SimulatedRun& run : runs) {
    const double value = figure(run.summary);
    row.push_back({show(value) + (&run == &runs.front() ? "" : ratio(value, figure(runs.front().summary)))});
  }
  table.add(std::move(row));
}

void add_spread(Table& table, const std::string& title, const std::vector<SimulatedRun>& runs,
                Spread Summary::*spread, Show show) {
  add_figure(
      table, title + ", mean", runs, [=](const Summary& s) { return (s.*spread).mean; }, show);
  add_figure(
      table, "  median", runs, [=](const Summary& s) { return (s.*spread).p50; }, show);
  add_figure(
      table, "  90 %", runs, [=](const Summary& s) { return (s.*spread).p90; }, show);
  add_figure(
      table, "  99 %", runs, [=](const Summary& s) { return (s.*spread).p99; }, show);
}

std::vector<Column> columns_of(std::vector<Column> columns, const std::vector<SimulatedRun>& runs) {
  for (const SimulatedRun& run : runs) columns.push_back({run.name, true});
  return columns;
}

using Groups = std::vector<GroupSummary> Summary::*;

// Runs may have ended jobs of different groups.
const GroupSummary* find_group(const Summary& summary, Groups groups, const std::string& name) {
  for (const GroupSummary& group : summary.*groups)
    if (group.name == name) return &group;
  return nullptr;
}

// The whole spread of one run.
std::string spread_table(const Summary& summary, Groups groups, const std::string& title,
                         const Terminal& terminal) {
  Table table({{title, false, true},
               {"JOBS", true},
               {"TIME"},
               {"MEAN", true},
               {"MEDIAN", true},
               {"90 %", true},
               {"99 %", true}});
  const auto add = [&](const std::string& name, const std::string& jobs, const char* time, const Spread& of) {
    table.add({{name},
               {jobs},
               {time},
               {human_seconds(of.mean)},
               {human_seconds(of.p50)},
               {human_seconds(of.p90)},
               {human_seconds(of.p99)}});
  };
  for (const GroupSummary& group : summary.*groups) {
    add(group.name, human_count(static_cast<std::int64_t>(group.jobs)), "waiting", group.waiting);
    add("", "", "completion", group.completion);
  }
  return table.empty() ? "" : "\n" + table.render(terminal);
}

// The means of several, side by side.
std::string means_table(const std::vector<SimulatedRun>& runs, Groups groups, const std::string& title,
                        const Terminal& terminal) {
  Table table(columns_of({{title, false, true}, {"JOBS", true}, {"MEAN TIME"}}, runs));
  for (const GroupSummary& group : runs.front().summary.*groups) {
    std::vector<Cell> waiting{
        {group.name}, {human_count(static_cast<std::int64_t>(group.jobs))}, {"waiting"}};
    std::vector<Cell> completion{{""}, {""}, {"completion"}};
    for (const SimulatedRun& run : runs) {
      const GroupSummary* own = find_group(run.summary, groups, group.name);
      const auto cell = [&](double value, double base) {
        return Cell{human_seconds(value) + (&run == &runs.front() ? "" : ratio(value, base))};
      };
      waiting.push_back(own ? cell(own->waiting.mean, group.waiting.mean) : Cell{"–"});
      completion.push_back(own ? cell(own->completion.mean, group.completion.mean) : Cell{"–"});
    }
    table.add(std::move(waiting));
    table.add(std::move(completion));
  }
  return table.empty() ? "" : "\n" + table.render(terminal);
}

}  // namespace

std::string summary_table(const std::vector<SimulatedRun>& runs, const Terminal& terminal) {
  Table table(columns_of({{"", false, true}}, runs));
  const auto number = [&](const std::string& title, auto member, Show show) {
    add_figure(
        table, title, runs, [member](const Summary& s) { return static_cast<double>(s.*member); }, show);
  };
  number("devices", &Summary::devices, whole);
  number("jobs that succeeded", &Summary::succeeded, whole);
  number("  ran out of walltime", &Summary::failed, whole);
  number("  never fit the cluster", &Summary::refused, whole);
  number("  not over at the end", &Summary::unfinished, whole);
  add_spread(table, "completion time", runs, &Summary::completion, human_seconds);
  add_spread(table, "waiting time", runs, &Summary::waiting, human_seconds);
  add_spread(table, "bounded slowdown", runs, &Summary::slowdown, plain);
  number("makespan", &Summary::makespan, human_seconds);
  number("utilisation", &Summary::utilisation, percent);
  number("  until the last submission", &Summary::utilisation_submitting, percent);
  number("idle though a gang would fit", &Summary::idle_though_fitting, percent);
  number("preemptions", &Summary::preemptions, whole);
  number("device time run again", &Summary::lost, percent);
  return table.render(terminal);
}

std::string group_tables(const std::vector<SimulatedRun>& runs, const std::string& owner,
                         const Terminal& terminal) {
  const auto table = [&](Groups groups, const std::string& title) {
    return runs.size() == 1 ? spread_table(runs.front().summary, groups, title, terminal)
                            : means_table(runs, groups, title, terminal);
  };
  return table(&Summary::by_size, "GANG") + table(&Summary::by_owner, owner);
}

}  // namespace podium::cli

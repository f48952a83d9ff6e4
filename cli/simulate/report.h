// What `podium simulate` tells people: tables with the runs side by side, and small plots. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/simulate/summary.h"
#include "cli/terminal.h"

namespace podium::cli {

// One simulated run.
struct SimulatedRun {
  std::string name;  // "fifo", "fifo +4 nodes"
  Replay replay;
  Summary summary;
};

// Every figure of every run; those after the first also as a multiple of the first's.
std::string summary_table(const std::vector<SimulatedRun>& runs, const Terminal& terminal);

// Waiting and completion by gang size and by `owner` ("account" or "partition"): means and percentiles of one
// run, or the means of several.
std::string group_tables(const std::vector<SimulatedRun>& runs, const std::string& owner,
                         const Terminal& terminal);

// Utilisation and queue length over time, a line of blocks each.
std::string spark_lines(const std::vector<SimulatedRun>& runs, Time begin, int width);

// The same as a picture, for light and dark pages.
std::string svg_plot(const std::vector<SimulatedRun>& runs, Time begin);

}  // namespace podium::cli

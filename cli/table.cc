#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "common/base/check.h"

namespace podium::cli {
namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 6;

std::string aligned(const Terminal& terminal, const Column& column, const Cell& cell, int width, bool last) {
  const std::string text = shortened(cell.text, width);
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  const std::string painted = paint(terminal, cell.colour, text);
  if (column.right) return space + painted;
  return last ? painted : painted + space;
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  PODIUM_CHECK(row.size() == columns_.size(), "a table's rows have one cell a column");
  for (Cell& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

std::vector<int> Table::widths(int limit) const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  if (limit == 0) return widths;
  const int gaps = kGap * (static_cast<int>(widths.size()) - 1);
  while (std::accumulate(widths.begin(), widths.end(), gaps) > limit) {
    int* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].may_shrink && widths[i] > kNarrowest && (!widest || widths[i] > *widest))
        widest = &widths[i];
    if (!widest) break;
    --*widest;
  }
  return widths;
}

std::string Table::render(const Terminal& terminal) const {
  const std::vector<int> width = widths(terminal.width);
  std::string out;
  const auto line = [&](const auto& cell_of) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool last = i + 1 == columns_.size();
      out +=
          aligned(terminal, columns_[i], cell_of(i), width[i], last) + (last ? "\n" : std::string(kGap, ' '));
    }
  };
  line([&](std::size_t i) { return Cell{columns_[i].title, Colour::bold}; });
  for (const auto& row : rows_) line([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace podium::cli

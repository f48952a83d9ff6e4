#include "cli/table.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium::cli {
namespace {

constexpr int kGap = 2;

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

std::vector<Table::Shown> Table::fit(int limit) const {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    shown.push_back({i, width});
  }
  if (limit == 0) return shown;
  const auto least = [this](const Shown& each) {
    const Column& column = columns_[each.column];
    return column.may_shrink ? std::min(each.width, column.least) : each.width;
  };
  const auto total = [&shown](const auto& width_of) {
    int sum = -kGap;
    for (const Shown& each : shown) sum += width_of(each) + kGap;
    return sum;
  };
  const auto spare = [this](const Shown& each) { return columns_[each.column].spare; };
  while (total(least) > limit) {
    const auto first = std::ranges::max_element(shown, {}, spare);
    if (spare(*first) == 0) break;
    shown.erase(first);
  }
  while (total([](const Shown& each) { return each.width; }) > limit) {
    Shown* widest = nullptr;
    for (Shown& each : shown)
      if (each.width > least(each) && (!widest || each.width > widest->width)) widest = &each;
    if (!widest) break;
    --widest->width;
  }
  return shown;
}

std::string Table::render(const Terminal& terminal) const {
  const std::vector<Shown> shown = fit(terminal.width);
  std::string out;
  const auto line = [&](const auto& cell_of) {
    for (const Shown& each : shown) {
      const bool last = each.column == shown.back().column;
      out += aligned(terminal, columns_[each.column], cell_of(each.column), each.width, last) +
             (last ? "\n" : std::string(kGap, ' '));
    }
  };
  line([&](std::size_t i) { return Cell{columns_[i].title, Colour::bold}; });
  for (const auto& row : rows_) line([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace podium::cli

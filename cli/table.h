// Aligned columns that fit the terminal: the columns that may shrink give way, widest first; where that is
// not enough, the columns that matter least are left out.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace podium::cli {

struct Column {
  std::string title;
  bool right = false;  // numbers
  bool may_shrink = false;
  int least = 6;  // columns of text that it shrinks to
  int spare = 0;  // the highest is left out first; 0: never
};

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  std::string render(const Terminal& terminal) const;

 private:
  struct Shown {
    std::size_t column;
    int width;
  };

  std::vector<Shown> fit(int limit) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace podium::cli

// A table in a file, row after row. The ending of its name, in front of .gz or .zst where it is packed, says
// its form: .csv as RFC 4180 has it (csv_records.h); .jsonl, an object a line, whose members are the columns;
// any other columns separated by tabs, whose cells hold all but tabs and line ends, quotes included. Blank
// lines are passed over, and so is a byte order mark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

struct TableColumn {
  std::string name;
  int number = 0;  // from 1; 0: by name
};

struct TableForm {
  bool header = true;                // the first line names the columns; JSONL has none
  std::vector<TableColumn> columns;  // that are wanted
};

struct TableRow {
  std::int64_t line = 0;                // of its beginning, from 1
  std::vector<std::string_view> cells;  // of the form's columns
};

// Calls `sink` with each row, and after it `advance` with the bytes of the file that were read since the last
// call. Throws BadData, which names file and line, where the text is no UTF-8 or no such table, or lacks a
// column.
void for_each_table_row(const std::filesystem::path& file, const TableForm& form,
                        const std::function<void(const TableRow&)>& sink,
                        const std::function<void(std::uint64_t bytes)>& advance = nullptr);

// Throws BadData of a row, "FILE:LINE: why".
[[noreturn]] void refuse_row(const std::filesystem::path& file, std::int64_t line, const std::string& why);

}  // namespace podium

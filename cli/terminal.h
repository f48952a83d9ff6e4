// What standard output can do, and text made safe and short for it.
#pragma once

#include <string>
#include <string_view>

namespace podium::cli {

struct Terminal {
  bool interactive = false;  // a person watches; otherwise nothing is redrawn
  bool colour = false;       // never with NO_COLOR set or TERM=dumb
  int width = 0;             // columns; 0: no limit
};

Terminal detect_terminal();

enum class Colour { none, dim, bold, red, green, yellow, blue };

std::string paint(const Terminal& terminal, Colour colour, const std::string& text);

// The colour of a job's or node's state.
Colour state_colour(std::string_view state);

// Columns `text` takes: its characters, as nothing Podium prints is wider.
int display_width(std::string_view text);

// Control characters become "?", so that nothing a job is named or says can move the cursor.
std::string printable(std::string_view text);

// At most `width` columns, the last of them "…" when cut.
std::string shortened(const std::string& text, int width);

}  // namespace podium::cli

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace podium::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int window_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

const char* code_of(Colour colour) {
  switch (colour) {
    case Colour::none:
      return "";
    case Colour::dim:
      return "2";
    case Colour::bold:
      return "1";
    case Colour::red:
      return "31";
    case Colour::green:
      return "32";
    case Colour::yellow:
      return "33";
    case Colour::blue:
      return "34";
  }
  return "";
}

}  // namespace

Terminal detect_terminal() {
  Terminal terminal;
  terminal.interactive = isatty(STDOUT_FILENO) == 1;
  if (!terminal.interactive) return terminal;
  const char* type = std::getenv("TERM");
  terminal.colour = !is_set("NO_COLOR") && type && std::string_view(type) != "dumb";
  terminal.width = window_width();
  return terminal;
}

std::string paint(const Terminal& terminal, Colour colour, const std::string& text) {
  if (!terminal.colour || colour == Colour::none) return text;
  return std::string("\x1b[") + code_of(colour) + "m" + text + "\x1b[0m";
}

Colour state_colour(std::string_view state) {
  if (state == "succeeded" || state == "up") return Colour::green;
  if (state == "failed" || state == "lost") return Colour::red;
  if (state == "running" || state == "starting") return Colour::blue;
  if (state == "cancelled" || state == "stopped") return Colour::dim;
  return Colour::yellow;
}

int display_width(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  // U+0080 to U+009F are control characters too, C2 80 to C2 9F in UTF-8.
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    if (out[i] == '\xC2' && static_cast<unsigned char>(out[i + 1]) < 0xA0) out.replace(i, 2, "?");
  return out;
}

std::string shortened(const std::string& text, int width) {
  if (display_width(text) <= width) return text;
  std::size_t end = 0;
  for (int columns = 0; columns < width && end < text.size();) {
    do ++end;
    while (end < text.size() && is_continuation(text[end]));
    if (++columns == width - 1) break;
  }
  return width <= 1 ? "…" : text.substr(0, end) + "…";
}

}  // namespace podium::cli

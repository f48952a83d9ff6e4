// Which paths below a folder a list of globs names. Pure.
//
// * and ? stand for any characters within one name, [a-z] and [!a-z] for one of some, ** for folders: none or
// any number, or, at the end, all files in them. A name that begins with a dot is named only by a part that
// does, too. A glob that names a folder names all that is in it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

class PathPatterns {
 public:
  // How far a path has come through the globs.
  struct Place {
    std::set<std::pair<std::size_t, std::size_t>> at;  // glob, and its next part
    bool named = false;                                // the path is
    bool all = false;                                  // and so is everything below it

    bool leads_on() const { return all || !at.empty(); }  // something below may be named
  };

  explicit PathPatterns(const std::vector<std::string>& globs);

  Place top() const;
  Place below(const Place& place, std::string_view name) const;

 private:
  void reach(Place& place, std::size_t glob, std::size_t part) const;

  std::vector<std::vector<std::string>> globs_;  // by their parts
};

bool matches_glob(std::string_view pattern, std::string_view name);  // within one name

}  // namespace podium

#include "worker/data/data_files.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"

namespace podium {

namespace fs = std::filesystem;

namespace {

// NAME.json beside NAME.idx, which podium-worker prepare writes.
bool is_report(const fs::path& file) {
  return file.extension() == ".json" && fs::exists(fs::path(file).replace_extension(".idx"));
}

// What podium-worker prepare leaves until it is through; read as text it would be trained on.
void refuse_unfinished(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".part") || name.ends_with(".prepare.json"))
    throw BadData(file.string() + " is of an unfinished prepare; finish or remove it");
}

// NAME-K-of-N.bin, which podium-worker prepare --part writes, with what their reports tell.
class Parts {
 public:
  // A glob means all parts; a name may mean one.
  void add(const fs::path& file, bool chosen_by_glob) {
    static const std::regex part(R"((.*-)(\d{1,9})(-of-(\d{1,9}))\.bin)");
    std::smatch match;
    const std::string name = file.string();
    if (!std::regex_match(name, match, part)) return;
    const std::string list = list_of(file);
    if (list.empty()) return;
    Set& set = sets_.try_emplace(match[1].str() + "*" + match[3].str(), Set{file, list}).first->second;
    if (set.list != list)
      throw BadData(
          set.first.string() + " and " + name +
          " are parts of different lists of files; prepare all parts anew from the same files (--restart)");
    set.numbers.insert(std::stoul(match[2]));
    set.count = std::stoul(match[4]);
    set.chosen_by_glob |= chosen_by_glob;
  }

  void check_complete() const {
    for (const auto& [name, set] : sets_)
      for (std::size_t number = 0; set.chosen_by_glob && number < set.count; ++number)
        if (!set.numbers.contains(number))
          throw BadData("part " + std::to_string(number) + " of " + name +
                        " is missing; prepare it, or name one by one the parts to read");
  }

 private:
  struct Set {
    fs::path first;
    std::string list;
    std::set<std::size_t> numbers{};
    std::size_t count = 0;
    bool chosen_by_glob = false;
  };

  // Empty where no report tells it.
  static std::string list_of(const fs::path& file) {
    const fs::path report = fs::path(file).replace_extension(".json");
    if (!fs::exists(report)) return "";
    const auto json = nlohmann::json::parse(read_input(report), nullptr, false);
    const nlohmann::json::json_pointer list("/part/list");
    return json.contains(list) && json[list].is_string() ? json[list].get<std::string>() : "";
  }

  std::map<std::string, Set> sets_;
};

}  // namespace

std::vector<fs::path> data_files(const std::vector<std::string>& patterns, const fs::path& folder) {
  std::vector<fs::path> files;
  Parts parts;
  const auto add = [&](fs::path file, bool chosen_by_glob) {
    refuse_unfinished(file);
    if (file.extension() == ".idx") file.replace_extension(".bin");
    if (std::find(files.begin(), files.end(), file) != files.end()) return;
    parts.add(file, chosen_by_glob);
    files.push_back(std::move(file));
  };
  for (const std::string& pattern : patterns) {
    const fs::path index = folder / (pattern + ".idx");
    if (fs::exists(index)) {
      add(index, false);
    } else {
      for (fs::path& file : expand_globs({pattern}, folder))
        if (!is_report(file)) add(std::move(file), !fs::exists(folder / pattern));
    }
  }
  parts.check_complete();
  return files;
}

}  // namespace podium

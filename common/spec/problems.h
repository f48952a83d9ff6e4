// Collects the problems of one document, each with its place. A repeated problem is kept once, because the
// jobs of a study share most of their document.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/base/error.h"
#include "common/spec/source_map.h"

namespace podium {

class Problems {
 public:
  // Both must outlive this.
  Problems(std::string_view file_name, const SourceMap& places) : file_name_(file_name), places_(&places) {}

  // A problem with the value at `pointer`.
  void add(const std::string& pointer, std::string message);
  // A problem with the key at `pointer`.
  void add_key(const std::string& pointer, std::string message);
  // A problem with a missing key; its place is the key around it.
  void add_missing(const std::string& pointer, std::string message);
  void add_at(Place place, const std::string& pointer, std::string message);

  // From now on, a problem at the first pointer of a pair is placed at the second, and other problems name
  // the job: the values of a study's job stand elsewhere in the document.
  // `once`: a problem of several jobs at one place is told of the first alone.
  void turn_to_job(std::string name, std::map<std::string, std::string> redirected, bool once = false);

  // SourceMap::written of the value at `pointer`.
  const std::string* written(const std::string& pointer) const { return places_->written(placed(pointer)); }

  bool empty() const { return found_.empty(); }
  std::size_t count() const { return found_.size(); }
  std::set<std::string> pointers() const;
  Errors errors() const;  // in the order of the file

 private:
  // The pointer to show, and the message with its job.
  std::pair<std::string, std::string> told(const std::string& pointer, std::string message) const;
  std::string placed(const std::string& pointer) const;
  bool is_told(const std::string& pointer, const std::string& message);

  std::string_view file_name_;
  const SourceMap* places_;
  std::string job_;
  std::map<std::string, std::string> redirected_;
  bool once_ = false;
  std::set<std::pair<std::string, std::string>> told_once_;  // of all jobs: places and messages without a job
  std::set<std::tuple<Place, std::string, std::string>> found_;
};

// "spec.yaml:4:1"; "spec.yaml, overridden" beside the file
std::string format_place(std::string_view file_name, Place place);

}  // namespace podium

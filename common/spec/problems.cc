#include "common/spec/problems.h"

namespace podium {

std::string format_place(std::string_view file_name, Place place) {
  if (place == kBesideTheFile) return std::string(file_name) + ", overridden";
  return std::string(file_name) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

void Problems::turn_to_job(std::string name, std::map<std::string, std::string> redirected, bool once) {
  job_ = std::move(name);
  redirected_ = std::move(redirected);
  once_ = once;
}

std::string Problems::placed(const std::string& pointer) const {
  const auto found = redirected_.find(pointer);
  return found == redirected_.end() ? pointer : found->second;
}

bool Problems::is_told(const std::string& pointer, const std::string& message) {
  return once_ && !told_once_.emplace(placed(pointer), message).second;
}

std::pair<std::string, std::string> Problems::told(const std::string& pointer, std::string message) const {
  if (const auto found = redirected_.find(pointer); found != redirected_.end())
    return {found->second, message};
  return {pointer, job_.empty() ? message : message + " (in job " + job_ + ")"};
}

void Problems::add(const std::string& pointer, std::string message) {
  if (is_told(pointer, message)) return;
  const auto [target, text] = told(pointer, std::move(message));
  add_at(places_->value(target), target, text);
}

void Problems::add_key(const std::string& pointer, std::string message) {
  if (is_told(pointer, message)) return;
  const auto [target, text] = told(pointer, std::move(message));
  add_at(places_->key(target), target, text);
}

void Problems::add_missing(const std::string& pointer, std::string message) {
  const std::size_t last = pointer.rfind('/');
  const std::string around = placed(pointer.substr(0, last));
  if (is_told(pointer, message)) return;
  if (once_) message = told(pointer.substr(0, last), std::move(message)).second;
  add_at(places_->key(around), around + pointer.substr(last), std::move(message));
}

void Problems::add_at(Place place, const std::string& pointer, std::string message) {
  found_.emplace(place, pointer, std::move(message));
}

std::set<std::string> Problems::pointers() const {
  std::set<std::string> pointers;
  for (const auto& [place, pointer, message] : found_) pointers.insert(pointer);
  return pointers;
}

Errors Problems::errors() const {
  Errors errors;
  for (const auto& [place, pointer, message] : found_)
    errors.push_back({ErrorCode::invalid, message, format_place(file_name_, place), pointer});
  return errors;
}

}  // namespace podium

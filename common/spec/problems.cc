#include "common/spec/problems.h"

namespace podium {

std::string format_place(std::string_view file_name, Place place) {
  return std::string(file_name) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string Problems::target_of(const std::string& pointer) const {
  const auto found = redirected_.find(pointer);
  return found == redirected_.end() ? pointer : found->second;
}

void Problems::add(const std::string& pointer, std::string message) {
  const std::string target = target_of(pointer);
  add_at(places_->value(target), target, std::move(message));
}

void Problems::add_key(const std::string& pointer, std::string message) {
  const std::string target = target_of(pointer);
  add_at(places_->key(target), target, std::move(message));
}

void Problems::add_missing(const std::string& pointer, std::string message) {
  add_at(places_->key(pointer.substr(0, pointer.rfind('/'))), pointer, std::move(message));
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

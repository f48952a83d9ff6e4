// Bounds of options that are numbers, in words that a user can act on.
#pragma once

#include <spdlog/fmt/fmt.h>

#include <CLI/Validators.hpp>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace podium {

// What is no number is left to the option's own conversion.
inline CLI::Validator at_least(int least) {
  const auto check = [least](std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = end != text.c_str() && *end == '\0';
    return is_number && !(number >= least) ? fmt::format("is {}, and must be at least {}", text, least) : "";
  };
  return {check, least == 1 ? "POSITIVE" : fmt::format(">= {}", least)};
}

inline constexpr int kMostThreads = 1024;
// 0 stands for as many as there are.
inline CLI::Validator thread_count() { return CLI::Range(0, kMostThreads); }

// A seed: conversion alone would wrap -1, and saturate 2^64.
inline CLI::Validator unsigned_64() {
  const auto check = [](std::string& text) -> std::string {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    errno = 0;
    if (digits) std::strtoull(text.c_str(), nullptr, 10);
    return digits && errno == 0 ? "" : "must be a whole number from 0 to 18446744073709551615";
  };
  return {check, ""};
}

}  // namespace podium

// Short specs as YAML, and what is made of them.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "common/spec/load.h"

namespace podium::test {

inline std::string bert(const std::string& model, const std::string& more = "") {
  return "version: 1\nname: t\nmodel: " + model +
         "\ndata: {train: a.txt, tokenizer: {wordpiece: v.txt}}\n"
         "training: {optimizer: {lr: 1e-3}, schedule: {steps: 10}, batch: {global: 8, micro: 2}}\n"
         "resources: {devices: 2}\n" +
         more;
}

inline std::string gpt(const std::string& model, const std::string& more = "") {
  return "version: 1\nname: t\nmodel: " + model +
         "\ndata: {train: a.txt, tokenizer: {bpe: {vocab: v.json, merges: m.txt}}}\n"
         "training: {optimizer: {lr: 1e-3}, schedule: {steps: 10}, batch: {global: 8, micro: 2}}\n"
         "resources: {devices: 4}\n" +
         more;
}

inline LoadedExperiment load(const std::string& yaml) {
  auto loaded = load_experiment(yaml, "t.yaml");
  if (!loaded.ok()) throw std::runtime_error(describe(loaded.errors()));
  return std::move(loaded).value();
}

inline std::string errors_of(const std::string& yaml) {
  return describe(load_experiment(yaml, "t.yaml").errors());
}

inline std::string list_of(int items, const std::string& separator) {
  std::string text = "[";
  for (int i = 0; i < items; ++i) text += std::to_string(i) + separator;
  return text + "0]";
}

}  // namespace podium::test

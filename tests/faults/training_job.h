// A small real pre-training job for two nodes: text, vocabulary and spec.
#pragma once

#include <filesystem>
#include <string>

namespace podium {

// Writes corpus.txt, heldout.txt and vocab.txt for write_spec's jobs.
void write_training_data(const std::filesystem::path& folder);

// `steps` optimizer steps over two CPU devices on two nodes, a checkpoint each 20 steps, metrics each step.
std::string training_spec(const std::string& name, int steps);

}  // namespace podium

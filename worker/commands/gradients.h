// Computes the loss and every gradient of a Hugging Face model for a given batch, without dropout and without
// an update, to compare with another implementation or another layout.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>

#include "common/model/spec.h"

namespace podium {

// This process's rank among several, and the file that says where they meet.
struct GradientsRank {
  int rank = 0;
  std::filesystem::path meeting;
};

struct GradientsRun {
  std::filesystem::path init;   // folder of the model
  std::filesystem::path batch;  // safetensors, see gradients_batch.h
  std::filesystem::path out;    // safetensors: gradients in Hugging Face's names, losses in the metadata
  Precision precision = Precision::fp32;
  int tensor = 1;
  int pipeline = 1;
  bool gpu = false;                   // else the CPU
  int threads = 0;                    // of each process; 0: all of the machine's, shared
  std::optional<GradientsRank> rank;  // set by start_gradients for the processes it starts

  int world() const { return tensor * pipeline; }
};

// Starts `program` once for each rank of the layout and waits. Returns the exit code of the rank that failed
// first, or 0.
int start_gradients(const GradientsRun& run, const std::filesystem::path& program);

// Computes what one rank does, which is everything if it is the only one. Rank 0 writes `run.out` and prints
// the losses. Throws Failure, BadData, PeerLost or std::system_error.
void compute_gradients(const GradientsRun& run, const std::atomic<bool>& stop);

}  // namespace podium

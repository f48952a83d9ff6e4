#include "bench/metric_lines.h"

#include <spdlog/fmt/fmt.h>

#include <random>

namespace podium {

std::string metric_lines(int batch, int steps) {
  std::mt19937_64 random(static_cast<std::uint64_t>(batch));
  std::normal_distribution<double> noise;
  std::string lines;
  for (int i = 0; i < steps; ++i) {
    const int step = batch * steps + i + 1;
    const double masked = 5.6 + 0.1 * noise(random), next = 0.6 + 0.02 * noise(random);
    lines += fmt::format(
        R"({{"step":{},"t":{},"type":"metrics","values":{{"train/grad_norm":{},"train/learning_rate":{},)"
        R"("train/loss":{},"train/mlm_loss":{},"train/nsp_loss":{},"train/sequences_per_second":{}}}}})"
        "\n",
        step, 1767225600000LL + step * 60LL + static_cast<int>(random() % 8), 1.2 + 0.1 * noise(random),
        1e-3 * (1 - step / 1e6), masked + next, masked, next, 1234.5 + 10 * noise(random));
  }
  return lines;
}

}  // namespace podium

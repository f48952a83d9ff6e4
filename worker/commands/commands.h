// The commands that have a file of their own. Each adds itself to the program. When chosen, it runs, and sets
// `exit` or throws what main() handles.
#pragma once

#include <CLI/App.hpp>

#include "common/model/launch.h"

namespace podium {

void add_calibrate(CLI::App& app);
void add_evaluate(CLI::App& app, WorkerExit& exit);
void add_export(CLI::App& app);
void add_generate(CLI::App& app);
void add_gradients(CLI::App& app, WorkerExit& exit);
void add_infer(CLI::App& app);
void add_inspect(CLI::App& app);
void add_latency(CLI::App& app);
void add_local(CLI::App& app, WorkerExit& exit);
void add_prepare(CLI::App& app, WorkerExit& exit);
void add_predict(CLI::App& app);
void add_profile(CLI::App& app, WorkerExit& exit);
void add_score(CLI::App& app);
void add_serve(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_vocab(CLI::App& app);

}  // namespace podium

// The parsers that a spec may name under metrics.parsers. Each looks at one line: it returns what the line
// tells, and may remember what it says of later ones. A line that is not theirs changes nothing.
#pragma once

#include <array>
#include <string_view>

#include "common/console/console_line.h"

namespace podium {

// Megatron-LM, and what prints as it does (Megatron-DeepSpeed, GPT-NeoX, Primus):
//   iteration      100/  500000 | consumed samples: … | elapsed time per iteration (ms): 430.1 | lm loss: … |
//   validation loss at iteration 1000 on validation set | lm loss value: 9.6E+00 | lm loss PPL: 1.5E+04 |
ConsoleLine parse_megatron(std::string_view line, ConsoleMemory& memory);

// Hugging Face's Trainer: {'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 0.12}, also with its numbers in
// quotes. Its step is that of the line where it has one, else it follows from the epoch and the banner
// ("Num examples = …"), else it is the epoch in thousandths.
ConsoleLine parse_transformers(std::string_view line, ConsoleMemory& memory);

// Lightning's progress bar:
//   Epoch 3:  47%|████▋     | 441/938 [00:05<00:05, 86.90it/s, v_num=0, train_loss=0.123]
// Its step is the number of batches since the first epoch began.
ConsoleLine parse_lightning(std::string_view line, ConsoleMemory& memory);

struct NamedParser {
  std::string_view name;
  ConsoleLine (*parse)(std::string_view line, ConsoleMemory& memory);
};

inline constexpr std::array<NamedParser, 3> kNamedParsers{
    {{"megatron", parse_megatron}, {"transformers", parse_transformers}, {"lightning", parse_lightning}}};

}  // namespace podium

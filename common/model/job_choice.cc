#include "common/model/job_choice.h"

#include <algorithm>
#include <stdexcept>

namespace podium {

std::vector<JobState> job_states_from(std::string_view list) {
  std::vector<JobState> states;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) states.push_back(job_state_from(list.substr(at, end - at)));
    at = end + 1;
  }
  if (states.empty()) job_state_from(list);  // all jobs would be more than was asked for
  return states;
}

std::pair<std::string, std::string> label_from(std::string_view text) {
  const std::size_t colon = text.find_first_of(":=");
  if (colon == std::string_view::npos || colon == 0)
    throw std::invalid_argument("must be written key:value or key=value");
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

}  // namespace podium

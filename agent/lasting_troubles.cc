#include "agent/lasting_troubles.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace podium {
namespace {

constexpr Duration kSayEvery = std::chrono::minutes(1);

}  // namespace

LastingTroubles::News LastingTroubles::passed(Time now) {
  News news;
  const std::set<std::string> failed = std::exchange(now_, {});
  std::erase_if(said_, [&](const auto& entry) {
    const bool over = !failed.contains(entry.first);
    if (over) news.over.push_back(entry.first);
    return over;
  });
  for (const std::string& text : failed) {
    const auto [said, first] = said_.try_emplace(text, now);
    if (!first && now < said->second + kSayEvery) continue;
    said->second = now;
    news.to_say.push_back(text);
  }
  return news;
}

void LastingTroubles::log_passed(Time now) {
  const News news = passed(now);
  for (const std::string& text : news.to_say) spdlog::error("{}", text);
  for (const std::string& text : news.over) spdlog::info("over: {}", text);
}

}  // namespace podium

#include "common/git/url.h"

namespace podium {

std::string without_credentials(const std::string& url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const auto begin = scheme + 3;
  const auto end = url.find('/', begin);
  const auto at = url.rfind('@', end);
  return at == std::string::npos || at < begin ? url : url.substr(0, begin) + url.substr(at + 1);
}

}  // namespace podium

#include "base/check.h"

#include <string_view>
#include <utility>

namespace coordkit {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

CheckFailure::CheckFailure(const char* fact, const char* file, int line, std::string context) {
  text_ = "check failed: ";
  text_ += fact;
  if (!context.empty()) text_ += " (" + context + ")";
  text_ += " at ";
  text_ += file_name(file);
  text_ += ":" + std::to_string(line);
}

void check_failed(const char* fact, const char* file, int line, std::string context) {
  throw CheckFailure(fact, file, line, std::move(context));
}

}  // namespace coordkit

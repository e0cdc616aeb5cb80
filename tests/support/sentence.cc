#include "tests/support/sentence.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "coordkit/error.h"

namespace coordkit::testkit {
namespace {

constexpr size_t kShortest = 15;

void write_down(const std::string& sentence) {
  if (const char* path = std::getenv("COORDKIT_SENTENCES")) std::ofstream(path, std::ios::app) << sentence << '\n';
}

}  // namespace

std::string fault_of_words(const std::string& sentence) {
  write_down(sentence);
  if (sentence.size() < kShortest) return "it is too short to say what to do";
  const bool readable = std::ranges::all_of(sentence, [](unsigned char byte) { return byte >= 0x20 && byte != 0x7f; });
  if (!readable) return "it has bytes that nobody can read";
  std::istringstream words(sentence);
  std::string word, before;
  while (words >> word) {
    if (word == before) return "it says \"" + word + "\" twice in a row";
    before = word;
  }
  return "";
}

std::string fault_of_sentence(const absl::Status& refusal) {
  const std::string printed = refusal.ToString();
  if (std::string words = fault_of_words(printed); !words.empty()) return words;
  bool payload = false;
  refusal.ForEachPayload([&](auto, const auto&) { payload = true; });
  if (payload) return "it has a payload, which is printed as bytes";
  const std::optional<Reason> reason = reason_of(refusal);
  if (!reason) return "it has no reason";
  const std::string sentence(sentence_of(refusal));
  if (sentence.find(std::string(name_of(*reason)) + ": ") != std::string::npos) return "it says its reason twice";
  if (sentence.empty() || std::isupper(static_cast<unsigned char>(sentence.front())) != 0)
    return "a reason stands in its middle";
  return "";
}

}  // namespace coordkit::testkit

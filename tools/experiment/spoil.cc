#include "tools/experiment/spoil.h"

#include <algorithm>
#include <fstream>
#include <vector>

namespace coordkit::experiment {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPage = 4096;

uint64_t below(std::mt19937_64& random, uint64_t bound) {
  return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random);
}

std::vector<fs::path> files_of(const fs::path& data) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(data, ignored)) {
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// In place: a process that has the file open or mapped sees it.
void overwrite(const fs::path& file, uint64_t at, const std::string& bytes) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at));
  out << bytes;
}

char byte_at(const fs::path& file, uint64_t at) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(at));
  char byte = 0;
  in.get(byte);
  return byte;
}

std::string flip_bits(const fs::path& file, uint64_t size, std::mt19937_64& random) {
  const uint64_t count = 1 + below(random, 8);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = below(random, size);
    overwrite(file, at, std::string(1, static_cast<char>(byte_at(file, at) ^ (1 << below(random, 8)))));
  }
  return std::to_string(count) + " bits of " + file.filename().string() + " flipped";
}

std::string spoil_page(const fs::path& file, uint64_t size, bool noise, std::mt19937_64& random) {
  const uint64_t at = below(random, size) / kPage * kPage;
  std::string bytes(std::min(kPage, size - at), '\0');
  if (noise) std::ranges::generate(bytes, [&] { return static_cast<char>(below(random, 256)); });
  overwrite(file, at, bytes);
  return std::string(noise ? "noise in" : "zeros in") + " a page of " + file.filename().string();
}

// Directories of the same name in two data directories, or the two of one.
std::string swap(const fs::path& one, const fs::path& another) {
  const fs::path aside = one.string() + ".aside";
  fs::rename(one, aside);
  fs::copy(another, one, fs::copy_options::recursive);
  fs::remove_all(aside);
  return one.filename().string() + " is a copy of " + another.parent_path().filename().string() + "/" +
         another.filename().string();
}

}  // namespace

std::string spoil(const fs::path& data, const fs::path& other, std::mt19937_64& random) {
  const uint64_t way = below(random, 100);
  std::error_code ignored;
  if (way < 3) {
    const char* const names[] = {"log", "state"};
    const char* const name = names[below(random, 2)];
    return std::to_string(fs::remove_all(data / name, ignored)) + " names removed with " + name;
  }
  if (way < 6) return swap(data / (way < 5 ? "state" : "log"), other / (way < 5 ? "state" : "log"));
  if (way < 8) return swap(data / "log", data / "state");
  const std::vector<fs::path> files = files_of(data);
  if (files.empty()) return {};
  // Files are chosen by name first, since they are few beside segments.
  fs::path file = files[below(random, files.size())];
  if (way % 3 == 0 && fs::exists(data / "state/data.mdb")) file = data / "state/data.mdb";
  const uint64_t size = fs::file_size(file, ignored);
  if (way < 16) return fs::remove(file, ignored) ? file.filename().string() + " removed" : std::string();
  if (size == 0) return {};
  if (way < 28) {
    const uint64_t cut = below(random, size);
    fs::resize_file(file, cut, ignored);
    return file.filename().string() + " cut from " + std::to_string(size) + " to " + std::to_string(cut);
  }
  if (way < 32) {
    std::ofstream(file, std::ios::binary | std::ios::app) << std::string(1 + below(random, 3 * kPage), 'g');
    return "something appended to " + file.filename().string();
  }
  if (way < 56) return flip_bits(file, size, random);
  return spoil_page(file, size, way < 78, random);
}

}  // namespace coordkit::experiment

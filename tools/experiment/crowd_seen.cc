#include "tools/experiment/crowd_seen.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace coordkit::experiment {
namespace {

constexpr int64_t kMs = 1'000'000;

std::string key_of(uint64_t remote) { return "the key of remote " + std::to_string(remote); }

}  // namespace

std::optional<int64_t> CrowdMoves::percentile_ms(unsigned percent) const {
  const uint64_t wanted = std::max<uint64_t>((remotes * percent + 99) / 100, 1);
  if (took_ms.size() < wanted) return std::nullopt;
  return took_ms[wanted - 1];
}

uint64_t CrowdMoves::most_in_a_second() const {
  uint64_t most = 0;
  for (size_t first = 0, last = 0; last < took_ms.size(); ++last) {
    while (took_ms[last] - took_ms[first] >= 1000) ++first;
    most = std::max<uint64_t>(most, last - first + 1);
  }
  return most;
}

void CrowdSeen::read(std::istream& lines) {
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, text;
    uint64_t number = 0;
    if (!(words >> what >> number)) throw std::runtime_error("not a line of a trace: " + line);
    Remote& remote = remotes_[number];
    int64_t at = 0;
    if (what == "put") {
      uint64_t put = 0;
      int64_t called = 0;
      words >> put >> text >> called >> at;
      remote.puts[put] = {text.empty() ? 'u' : text.front(), at};
    } else if (what == "seen" || what == "final") {
      Version version;
      words >> version.version >> version.number;
      what == "seen" ? remote.seen.push_back(version) : static_cast<void>(remote.end = version);
    } else if (what == "link") {
      int gateway = 0;
      words >> at >> text >> gateway;
      remote.links.push_back({at, text == "Serving", gateway});
    } else if (what == "session") {
      words >> at >> text;
      sessions_lost_ += text == "Lost" ? 1u : 0u;
      jeopardies_ += text == "Jeopardy" ? 1u : 0u;
    } else if (what == "hold") {
      words >> at;
      ++holds_in_jeopardy_;
    } else if (what == "ended") {
      ended_.push_back("the watch of " + key_of(number) + " has ended:" + line.substr(line.find(' ', line.find(' ') + 1)));
      continue;
    } else {
      throw std::runtime_error("not a line of a trace: " + line);
    }
    if (words.fail()) throw std::runtime_error("half a line of a trace: " + line);
  }
}

void CrowdSeen::judge(uint64_t number, const Remote& remote, CrowdPuts& puts, std::vector<std::string>& sentences) const {
  const auto wrong = [&](uint64_t& counter, const std::string& why) {
    ++counter;
    sentences.push_back(key_of(number) + ": " + why);
  };
  std::map<uint64_t, uint64_t> times;  // by number
  uint64_t last = 0;
  for (const Version& one : remote.seen) {
    if (one.version > last + 1) wrong(puts.gaps, "its watch was not given version " + std::to_string(last + 1));
    if (one.version <= last)
      wrong(puts.repeats, "its watch was given version " + std::to_string(one.version) + " late or again");
    last = std::max(last, one.version);
    ++times[one.number];
  }
  uint64_t done = 0, unknown = 0;
  for (const auto& [put, answer] : remote.puts) {
    const uint64_t there = times.contains(put) ? times.at(put) : 0;
    const std::string which = "put " + std::to_string(put);
    if (answer.outcome == 'd') ++done;
    if (answer.outcome == 'u') ++unknown;
    if (answer.outcome == 'r') ++puts.refused;
    if (there > 1) wrong(puts.twice, which + " took effect " + std::to_string(there) + " times");
    if (answer.outcome == 'd' && there == 0) wrong(puts.lost, which + " was acknowledged, and no watch was given it");
    if (answer.outcome == 'r' && there > 0) wrong(puts.invented, which + " was refused, and took effect");
  }
  for (const auto& [put, there] : times) {
    if (!remote.puts.contains(put)) wrong(puts.invented, "put " + std::to_string(put) + " was never answered, and is there");
  }
  puts.done += done;
  puts.unknown += unknown;
  // The second witness: each effect is a version.
  const Version end = remote.end.value_or(Version());
  if (end.version < done) wrong(puts.lost, std::to_string(done) + " puts were acknowledged, and it has fewer versions");
  if (end.version > done + unknown) wrong(puts.twice, "it has more versions than puts");
  if (last != end.version) wrong(puts.gaps, "its watch ends before its last version, or behind it");
  if (!remote.seen.empty() && remote.seen.back().number != end.number)
    wrong(puts.lost, "its last value is not the last change");
}

CrowdPuts CrowdSeen::puts() const {
  CrowdPuts puts;
  std::vector<std::string> sentences;
  for (const auto& [number, remote] : remotes_) judge(number, remote, puts, sentences);
  return puts;
}

std::vector<std::string> CrowdSeen::sentences() const {
  CrowdPuts puts;
  std::vector<std::string> sentences = ended_;
  for (const auto& [number, remote] : remotes_) judge(number, remote, puts, sentences);
  return sentences;
}

// Zero: none.
int CrowdSeen::gateway_at(const Remote& remote, int64_t at_ns) {
  const auto next = std::ranges::upper_bound(remote.links, at_ns, {}, &Link::at_ns);
  return next == remote.links.begin() || !std::prev(next)->serves ? 0 : std::prev(next)->gateway;
}

CrowdMoves CrowdSeen::moves(int64_t at_ns, int gateway, int64_t until_ns) const {
  CrowdMoves moves;
  for (const auto& [number, remote] : remotes_) {
    if (remote.links.empty() || (gateway != 0 && gateway_at(remote, at_ns) != gateway)) continue;
    ++moves.remotes;
    const auto first = std::ranges::find_if(remote.links, [&](const Link& link) { return link.at_ns > at_ns && link.serves; });
    if (first == remote.links.end() || first->at_ns > until_ns) continue;
    ++moves.moved;
    moves.took_ms.push_back((first->at_ns - at_ns) / kMs);
  }
  std::ranges::sort(moves.took_ms);
  return moves;
}

double CrowdSeen::dip(int64_t at_ns, int gateway) const {
  constexpr int64_t kBin = 100 * kMs;
  constexpr size_t kBefore = 20, kAfter = 40, kWindow = 5;  // bins
  std::vector<double> bins(kBefore + kAfter, 0.0);
  const int64_t from = at_ns - static_cast<int64_t>(kBefore) * kBin;
  for (const auto& [number, remote] : remotes_) {
    if (gateway_at(remote, at_ns) == gateway) continue;
    for (const auto& [put, answer] : remote.puts) {
      if (answer.outcome != 'd' || answer.returned_ns < from) continue;
      const auto bin = static_cast<size_t>((answer.returned_ns - from) / kBin);
      if (bin < bins.size()) bins[bin] += 1;
    }
  }
  double before = 0;
  for (size_t bin = 0; bin < kBefore; ++bin) before += bins[bin] / kBefore;
  double worst = before;
  for (size_t first = kBefore; first + kWindow <= bins.size(); ++first) {
    double rate = 0;
    for (size_t bin = first; bin < first + kWindow; ++bin) rate += bins[bin] / kWindow;
    worst = std::min(worst, rate);
  }
  return before > 0 ? 1 - worst / before : 0;
}

}  // namespace coordkit::experiment

// A command as bytes, and the message that carries a batch of them.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "coordkit/engine/wire.h"
#include "machine/command.h"

namespace coordkit::bench {
namespace {

machine::Request acquire() {
  return {.body =
              machine::Acquire{.session = SessionId(1'000'000'007), .name = "jobs/1000042", .wait = machine::Wait::forever()}};
}

void command_encode(benchmark::State& state) {
  const machine::Request request = acquire();
  std::string bytes;
  for ([[maybe_unused]] auto _ : state) {
    machine::encode(request, bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(command_encode);

void command_decode(benchmark::State& state) {
  const std::string bytes = machine::encode(acquire());
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(machine::decode_request(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(command_decode);

raft::AppendRequest append_of(int64_t entries) {
  raft::AppendRequest append{.term = Term(3), .stream = 2, .previous = {Index(1'000'000), Term(3)}};
  const SharedBytes payload(machine::encode(acquire()));
  Index last = append.previous.index;
  for (int64_t i = 0; i < entries; ++i) {
    append.entries.push_back(
        {.index = last = last.next(), .term = Term(3), .kind = raft::EntryKind::Command, .payload = payload});
    append.entries.back().content_sum = last.value() * 0x9E3779B97F4A7C15;
  }
  return append;
}

void append_encode(benchmark::State& state) {
  const Message message = append_of(state.range(0));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(encode(message));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(append_encode)->Arg(1)->Arg(16)->Arg(64);

void append_decode(benchmark::State& state) {
  const std::string bytes = encode(append_of(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(decode_taking(bytes));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(append_decode)->Arg(1)->Arg(16)->Arg(64);

}  // namespace
}  // namespace coordkit::bench

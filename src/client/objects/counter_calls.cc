// Counters, with the caller's types around commands and reads (objects.h).
#include <utility>

#include "client/impl.h"

namespace coordkit {
namespace {

using client::Executed;
using CounterChange = machine::ChangeCounter::Operation;

int64_t number_of(const Executed& executed) { return executed.result.number; }

machine::ChangeCounter change_of(std::string name, CounterChange operation, int64_t operand, int64_t expected = 0) {
  return {.name = std::move(name), .operation = operation, .operand = operand, .expected = expected};
}

}  // namespace

CallId CoordinationCalls::add(std::string name, int64_t by, Callback<int64_t> done, CallDeadline deadline) {
  auto body = change_of(std::move(name), CounterChange::Add, by);
  return client_->impl_->objects.command(std::move(body), deadline, std::move(done), number_of);
}

CallId CoordinationCalls::set(std::string name, int64_t value, Callback<int64_t> done, CallDeadline deadline) {
  auto body = change_of(std::move(name), CounterChange::Set, value);
  return client_->impl_->objects.command(std::move(body), deadline, std::move(done), number_of);
}

CallId CoordinationCalls::compare_and_set(std::string name, int64_t expected, int64_t value, Callback<SwapResult> done,
                                          CallDeadline deadline) {
  auto body = change_of(std::move(name), CounterChange::CompareAndSet, value, expected);
  return client_->impl_->objects.command(std::move(body), deadline, std::move(done), [](const Executed& executed) {
    return SwapResult{executed.result.swapped, executed.result.number};
  });
}

CallId CoordinationCalls::allocate(std::string name, int64_t count, Callback<int64_t> done, CallDeadline deadline) {
  auto body = change_of(std::move(name), CounterChange::Allocate, count);
  return client_->impl_->objects.command(std::move(body), deadline, std::move(done), number_of);
}

CallId CoordinationCalls::delete_counter(std::string name, DoneCallback done, CallDeadline deadline) {
  auto body = change_of(name, CounterChange::Delete, 0);
  return client_->impl_->objects.command(nullptr, machine::CoordinationCommand(std::move(body)), std::move(name), deadline,
                                         client::giving(std::move(done)));
}

CallId CoordinationCalls::counter(std::string name, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->reads.object(coordination::Kind::Counter, std::move(name), 0, deadline, std::move(done),
                                      [](const machine::ObjectView& now, Index) { return now.number; });
}

}  // namespace coordkit

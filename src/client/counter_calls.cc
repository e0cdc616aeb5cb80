// Counters, with the caller's types around commands and questions (objects.h).
#include <utility>

#include "client/impl.h"
#include "client/typed_answers.h"

namespace coordkit {
namespace {

using client::Executed;
using client::giving;
using coordination::Kind;
using machine::ChangeCounter;
using machine::CoordinationCommand;

int64_t number_of(const Executed& executed) { return executed.result.number; }

CoordinationCommand change_of(const std::string& name, ChangeCounter::Operation operation, int64_t operand,
                              int64_t expected = 0) {
  return ChangeCounter{.name = name, .operation = operation, .operand = operand, .expected = expected};
}

}  // namespace

CallId CoordinationCalls::add(std::string name, int64_t by, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->objects.command(nullptr, change_of(name, ChangeCounter::Operation::Add, by), name, deadline,
                                         giving<Executed>(std::move(done), number_of));
}

CallId CoordinationCalls::set(std::string name, int64_t value, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->objects.command(nullptr, change_of(name, ChangeCounter::Operation::Set, value), name, deadline,
                                         giving<Executed>(std::move(done), number_of));
}

CallId CoordinationCalls::compare_and_set(std::string name, int64_t expected, int64_t value, Callback<SwapResult> done,
                                          CallDeadline deadline) {
  return client_->impl_->objects.command(nullptr, change_of(name, ChangeCounter::Operation::CompareAndSet, value, expected),
                                         name, deadline, giving<Executed>(std::move(done), [](const Executed& executed) {
                                           return SwapResult{executed.result.swapped, executed.result.number};
                                         }));
}

CallId CoordinationCalls::allocate(std::string name, int64_t count, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->objects.command(nullptr, change_of(name, ChangeCounter::Operation::Allocate, count), name, deadline,
                                         giving<Executed>(std::move(done), number_of));
}

CallId CoordinationCalls::delete_counter(std::string name, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->objects.command(nullptr, change_of(name, ChangeCounter::Operation::Delete, 0), name, deadline,
                                         giving(std::move(done)));
}

CallId CoordinationCalls::counter(std::string name, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->objects.look(Kind::Counter, std::move(name), 0, deadline, std::move(done),
                                      [](const machine::ObjectView& now, Index) { return now.number; });
}

}  // namespace coordkit

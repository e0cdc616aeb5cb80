#include "service/loop/announcements.h"

#include <utility>

#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr char kOnEvent[] = "on_event";
constexpr std::string_view kAnnouncement = "an observer, or a callback of a session";

std::vector<OwnMachine> guarded_machines(HostCode& host_code, std::vector<OwnMachine> machines) {
  for (OwnMachine& machine : machines) {
    machine.on_event =
        host_code.guarded("on_event of machine " + std::to_string(machine.id.value()), std::move(machine.on_event));
  }
  return machines;
}

}  // namespace

Announcements::Announcements(const HostCallbacks& callbacks, const Clock& clock, HostCode::OnError on_threw,
                             std::function<void()> fail)
    : host_code_([this](const absl::Status& why) { threw(why); },
                 [this](CallbackThread::Task task) { announce(std::move(task)); }),
      on_error_(callbacks.on_error),
      on_threw_(std::move(on_threw)),
      on_leadership_(host_code_.guarded("on_leadership", callbacks.on_leadership)),
      on_divergence_(host_code_.guarded("on_divergence", callbacks.on_divergence)),
      on_halt_(host_code_.guarded("on_halt", callbacks.on_halt)),
      thread_("coordkit/notify", [this](CallbackThread::Task&& task) { host_code_.run(kAnnouncement, std::move(task)); }),
      relay_(guarded_machines(host_code_, callbacks.machines), thread_),
      deadlines_(clock, thread_, std::move(fail)) {
  if (callbacks.on_event) feed_.emplace(host_code_.guarded(kOnEvent, callbacks.on_event), thread_);
}

// A caller that begins something on a closed replica is told so in place: there is no other thread left.
void Announcements::announce(CallbackThread::Task task) {
  if (CallbackThread::Task left = deadlines_.announce(std::move(task))) host_code_.run(kAnnouncement, std::move(left));
}

void Announcements::run(absl::FunctionRef<void()> callback) {
  host_code_.run("the callback of an asynchronous call", callback);
}

void Announcements::tell(const raft::Leadership& leadership) {
  if (on_leadership_) thread_.post([this, leadership] { on_leadership_(leadership); });
}

void Announcements::tell(const ReplicaEvent& event) {
  if (feed_) feed_->tell(event);
}

void Announcements::tell(EngineEffects& effects) {
  for (MachineEvent& event : effects.events) relay_.relay(std::move(event));
  if (effects.leadership) tell(*effects.leadership);
  if (effects.divergence && on_divergence_) {
    thread_.post([this, found = *effects.divergence] { on_divergence_(found); });
  }
  for (const absl::Status& error : effects.threw) host_code_.threw(error);
  note_halt(effects);
  if (halt_.ok()) return;
  if (on_halt_) thread_.post([this, why = halt_] { on_halt_(why); });
  halt_ = absl::OkStatus();  // not before: without memory for it another call tells it
}

void Announcements::note_halt(EngineEffects& effects) noexcept {
  if (!effects.halted) return;
  halt_ = *std::move(effects.halted);
  effects.halted.reset();
}

// An exception of on_event is not an event: it would be reported to on_event.
void Announcements::threw(const absl::Status& why) {
  if (feed_ && !sentence_of(why).starts_with(kOnEvent)) on_threw_(why);
  if (on_error_) on_error_(why);
}

void Announcements::stop() {
  deadlines_.stop();
  thread_.stop();
}

}  // namespace coordkit

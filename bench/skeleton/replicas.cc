// The skeleton's replicas, each a process with one thread.
#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "absl/status/status.h"
#include "bench/cluster/process.h"
#include "bench/skeleton/callers.h"
#include "bench/skeleton/disk.h"
#include "bench/skeleton/lock_table.h"
#include "bench/skeleton/skeleton.h"
#include "bench/skeleton/stream.h"

namespace coordkit::bench::skeleton {
namespace {

class Leader {
 public:
  explicit Leader(const ReplicaArguments& arguments)
      : disk_(arguments.data),
        followers_{Follower{Stream(connect_to(arguments.followers.at(0)))},
                   Follower{Stream(connect_to(arguments.followers.at(1)))}} {}

  void serve(Callers& callers) {
    callers.begin(commands_);
    while (callers.running()) {
      if (!commands_.empty()) replicate();
      await_followers();
      apply_committed();
      for (const Answer& answer : answers_) callers.answered(answer, commands_);
    }
  }

 private:
  struct Follower {
    Stream stream;
    uint64_t stored = 0;
  };

  // The followers' disks work while this one does.
  void replicate() {
    for (Follower& follower : followers_) follower.stream.send<Record>(commands_);
    pending_.insert(pending_.end(), commands_.begin(), commands_.end());
    disk_.append(commands_);
    stored_ += commands_.size();
    commands_.clear();
  }

  void await_followers() {
    std::array<pollfd, 2> waits{pollfd{followers_[0].stream.socket(), POLLIN, 0}, {followers_[1].stream.socket(), POLLIN, 0}};
    poll(waits.data(), waits.size(), -1);
    for (size_t i = 0; i < followers_.size(); ++i) {
      if (waits[i].revents == 0) continue;
      acknowledgements_.clear();
      if (!followers_[i].stream.receive(acknowledgements_)) throw std::runtime_error("a follower ended");
      if (!acknowledgements_.empty()) followers_[i].stored = acknowledgements_.back().stored;
    }
  }

  // Two of three have what the middle one has.
  void apply_committed() {
    std::array<uint64_t, 3> stored{stored_, followers_[0].stored, followers_[1].stored};
    std::ranges::sort(stored);
    answers_.clear();
    for (; committed_ < stored[1]; ++committed_) {
      table_.apply(pending_.front(), answers_);
      pending_.pop_front();
    }
  }

  Disk disk_;
  std::array<Follower, 2> followers_;
  LockTable table_;
  std::vector<Record> commands_;  // of the callers, not yet sent
  std::deque<Record> pending_;    // sent, and not known to be on two disks
  std::vector<Acknowledgement> acknowledgements_;
  std::vector<Answer> answers_;
  uint64_t stored_ = 0;  // records on the own disk
  uint64_t committed_ = 0;
};

void follow(Stream& leader, Disk& disk) {
  LockTable table;
  std::vector<Record> records;
  std::vector<Answer> discarded;
  for (uint64_t stored = 0; leader.receive(records);) {
    if (records.empty()) continue;
    disk.append(records);
    stored += records.size();
    const Acknowledgement acknowledgement{stored};
    leader.send<Acknowledgement>({&acknowledgement, 1});
    for (const Record& record : records) table.apply(record, discarded);
    records.clear();
    discarded.clear();
  }
}

int failed(const std::exception& error) { return fail(absl::InternalError(error.what())); }

}  // namespace

int run_follower(const ReplicaArguments& arguments) try {
  Disk disk(arguments.data);
  say({{"ready", true}});
  Stream leader(accept_at(arguments.address));
  follow(leader, disk);
  std::cin.get();  // its parent ends it, once the leader has reported
  return 0;
} catch (const std::exception& error) {
  return failed(error);
}

int run_leader(const ReplicaArguments& arguments) try {
  const LoadOptions& load = arguments.load;
  Leader leader(arguments);  // whose file and connections are there before the window begins
  LoadLoop loop(load.callers, Seconds(load.warmup_s), Seconds(load.seconds));
  Callers callers(loop, load.callers, kind_of(load.kind).one_lock ? Callers::Want::OneLock : Callers::Want::OwnLock);
  leader.serve(callers);
  say({{"result", loop.wait()}});
  return 0;
} catch (const std::exception& error) {
  return failed(error);
}

}  // namespace coordkit::bench::skeleton

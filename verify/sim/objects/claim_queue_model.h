// The naive twin of the claim queues. An item is claimed while a hold names it.
#pragma once

#include <string>
#include <vector>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/waits_and_holds.h"

namespace coordkit::sim {

class ClaimQueueModel {
 public:
  ClaimQueueModel(WaitsAndHolds& lines, CoordinationEntry& entry) : lines_(lines), entry_(entry) {}

  machine::Result run(const machine::Enqueue& enqueue);
  machine::Result run(const machine::ClaimItem& claim);
  machine::Result run(const machine::AcknowledgeItem& done);
  // The answer to the claim.
  machine::Result granted(const WaitsAndHolds::Hold& claim) const;
  void given_back(const WaitsAndHolds::Hold& claim);  // without being acknowledged
  void serve();
  void show(const std::string& name, machine::ObjectView& view) const;

 private:
  struct Item {
    Index id;
    std::string queue;
    int64_t priority = 0;
    uint64_t deliveries = 0;
    std::string value;
  };
  bool claimed(const Item& item) const;
  const Item* next(const std::string& queue) const;
  machine::Result grant(const WaitsAndHolds::Wait& wait);

  WaitsAndHolds& lines_;
  CoordinationEntry& entry_;
  std::vector<Item> items_;
};

}  // namespace coordkit::sim

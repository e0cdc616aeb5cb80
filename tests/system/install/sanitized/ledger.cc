// A machine with many rows, which coordkit makes and the program ends, or the other way around.
#include "ledger.h"

#include <iostream>
#include <memory>

int main() {
  using namespace coordkit;
  size_t rows = 0;
  for (int round = 0; round < 3; ++round) {
    const auto machine = std::make_unique<example::Ledger>();
    for (uint64_t i = 1; i <= 2000; ++i) {
      const std::string payload =
          (i % 3 == 0 ? "move n" + std::to_string(i - 1) + " n1" : "deposit n" + std::to_string(i)) + " 5";
      const Command command{.index = Index(i), .request = {}, .payload = payload};
      ApplyOutput output;
      machine->apply({&command, 1}, output);
    }
    CheckpointBatch batch;
    machine->checkpoint(batch);
    rows = batch.rows.size();
  }
  std::cout << rows << " rows" << std::endl;
}

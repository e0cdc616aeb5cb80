// Held parcels arrive later, in order, and only when nothing holds them any more.
#include "sim/world/network.h"

#include <gtest/gtest.h>

namespace coordkit::sim {
namespace {

class SimNetworkTest : public ::testing::Test {
 protected:
  SimNetworkTest() {
    network_.set_quality({.delay_min = Duration(1), .delay_max = Duration(1)});
    network_.connect(0, 1);
  }
  void question(uint64_t id) { network_.send(0, 1, ReadIndexRequest{.id = id}); }
  void answer(uint64_t id) { network_.send(0, 1, ReadIndexReply{.id = id}); }
  // The ids of what arrives until nothing is in flight.
  std::vector<uint64_t> arrived() {
    std::vector<uint64_t> ids;
    while (!world_.empty()) {
      const std::unique_ptr<Parcel> parcel = network_.arrive(world_.pop().item);
      const auto* request = std::get_if<ReadIndexRequest>(&parcel->message);
      ids.push_back(request ? request->id : std::get<ReadIndexReply>(parcel->message).id);
    }
    return ids;
  }
  using Ids = std::vector<uint64_t>;
  static size_t kind_of(const Message& message) { return message.index(); }

  World world_{1};
  Network network_{world_, 2, Random(1)};
};

TEST_F(SimNetworkTest, OneKindIsHeldAndTheOthersPass) {
  network_.hold_kind(0, 1, kind_of(ReadIndexRequest{}));
  question(1);
  answer(2);
  question(3);
  EXPECT_EQ(arrived(), Ids{2});
  network_.release_kind(0, 1, kind_of(ReadIndexRequest{}));
  EXPECT_EQ(arrived(), (Ids{1, 3}));
  question(4);
  EXPECT_EQ(arrived(), Ids{4});
}

TEST_F(SimNetworkTest, WhatIsHeldForTwoReasonsWaitsForBoth) {
  network_.hold_kind(0, 1, kind_of(ReadIndexRequest{}));
  network_.clog(0, 1);
  question(1);
  answer(2);
  network_.unclog(0, 1);
  EXPECT_EQ(arrived(), Ids{2});
  network_.hold_kind(0, 1, kind_of(ReadIndexRequest{}));
  network_.release_kind(0, 1, kind_of(ReadIndexRequest{}));
  EXPECT_EQ(arrived(), Ids{}) << "held twice, released once";
  network_.release_kind(0, 1, kind_of(ReadIndexRequest{}));
  EXPECT_EQ(arrived(), Ids{1});
}

TEST_F(SimNetworkTest, TheOtherWayIsFree) {
  network_.hold_kind(0, 1, kind_of(ReadIndexRequest{}));
  network_.send(1, 0, ReadIndexRequest{.id = 5});
  EXPECT_EQ(arrived(), Ids{5});
}

}  // namespace
}  // namespace coordkit::sim

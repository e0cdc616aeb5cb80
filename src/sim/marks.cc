#include "coordkit/sim/marks.h"

namespace coordkit::sim {
namespace {

constexpr std::string_view kNames[kMarks] = {
    "joint_configuration",
    "crash_while_joint",
    "leader_lost_while_joint",
    "partition_while_joint",
    "read_while_joint",
    "configuration_rolled_back",
    "change_overwritten",
    "learner_promoted",
    "leader_lost_after_promotion",
    "leader_removed",
    "member_replaced",
    "disk_set_back",
    "set_back_noticed",
    "disk_mixed_up",
    "mix_up_noticed",
    "removed_member_returned",
    "transfer_ordered",
    "transfer_during_partition",
    "transfer_campaign_won",
    "state_offered",
    "state_installed",
    "install_while_joint",
    "leader_changed_during_state",
    "crash_during_state",
    "state_resumed",
    "unsynced_write_found",
    "holes_found",
    "short_log_found",
    "rotten_state_found",
    "open_failed",
    "power_lost_in_open",
    "halted_by_disk",
    "waited_for_space",
    "session_resumed",
    "session_vouched_for",
    "session_taken_over",
    "session_killed",
    "hold_forced",
    "permits_granted",
    "latch_opened",
    "barrier_opened",
    "parties_met",
    "parties_left",
    "item_claimed",
    "item_claimed_again",
    "item_acknowledged",
    "number_given",
    "member_joined",
    "leader_seen",
    "watch_caught_up",
    "watch_marked",
    "watch_of_the_future",
    "watch_compacted",
    "watch_lost_its_replica",
};

}  // namespace

std::string_view name_of(Mark mark) { return kNames[static_cast<size_t>(mark)]; }

}  // namespace coordkit::sim

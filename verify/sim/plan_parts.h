// The parts of a plan, each drawn by a function of its own; a profile (plan.cc) is a choice of them. Their draws depend on the
// draws before, so a part that came later is drawn after all others, and older seeds keep what they draw.
#pragma once

#include "base/random.h"
#include "coordkit/sim/sim_options.h"
#include "sim/plan.h"

namespace coordkit::sim {

// Spread over orders of magnitude: small values are as likely as large ones.
Duration draw_wide(Random& random, Duration low, Duration high);

void draw_cluster(Plan& plan, const SimOptions& options, Random& random);
// Rates at the edges of the bound are the interesting ones.
void draw_clocks(Plan& plan, Random& random);
void draw_qualities(Plan& plan, Random& random);
void draw_work(Plan& plan, Random& random);
// When a replica has to be sent a state.
void draw_states(Plan& plan, Random& random);

// Faults: `share` scales how likely each is; `haste` divides the time between two.
void draw_faults(Plan& plan, Random& random, double share = 1, int64_t haste = 1);
// How the log's files are cut, and what its disk does to them.
void draw_disks(Plan& plan, Random& random, double share, int64_t haste = 1);
void draw_late_faults(Plan& plan, Random& random, double share, int64_t haste = 1);
void draw_state_rot(Plan& plan, Random& random, double share, int64_t haste = 1);
// In every profile with faults.
void draw_strangers(Plan& plan, Random& random, double share, int64_t haste);

// With this probability:
void draw_primitives(Plan& plan, Random& random, double chance);
// Files are gone at the next start.
void draw_lost_files(Plan& plan, Random& random, double chance);
// Members change on both sides of a cut, in plans in which they change at all.
void draw_overtaken(Plan& plan, Random& random, double chance);
// Replicas read what they have stored now and then, and what they hold rots in different places on all of them.
void draw_scrubs(Plan& plan, Random& random, double chance);
// Errors that come once, or some in a row, of files that can be made again. The part that comes last.
void draw_passing_errors(Plan& plan, Random& random, double chance);

// One to four processes without a replica, their clocks, and what happens to them.
void draw_remotes(Plan& plan, Random& random);

// The fault that two histories come of.
void draw_histories(Plan& plan, Random& random);

}  // namespace coordkit::sim

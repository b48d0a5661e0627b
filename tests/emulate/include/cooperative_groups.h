/* SPDX-License-Identifier: MIT */
/* cooperative_groups.h: clusters. */
#ifndef RV_EMULATE_COOPERATIVE_GROUPS_H
#define RV_EMULATE_COOPERATIVE_GROUPS_H

#include "emulate_machine.h"

namespace cooperative_groups {

struct cluster_group {
  void sync(emulate::Place at = emulate::Place::here(__builtin_FILE(), __builtin_LINE())) const {
    emulate::cluster_barrier(at);
  }
  unsigned block_rank() const { return emulate::cluster_rank(); }
  unsigned num_blocks() const { return emulate::cluster_blocks(); }
  template <class T> T *map_shared_rank(T *mine, unsigned rank) const {
    return (T *)emulate::cluster_shared((void *)mine, rank);
  }
};

static inline cluster_group this_cluster() {
  return {};
}

} // namespace cooperative_groups

#endif

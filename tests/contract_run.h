/* SPDX-License-Identifier: MIT */
/* contract_run.h: shared by the files of the contract test. */
#ifndef CONTRACT_RUN_H
#define CONTRACT_RUN_H

#include "contract.h"

/* One algorithm on one engine. */
typedef struct Contract {
  RvCheck *check;
  const RvContract *rules;
  RvEngine engine;
  char name[64]; /* "contract/sgm/cpu" */
} Contract;

/* A valid config whose log counts lines; the caller frees it. */
typedef struct Lines {
  int count;
  char last[256];
} Lines;
void *contract_config(const Contract *c, Lines *lines);

/* --- contract_memory.c: stands between the library and its memory ------------------------------
 */
typedef struct AllocTracker {
  long blocks;     /* alive now */
  size_t bytes[2]; /* taken since alloc_tracker_clear, per engine */
  long calls;      /* allocations asked for since alloc_tracker_clear, malloc's family included */
  long waits;      /* waits for the GPU since alloc_tracker_clear */
} AllocTracker;
void alloc_tracker_clear(void);
AllocTracker alloc_tracker_read(void);
void alloc_tracker_refuse(long nth); /* the nth allocation from now on fails; 0: none */

/* First damaged guard of any arena that is open, as text; NULL when all are whole. */
const char *alloc_tracker_damage(char *text, size_t size);

void contract_memory(const Contract *c);

/* --- contract_host.c: rv_host.h ----------------------------------------------------------------
 */
void contract_host(RvCheck *check, RvEngine engine);

/* --- contract_planes.c: runs on guarded planes --------------------------------------------------
 */
void contract_planes(const Contract *c);

#endif

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

/* A legal config whose log counts lines; the caller frees it. */
typedef struct Lines {
  int count;
  char last[256];
} Lines;
void *contract_config(const Contract *c, Lines *lines);

/* --- contract_memory.c: stands between the library and its memory ------------------------------
 */
typedef struct Ledger {
  long blocks;     /* alive now */
  size_t bytes[2]; /* taken since ledger_clear, per engine */
  long calls;      /* allocations asked for since ledger_clear, malloc's family included */
  long waits;      /* waits for the GPU since ledger_clear */
} Ledger;
void ledger_clear(void);
Ledger ledger_read(void);
void ledger_refuse(long nth); /* the nth allocation from now on fails; 0: none */

/* First damaged guard of any arena that is open, as text; NULL when all are whole. */
const char *ledger_damage(char *text, size_t size);

void contract_memory(const Contract *c);

/* --- contract_planes.c: runs on guarded planes --------------------------------------------------
 */
void contract_planes(const Contract *c);

#endif

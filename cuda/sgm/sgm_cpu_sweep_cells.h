/* SPDX-License-Identifier: MIT */
/* sgm_cpu_sweep_cells.h: the loops over cells; sgm_cpu_sweep.c includes this once for 8-bit and
 * once for 16-bit cells (BITS). */
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define OF(name) PASTE(name, BITS)
#define STEP(...) OF(step)(__VA_ARGS__)
#define AHEAD 6 /* columns prefetched */
#define CELL PASTE(PASTE(uint, BITS), _t)
#define CELLS (V_BYTES * 8 / BITS)                   /* in a vector */
#define VECTORS_MAX (RV_SGM_DISPARITIES_MAX / CELLS) /* in a state */
#define SUMS_MAX (RV_SGM_DISPARITIES_MAX * 2 / V_BYTES)

/* Costs of the candidates of column x. */
INLINE void OF(costs)(const RvSgmRow *r, int x, int vectors, V *out) {
  const int width = r->config->width;
  const int base = rv_min(width - 1 - x + r->config->min_disparity, width - 1);
#if BITS == 8
  for (int j = 0; j < vectors; j++)
    out[j] = cost_bytes(r, x, base + j * V_BYTES);
#else
  uint8_t bytes[RV_SGM_DISPARITIES_MAX + RV_SGM_LANES];
  for (int j = 0; j < vectors * CELLS; j += V_BYTES)
    v_store(bytes + j, cost_bytes(r, x, base + j));
  for (int j = 0; j < vectors; j++)
    out[j] = v_widen(bytes + j * CELLS);
#endif
}

/* One step of one path (eq. 2.3): replaces the state, adds it to the sums; P1 of k - 1 -> k and of
 * k + 1 -> k. Sums of 8-bit cells are kept as the even and the odd lanes of each vector. */
INLINE void OF(step)(CELL *state, CELL *minimum, const V *cost, int p1_below, int p1_above, int p2,
                     int vectors, V *sums) {
  const V low = OF(v_set)(*minimum), high = OF(v_set)(*minimum + p2);
  const V from_below = OF(v_set)(p1_below), from_above = OF(v_set)(p1_above);
  V before = v_ones(), here = v_load(state), lowest = v_ones();
  for (int j = 0; j < vectors; j++) {
    const V after = j + 1 < vectors ? v_load(state + (j + 1) * CELLS) : v_ones();
    /* Saturated: beyond the ends of the range are the highest values. */
    V best = OF(v_min)(OF(v_adds)(OF(v_shl)(before, here), from_below),
                       OF(v_adds)(OF(v_shr)(here, after), from_above));
    best = OF(v_min)(best, OF(v_min)(here, high));
    const V cell = OF(v_add)(OF(v_sub)(best, low), cost[j]);
    v_store(state + j * CELLS, cell);
    lowest = OF(v_min)(lowest, cell);
#if BITS == 8
    sums[2 * j] = v_add16(sums[2 * j], v_even(cell));
    sums[2 * j + 1] = v_add16(sums[2 * j + 1], v_odd(cell));
#else
    sums[j] = v_add16(sums[j], cell);
#endif
    before = here;
    here = after;
  }
  *minimum = (CELL)OF(v_min_of)(lowest);
}

/* Left to right: its cells go to the start of the row's slot. */
INLINE void OF(first_row)(const RvSgmRow *r, int vectors) {
  CELL *state = r->chain.cells, *minimum = r->chain.minima, *out = r->slot;
  V cost[VECTORS_MAX], sums[SUMS_MAX];
  memset(sums, 0, sizeof sums);
  memset(state, 0, (size_t)vectors * V_BYTES);
  *minimum = 0;
  for (int x = 0; x < r->config->width; x++) {
    OF(costs)(r, x, vectors, cost);
    const int p2 = penalty(r, x, r->gray, rv_max(x - 1, 0));
    STEP(state, minimum, cost, r->config->p1, r->config->p1, p2, vectors, sums);
    for (int j = 0; j < vectors; j++)
      v_store(out + (x * vectors + j) * (ptrdiff_t)CELLS, v_load(state + j * CELLS));
  }
}

/* The first path's cells as sums. */
INLINE void OF(sums_of_first)(const CELL *cells, int vectors, V *sums) {
  for (int j = 0; j < vectors; j++) {
    const V cell = v_load(cells + j * CELLS);
#if BITS == 8
    sums[2 * j] = v_even(cell);
    sums[2 * j + 1] = v_odd(cell);
#else
    sums[j] = cell;
#endif
  }
}

/* One step of a diagonal; a path that enters the image here starts with zeros. */
INLINE void OF(diagonal)(const RvSgmRow *r, int side, int x, const V *cost, int vectors, V *sums) {
  const int width = r->config->width, before = side ? x + 1 : x - 1;
  const int place = x + r->diagonal_at[side];
  const int slot = place < r->diagonals ? place : place - r->diagonals;
  CELL *state = (CELL *)r->diagonal[side].cells + (size_t)slot * (size_t)vectors * CELLS;
  CELL *minimum = (CELL *)r->diagonal[side].minima + slot;
  if (before < 0 || before >= width) {
    memset(state, 0, (size_t)vectors * V_BYTES);
    *minimum = 0;
  }
  const int p2 = penalty(r, x, r->gray_before, rv_clamp(before, 0, width - 1));
  STEP(state, minimum, cost, r->p1_below, r->p1_above, p2, vectors, sums);
}

INLINE void OF(pixel)(const RvSgmRow *r, int x, int vectors, int back, int diagonals, int first,
                      int winner) {
  const int count = vectors * (BITS == 8 ? 2 : 1);
  uint16_t *slot = (uint16_t *)r->slot + (ptrdiff_t)x * vectors * CELLS;
  V cost[VECTORS_MAX], sums[SUMS_MAX];
  /* Columns run backwards: the hardware does not prefetch the sums of the next ones. */
  for (int j = 0; j < vectors * CELLS * 2; j += 64)
    __builtin_prefetch((const char *)slot - AHEAD * vectors * CELLS * 2 + j, 1);
  OF(costs)(r, x, vectors, cost);
  if (first)
    OF(sums_of_first)((const CELL *)r->slot + (ptrdiff_t)x * vectors * CELLS, vectors, sums);
  else
    for (int j = 0; j < count; j++)
      sums[j] = v_load(slot + j * (V_BYTES / 2));
  const int p1 = r->config->p1;
  const int next = rv_min(x + 1, r->config->width - 1);
  CELL *above = (CELL *)r->vertical.cells + (ptrdiff_t)x * vectors * CELLS;
  if (back)
    STEP(r->chain.cells, r->chain.minima, cost, p1, p1, penalty(r, x, r->gray, next), vectors,
         sums);
  STEP(above, (CELL *)r->vertical.minima + x, cost, r->p1_below, r->p1_above,
       penalty(r, x, r->gray_before, x), vectors, sums);
  if (diagonals) {
    OF(diagonal)(r, 0, x, cost, vectors, sums);
    OF(diagonal)(r, 1, x, cost, vectors, sums);
  }
  if (winner) {
#if BITS == 8
    for (int j = 0; j < vectors; j++) {
      const V even = sums[2 * j], odd = sums[2 * j + 1];
      v_merge(even, odd, &sums[2 * j], &sums[2 * j + 1]);
    }
#endif
    pick(r, x, sums, count);
    return;
  }
  for (int j = 0; j < count; j++)
    v_store(slot + j * (V_BYTES / 2), sums[j]);
}

INLINE void OF(span)(const RvSgmRow *r, RvSgmPass pass, int from, int to, int vectors) {
  if (pass == RV_SGM_PARTIAL8)
    for (int x = to - 1; x >= from; x--)
      OF(pixel)(r, x, vectors, 1, 1, 1, 0);
  else if (pass == RV_SGM_PARTIAL4)
    for (int x = to - 1; x >= from; x--)
      OF(pixel)(r, x, vectors, 1, 0, 1, 0);
  else if (pass == RV_SGM_ONLY2)
    for (int x = to - 1; x >= from; x--)
      OF(pixel)(r, x, vectors, 0, 0, 1, 1);
  else if (pass == RV_SGM_FINAL8)
    for (int x = to - 1; x >= from; x--)
      OF(pixel)(r, x, vectors, 0, 1, 0, 1);
  else
    for (int x = to - 1; x >= from; x--)
      OF(pixel)(r, x, vectors, 0, 0, 0, 1);
}

/* The usual numbers of vectors get loops of constant length. */
static void OF(first_)(const RvSgmRow *r) {
  const int vectors = r->config->disparities / CELLS;
  if (BITS == 8 && vectors == 128 / CELLS)
    OF(first_row)(r, 128 / CELLS);
  else if (BITS == 8 && vectors == 64 / CELLS)
    OF(first_row)(r, 64 / CELLS);
  else
    OF(first_row)(r, vectors);
}

static void OF(columns_)(const RvSgmRow *r, RvSgmPass pass, int from, int to) {
  const int vectors = r->config->disparities / CELLS;
  if (BITS == 8 && vectors == 128 / CELLS)
    OF(span)(r, pass, from, to, 128 / CELLS);
  else if (BITS == 8 && vectors == 64 / CELLS)
    OF(span)(r, pass, from, to, 64 / CELLS);
  else
    OF(span)(r, pass, from, to, vectors);
}

#undef BITS
#undef AHEAD
#undef CELL
#undef CELLS
#undef VECTORS_MAX
#undef SUMS_MAX
#undef OF
#undef STEP
#undef PASTE
#undef PASTE_

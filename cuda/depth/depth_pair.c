/* SPDX-License-Identifier: MIT */
/* depth_pair.c: a small search on the host for the reason why a pair does not match. Every
 * textured point votes for the position where its neighborhood is found best; chance spreads
 * over all positions, a fault of the rig does not. */
#include "depth/depth.h"

#include <stdlib.h>
#include <string.h>

#include "rv_hd.h"
#include "rv_internal.h"

#define HALF_W 5 /* px: windows of 11 x 7 */
#define HALF_H 3
#define POINTS_MAX 256
#define RANGE_MAX 256  /* px searched per position, so that the time stays bounded */
#define TEXTURE_MIN 12 /* gray levels of horizontal contrast in a window that can vote */
#define ORDER_POINTS 1024
#define ORDER_MIN 48       /* fewer points on the other side do not tell the order */
#define ORDER_DEVIATIONS 5 /* of a fair coin: smallest lead of the other side */
#define ORDER_LIMIT 24     /* gray levels a pixel: strong compression still matches */
#define SHARE_PERCENT 35   /* of the votes: what makes a fault likely; chance: 3 % */

typedef struct Search {
  const RvPlane *left, *right;
  int low, count; /* px: first disparity and length of the searched range */
} Search;

/* Votes per position: rows -RV_PAIR_ROWS_MAX .. RV_PAIR_ROWS_MAX, then the other two. */
enum { ROWS = 2 * RV_PAIR_ROWS_MAX + 1, SWAPPED = ROWS, BEYOND, PLACES };

static const uint8_t *pixel(const RvPlane *plane, int x, int y) {
  return (const uint8_t *)plane->data + y * plane->stride + x;
}

/* Difference of two windows after taking out the difference of their means (exposure). Gray levels
 * x pixels; `limit` ends the sum early. */
static int difference(const Search *s, int lx, int ly, int rx, int ry, int limit) {
  const int pixels = (2 * HALF_W + 1) * (2 * HALF_H + 1);
  int shift = 0;
  for (int v = -HALF_H; v <= HALF_H; v++)
    for (int u = -HALF_W; u <= HALF_W; u++)
      shift += *pixel(s->left, lx + u, ly + v) - *pixel(s->right, rx + u, ry + v);
  shift = rv_div_floor(2 * shift + pixels, 2 * pixels);
  int sum = 0;
  for (int v = -HALF_H; v <= HALF_H && sum < limit; v++)
    for (int u = -HALF_W; u <= HALF_W; u++)
      sum += rv_abs(*pixel(s->left, lx + u, ly + v) - *pixel(s->right, rx + u, ry + v) - shift);
  return sum;
}

/* Smallest difference over the disparities first .. first + count - 1 on right row ry. */
static int best_of(const Search *s, int x, int y, int ry, int first, int count, int limit,
                   int *where) {
  int best = limit;
  for (int d = first; d < first + count; d++) {
    const int rx = x - d;
    if (rx < HALF_W || rx >= s->right->width - HALF_W)
      continue;
    const int cost = difference(s, x, y, rx, ry, best);
    if (cost < best) {
      best = cost;
      *where = d;
    }
  }
  return best;
}

/* The position where the window at (x, y) is found best; -1 when it is found nowhere. */
static int vote(const Search *s, int x, int y, int *disparity) {
  int best = 8 * (2 * HALF_W + 1) * (2 * HALF_H + 1); /* 8 gray levels a pixel: no match */
  int place = -1;
  for (int step = 0; step < ROWS; step++) {
    /* Row offsets 0, 1, -1, 2, ...: the nearest wins a tie. */
    const int offset = step % 2 ? (step + 1) / 2 : -step / 2;
    const int ry = y + offset;
    if (ry < HALF_H || ry >= s->right->height - HALF_H)
      continue;
    const int cost = best_of(s, x, y, ry, s->low, s->count, best, disparity);
    if (cost < best) {
      best = cost;
      place = offset + RV_PAIR_ROWS_MAX;
    }
  }
  int cost = best_of(s, x, y, y, -s->low - s->count + 1, s->count, best, disparity);
  if (cost < best) {
    best = cost;
    place = SWAPPED;
  }
  const int below = rv_min(s->low, RANGE_MAX / 2);
  cost = best_of(s, x, y, y, s->low - below, below, best, disparity);
  cost = best_of(s, x, y, y, s->low + s->count, s->count, cost, disparity);
  return cost < best ? BEYOND : place;
}

/* Horizontal contrast of a window: what a match along the row needs. */
static int textured(const RvPlane *plane, int x, int y) {
  int low = 255, high = 0;
  for (int u = -HALF_W; u <= HALF_W; u++) {
    low = rv_min(low, *pixel(plane, x + u, y));
    high = rv_max(high, *pixel(plane, x + u, y));
  }
  return high - low >= TEXTURE_MIN;
}

/* 1: the window at (x, y) is found clearly better on the side of the range, -1: on the other
 * side. */
static int side(const Search *s, int x, int y) {
  const int limit = ORDER_LIMIT * (2 * HALF_W + 1) * (2 * HALF_H + 1);
  int where;
  const int straight = best_of(s, x, y, y, s->low, s->count, limit, &where);
  const int swapped = best_of(s, x, y, y, -s->low - s->count + 1, s->count, limit, &where);
  return 5 * straight < 4 * swapped ? 1 : 5 * swapped < 4 * straight ? -1 : 0;
}

/* Point i of a lattice with steps that do not divide each other's, so that stripes are not
 * missed. */
static void lattice(unsigned i, const RvPlane *plane, int *x, int *y) {
  *x = HALF_W + (int)(i * 2654435761u % (unsigned)(plane->width - 2 * HALF_W));
  *y = HALF_H + (int)(i * 2246822519u % (unsigned)(plane->height - 2 * HALF_H));
}

static int is_searchable(const RvPlane *plane) {
  return plane->width > 2 * HALF_W && plane->height > 2 * HALF_H;
}

static void find_order(const Search *s, RvPairOrder *order) {
  memset(order, 0, sizeof *order);
  for (unsigned i = 0; is_searchable(s->left) && i < 4 * ORDER_POINTS; i++) {
    int x, y;
    lattice(i, s->left, &x, &y);
    if (!textured(s->left, x, y))
      continue;
    const int found = side(s, x, y);
    order->straight += found > 0;
    order->swapped += found < 0;
    if (++order->points == ORDER_POINTS)
      break;
  }
  const int lead = order->swapped - order->straight, sum = order->swapped + order->straight;
  order->is_swapped = order->swapped >= ORDER_MIN && 4 * order->swapped >= 5 * order->straight &&
                      lead > 0 && lead * lead > ORDER_DEVIATIONS * ORDER_DEVIATIONS * sum;
}

static int by_value(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* Turns the votes into a report. Neighboring row offsets count together: rigs are tilted, and the
 * offset changes over the image. */
static void judge(const int *votes, int *beyond, const RvPairOrder *order, RvPairReport *report) {
  int total = 0;
  for (int p = 0; p < PLACES; p++)
    total += votes[p];
  int row = 0, row_votes = 0;
  for (int p = 0; p < ROWS; p++) {
    const int offset = p - RV_PAIR_ROWS_MAX;
    const int sum = votes[p] + (p > 0 && offset != 1 ? votes[p - 1] : 0) +
                    (p + 1 < ROWS && offset != -1 ? votes[p + 1] : 0);
    if (offset != 0 &&
        (sum > row_votes || (sum == row_votes && votes[p] > votes[row + RV_PAIR_ROWS_MAX]))) {
      row = offset;
      row_votes = sum;
    }
  }
  const int straight = votes[RV_PAIR_ROWS_MAX];
  const int need = rv_max(straight, (total * SHARE_PERCENT + 99) / 100);
  report->fault = RV_PAIR_UNKNOWN;
  report->votes = 0;
  const int swapped = votes[SWAPPED], outside = votes[BEYOND];
  if (total == 0 || rv_max(row_votes, rv_max(swapped, outside)) <= need) {
    report->fault = order->is_swapped ? RV_PAIR_SWAPPED : RV_PAIR_UNKNOWN;
    report->votes = order->is_swapped ? swapped : 0;
    return;
  }
  if (swapped >= row_votes && swapped >= outside) {
    report->fault = RV_PAIR_SWAPPED;
    report->votes = swapped;
  } else if (outside >= row_votes) {
    qsort(beyond, (size_t)outside, sizeof *beyond, by_value);
    report->fault = RV_PAIR_RANGE;
    report->disparity = beyond[outside / 2];
    report->votes = outside;
  } else {
    report->fault = RV_PAIR_ROWS;
    report->row_offset = row;
    report->votes = row_votes;
  }
}

static RvStatus make_search(const RvPlane *left, const RvPlane *right, int min_disparity,
                            int disparities, const void *out, Search *search, const RvLog *log) {
  RV_REQUIRE(log, left && right && out, "depth_pair: images and report must not be NULL");
  RV_REQUIRE(log,
             rv_plane_fits(left, left->width, left->height, RV_U8) &&
                 rv_plane_fits(right, left->width, left->height, RV_U8),
             "depth_pair: left and right must be RV_U8 of one size");
  RV_REQUIRE(log, min_disparity >= 0 && disparities > 0,
             "depth_pair: the range of disparities must not be empty");
  *search = (Search){left, right, min_disparity, rv_min(disparities, RANGE_MAX)};
  return RV_OK;
}

RvStatus rv_pair_order(const RvPlane *left, const RvPlane *right, int min_disparity,
                       int disparities, RvPairOrder *order, const RvLog *log) {
  Search search;
  RV_TRY(make_search(left, right, min_disparity, disparities, order, &search, log));
  find_order(&search, order);
  return RV_OK;
}

RvStatus rv_pair_diagnose(const RvPlane *left, const RvPlane *right, int min_disparity,
                          int disparities, RvPairReport *report, const RvLog *log) {
  Search search;
  RvPairOrder order;
  RV_TRY(make_search(left, right, min_disparity, disparities, report, &search, log));
  memset(report, 0, sizeof *report);
  int votes[PLACES] = {0};
  int beyond[POINTS_MAX];
  for (unsigned i = 0; is_searchable(left) && i < 8 * POINTS_MAX; i++) {
    int x, y;
    lattice(i, left, &x, &y);
    if (!textured(left, x, y))
      continue;
    int disparity = 0;
    const int place = vote(&search, x, y, &disparity);
    if (place == BEYOND)
      beyond[votes[BEYOND]] = disparity;
    if (place >= 0)
      votes[place]++;
    if (++report->points == POINTS_MAX)
      break;
  }
  find_order(&search, &order);
  judge(votes, beyond, &order, report);
  return RV_OK;
}

/* SPDX-License-Identifier: MIT */
/* rvcheck_test.c: the driver itself: a planted difference must be found, selection must select. */
#include "rvcheck_run.h"

#include <stdio.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

static RvCheck new_check(const char *only) {
  return (RvCheck){
      .again = "rvcheck --only", .only = only, .seed = 7, .log_lock = PTHREAD_MUTEX_INITIALIZER};
}

static void test_selection(void) {
  RvCheck all = new_check(NULL), stage = new_check("sgm/census,draw"), glob = new_check("sgm/1*p8");
  EXPECT(rvc_wants(&all, "sgm") && rvc_wants(&all, "sgm/census"));
  EXPECT(rvc_wants(&stage, "sgm") && rvc_wants(&stage, "sgm/census"));
  EXPECT(rvc_wants(&stage, "sgm/census/odd") && rvc_wants(&stage, "draw/text"));
  EXPECT(!rvc_wants(&stage, "sgm/median") && !rvc_wants(&stage, "sg") &&
         !rvc_wants(&stage, "drawn"));
  EXPECT(rvc_wants(&glob, "sgm/1242x375-d128-p8") && !rvc_wants(&glob, "sgm/1242x375-d128-p4"));
}

static void test_comparison(void) {
  RvCheck check = new_check(NULL);
  uint16_t a[3 * 8] = {0}, b[3 * 10] = {0};
  const RvPlane expected = {a, 8 * sizeof *a, 7, 3, RV_U16};
  RvPlane got = {b, 10 * sizeof *b, 7, 3, RV_U16};
  b[9] = 99; /* padding: not compared */
  EXPECT(rvc_same(&check, "same", &expected, &got, "padding differs"));
  EXPECT(check.failures == 0 && check.checks == 1);
  b[2 * 10 + 6] = 1; /* the very last value */
  printf("the next FAIL is meant:\n");
  EXPECT(!rvc_same(&check, "same", &expected, &got, "planted"));
  EXPECT(check.failures == 1 && check.checks == 2);
  got.width = 6;
  printf("the next FAIL is meant:\n");
  EXPECT(!rvc_same(&check, "same", &expected, &got, "other size"));
  EXPECT(!rvc_true(&check, "true", 0, "the next check after this line is meant to fail: %d", 3));
  EXPECT(rvc_true(&check, "true", 1, "unused"));
  EXPECT(check.failures == 3 && check.checks == 5);
}

static void test_random(void) {
  RvCheck check = new_check(NULL);
  RvRandom one = rvc_random(&check, "one"), again = rvc_random(&check, "one");
  RvRandom two = rvc_random(&check, "two");
  int equal = 0, low = 100, high = -100;
  for (int i = 0; i < 1000; i++) {
    const uint32_t value = rvc_next(&one);
    EXPECT(value == rvc_next(&again));
    equal += value == rvc_next(&two);
    const int v = rvc_range(&two, -3, 4);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  EXPECT(equal < 3 && low == -3 && high == 4);
  uint8_t raster[17 * 9];
  for (int kind = 0; kind < RVC_KINDS; kind++) {
    memset(raster, 77, sizeof raster);
    rvc_fill_u8(&one, kind, raster, 16, 9, 17);
    for (int y = 0; y < 9; y++)
      EXPECT(raster[y * 17 + 16] == 77);
    EXPECT(kind != RVC_ONES || (raster[0] == 255 && raster[8 * 17 + 15] == 255));
  }
}

int main(void) {
  test_selection();
  test_comparison();
  test_random();
  printf("rvcheck_test: %d failed\n", failures);
  return failures ? 1 : 0;
}

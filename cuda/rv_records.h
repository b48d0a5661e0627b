/* SPDX-License-Identifier: MIT */
/* rv_records.h: the records that annotations carry. Little endian, naturally aligned, no padding
 * but the named fields. A layout never changes under the same version number: a new one gets a new
 * version, which the annotation carries as its scalar `version`. */
#ifndef RV_RECORDS_H
#define RV_RECORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RV_RECORDS_VERSION 1

/* Structural classes of a stixel. */
typedef enum RvStixelClass { RV_STIXEL_GROUND = 0, RV_STIXEL_OBJECT, RV_STIXEL_SKY } RvStixelClass;

#define RV_SEMANTIC_NONE 255 /* RvStixel.semantic: no class known */

/* One stixel: columns [column, column + stixel-width), rows v_top..v_bottom of the full picture,
 * counted from the top, both inclusive. Disparity at row y = slope * y + intercept. */
typedef struct RvStixel {
  uint16_t column;   /* px, left edge */
  uint16_t v_bottom; /* px, >= v_top */
  uint16_t v_top;    /* px */
  uint8_t structure; /* RvStixelClass */
  uint8_t semantic;  /* class index, RV_SEMANTIC_NONE without semantics */
  float slope;       /* px of disparity per px of row */
  float intercept;   /* px of disparity at row 0 */
  float cost;        /* share of this stixel in the energy, nat */
} RvStixel;

/* One segment of a depth column: rows first..last inclusive, disparity linear between the ends. */
typedef struct RvSegment {
  uint16_t column; /* px */
  uint16_t first;  /* px, row from the top */
  uint16_t last;   /* px, >= first */
  uint16_t reserved;
  uint16_t disparity_first; /* 1/16 px */
  uint16_t disparity_last;  /* 1/16 px */
} RvSegment;

/* One line x cos(theta) + y sin(theta) = rho. The end points are 0 when `segments` was off. */
typedef struct RvLine {
  float rho;      /* px */
  float theta;    /* radians, 0 <= theta < pi */
  uint32_t votes; /* number of votes, or their weight when `weighted` */
  int16_t x0, y0; /* px */
  int16_t x1, y1; /* px */
} RvLine;

#ifdef __cplusplus
}
#endif
#endif

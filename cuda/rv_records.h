/* SPDX-License-Identifier: MIT */
/* rv_records.h: the records and enumerations of annotations. Records are little endian and
 * naturally aligned; the only padding is in the fields named `reserved`, which are 0. A layout
 * never changes under the same version number: a new layout gets a new version, which each
 * annotation contains as its scalar `version`.
 *
 * Coordinates of the vehicle: Z forward, X positive to the right, both from the left camera, m. */
#ifndef RV_RECORDS_H
#define RV_RECORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RV_RECORDS_VERSION 1

/* Structural classes of a stixel. */
typedef enum RvStixelClass { RV_STIXEL_GROUND = 0, RV_STIXEL_OBJECT, RV_STIXEL_SKY } RvStixelClass;

#define RV_SEMANTIC_NONE 255 /* RvStixel.semantic: unknown class */

/* One stixel: columns [column, column + stixel-width), rows v_top..v_bottom of the complete image,
 * counted from the top, both inclusive. Disparity at row y = slope * y + intercept. */
typedef struct RvStixel {
  uint16_t column;   /* px, left edge */
  uint16_t v_bottom; /* px, >= v_top */
  uint16_t v_top;    /* px */
  uint8_t structure; /* RvStixelClass */
  uint8_t semantic;  /* class index, RV_SEMANTIC_NONE without semantics */
  float slope;       /* px of disparity per px of row */
  float intercept;   /* px of disparity at row 0 */
  float cost;        /* energy of this stixel, nats */
} RvStixel;

/* Depth model of stixels. */
typedef enum RvStixelsModelKind {
  RV_STIXELS_SLANTED_FAST = 0, /* (4.12): no outlier term, costs in closed form */
  RV_STIXELS_SLANTED,          /* (3.9): every cell against the plane of the stixel */
  RV_STIXELS_CONSTANT          /* (3.9): ground is the expected plane, objects have one disparity,
                                * whose cost is that of the nearest integer px */
} RvStixelsModelKind;

/* Content of a semantics payload. */
typedef enum RvSemanticsKind {
  RV_SEMANTICS_LABELS = 0, /* u8: one class index per cell */
  RV_SEMANTICS_SCORES      /* f16: one plane of scores per class */
} RvSemanticsKind;

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

/* Source of a ground surface. */
typedef enum RvGroundSource {
  RV_GROUND_ROAD = 0, /* plane of RvRoadMeta */
  RV_GROUND_ESTIMATE, /* estimated from this disparity */
  RV_GROUND_CAMERA,   /* from the height and the pitch of the camera */
  RV_GROUND_MEMORY    /* of a previous frame */
} RvGroundSource;

typedef enum RvObstacleKind {
  RV_OBSTACLE_OBJECT = 0,
  RV_OBSTACLE_POLE,    /* narrower than 0.4 m and taller than 1.5 m */
  RV_OBSTACLE_WALL,    /* longer than 4 m */
  RV_OBSTACLE_LOW,     /* top below 0.3 m */
  RV_OBSTACLE_OVERHANG /* bottom above the clearance */
} RvObstacleKind;

typedef enum RvObstacleState {
  RV_OBSTACLE_NEW = 0,  /* not confirmed, without id */
  RV_OBSTACLE_TRACKED,  /* confirmed and seen in this frame */
  RV_OBSTACLE_PREDICTED /* confirmed, not seen in this frame, or joined with others */
} RvObstacleState;

/* Bits of RvObstacle.flags. */
typedef enum RvObstacleFlags {
  RV_OBSTACLE_CUT_LEFT = 1, /* the box ends at the left border of the image */
  RV_OBSTACLE_CUT_RIGHT = 2,
  RV_OBSTACLE_CUT_BELOW = 4,
  RV_OBSTACLE_IN_PATH = 8, /* in the corridor of the vehicle */
  RV_OBSTACLE_MOVING = 16  /* set only if the speed of the vehicle is known */
} RvObstacleFlags;

/* One obstacle; lengths in m, velocities relative to the vehicle in m/s. */
typedef struct RvObstacle {
  uint32_t id;          /* of the track; 0 = not confirmed */
  uint16_t x, y, w, h;  /* bounding box, px */
  float distance;       /* Z of the near face of the visible part */
  float lateral;        /* X of the center */
  float width, height;  /* of the visible part */
  float bottom;         /* above the ground */
  float length;         /* visible extent in Z */
  float velocity_z;     /* negative = approaching */
  float velocity_x;     /* positive = to the right */
  float ttc;            /* time to collision, s; 0 = none */
  float distance_sigma; /* standard deviation of `distance` */
  uint16_t age, missed; /* frames since the first hit and since the last one */
  uint8_t kind;         /* RvObstacleKind */
  uint8_t confidence;   /* 0..255 */
  uint8_t state;        /* RvObstacleState */
  uint8_t flags;        /* RvObstacleFlags */
  uint32_t reserved;
} RvObstacle;

/* What ends the free space of a column. */
typedef enum RvFreeSpaceKind {
  RV_FREE_SPACE_RANGE = 0, /* end of the measured range */
  RV_FREE_SPACE_OBJECT,
  RV_FREE_SPACE_ROAD_EDGE,
  RV_FREE_SPACE_UNKNOWN /* no ground was seen */
} RvFreeSpaceKind;

#define RV_OBSTACLE_NONE 65535 /* RvFreeColumn.obstacle: belongs to no obstacle */

/* End of the free space in one column of `column-width` px. */
typedef struct RvFreeColumn {
  uint16_t row;       /* px from the top */
  uint16_t disparity; /* 1/16 px; 0 = free to the end of the range */
  uint8_t kind;       /* RvFreeSpaceKind */
  uint8_t confidence; /* 0..255 */
  uint16_t obstacle;  /* index in RvObstaclesMeta or RV_OBSTACLE_NONE */
} RvFreeColumn;

typedef enum RvLaneLineKind {
  RV_LANE_LINE_UNKNOWN = 0,
  RV_LANE_LINE_SOLID,
  RV_LANE_LINE_DASHED,
  RV_LANE_LINE_DOUBLE,
  RV_LANE_LINE_DOTS,
  RV_LANE_LINE_CURB,
  RV_LANE_LINE_RAIL,
  RV_LANE_LINE_EDGE /* of the road, painted or not */
} RvLaneLineKind;

typedef enum RvLaneColor {
  RV_LANE_COLOR_UNKNOWN = 0,
  RV_LANE_COLOR_WHITE,
  RV_LANE_COLOR_YELLOW
} RvLaneColor;

/* One line of a lane: X(Z) = offset + heading * Z + curvature * Z^2 / 2. */
typedef struct RvLaneLine {
  uint32_t id;          /* of the track; 0 = not confirmed */
  float offset;         /* X at Z = 0, m */
  float heading;        /* radians, positive to the right */
  float curvature;      /* 1/m, positive to the right */
  float offset_near;    /* X at the reference distance of the lane, m */
  float z_min, z_max;   /* visible range, m */
  float sigma;          /* standard deviation of `offset`, m */
  float support;        /* length that is covered by marks, m */
  uint8_t kind;         /* RvLaneLineKind */
  uint8_t color;        /* RvLaneColor */
  int8_t position;      /* -2 left neighbor, -1 left, 1 right, 2 right neighbor, 0 other */
  uint8_t confidence;   /* 0..255 */
  uint16_t age, missed; /* frames since the first hit and since the last one */
  uint32_t reserved;
} RvLaneLine;

typedef enum RvDetectionSource {
  RV_DETECTION_ROI = 0,  /* GstVideoRegionOfInterestMeta */
  RV_DETECTION_ANALYTICS /* object detection of GstAnalyticsRelationMeta */
} RvDetectionSource;

/* Distance of one box that another element attached. */
typedef struct RvDetection {
  int32_t id;         /* of the ROI or of the Mtd */
  float distance;     /* m; 0 = unknown */
  float lateral;      /* m */
  float velocity_z;   /* m/s, relative; 0 = unknown */
  float ttc;          /* s; 0 = none */
  uint32_t obstacle;  /* id of the overlapping RvObstacle; 0 = none */
  uint8_t valid;      /* fraction of pixels with a disparity, 0..255 */
  uint8_t confidence; /* 0..255 */
  uint8_t source;     /* RvDetectionSource */
  uint8_t reserved;
  float width;  /* m, of the box at that distance; 0 = unknown */
  float height; /* m */
} RvDetection;

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* hough.h: straight lines by the Hough transform (Duda and Hart's rho and theta), as a voting
 * algorithm on the layer of cuda/vote.
 *
 * Source: van den Braak et al., "GPU-vote", section 2.2 and eq. 1, 2. A pixel on an edge votes, at
 * every angle, for the line x cos(theta) + y sin(theta) = rho through it. Both engines give the
 * same bits.
 *
 * Stages, in this order:
 *  1. edges      Sobel 3x3, borders repeated; magnitude M = |gx| + |gy|, 0..2040.
 *                sobel:  an edge where M > edge_low.
 *                canny:  M > edge_low and M is a maximum across the edge (the neighbors in the
 *                        gradient's direction, of four directions, the first one smaller, the other
 *                        not larger), connected through such pixels, 8 neighbors, to one with
 *                        M > edge_high. Pixels outside the image have M = 0.
 *                binary: an edge where the input is not 0.
 *  2. votes      angle k is theta_k = k pi / theta_steps; bin j of an angle is centered on
 *                rho = (j - rho_zero) rho_step, so that an integer rho is never between two bins.
 *                The tables of cos and sin are fixed point, made on the host, and the same for any
 *                way of counting: bin = (x C_k + y S_k + K) >> shift. Rounding is to the nearest,
 *                half up.
 *                weighted: a pixel's vote counts M (binary: its value) instead of 1.
 *                direction: only angles within so many degrees of the gradient's direction.
 *  3. peaks      bins with more votes than `threshold`, none of whose four neighbors (one step of
 *                rho or theta) has more, nor as many and a smaller (k, j). When the angles cover
 *                the 180° range, theta wraps: the neighbor of (0, rho) is (pi - step, -rho).
 *  4. sort       most votes first, then smaller k, then smaller j; the first max_lines.
 *  5. segments   the longest run of edge pixels along each line: pixels the line passes through or
 *                those next to them across it count; gaps up to max_gap px are bridged. Lines
 *                whose longest run is shorter than min_length px are removed.
 *  6. thin       by the host, see rv_hough_thin: with `dashes` a segment for every run of at least
 *                min_length px, so for every dash of a line; then near-duplicates are removed. */
#ifndef RV_HOUGH_H
#define RV_HOUGH_H

#include "rv.h"
#include "rv_params.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvHoughEdges {
  RV_HOUGH_SOBEL = 0, /* gradient above edge_low */
  RV_HOUGH_CANNY,     /* thinned, with hysteresis between edge_low and edge_high */
  RV_HOUGH_BINARY,    /* the input is an edge map */
} RvHoughEdges;

#define RV_HOUGH_LINES_MAX 4096 /* of max_lines */

/* Fields: unit, range; default. rv_hough_params () states the same as a table. */
typedef struct RvHoughConfig {
  int width, height;   /* px, 1..16384; no default */
  RvHoughEdges edges;  /* RV_HOUGH_CANNY */
  int edge_low;        /* 0..2040; 100 */
  int edge_high;       /* at least edge_low, 0..2040; 250. Read only with canny */
  int theta_steps;     /* angles in the range of 180 degrees, 2..3600; 180 */
  double rho_step;     /* px, 0.25..64; 1 */
  double min_theta;    /* degrees, 0 to below 180; 0 */
  double max_theta;    /* degrees, exclusive, above 0..180; 180. At least one angle must
                        * satisfy min_theta <= theta < max_theta */
  int threshold;       /* votes, 0..2000000000; 100. A line needs more votes than this */
  int max_lines;       /* 1..4096; 64 */
  int weighted;        /* 0 or 1; 0 */
  int direction;       /* degrees, 0..45; 0 = off. Not with binary, which has no gradient */
  int segments;        /* 0 or 1; 0 */
  int min_length;      /* px, 0..32767; 30. Read only with segments */
  int max_gap;         /* px, 0..32767; 5. Read only with segments */
  int dashes;          /* 0 or 1; 1. Read only by rv_hough_thin, with segments, like the next two */
  double min_distance; /* px, 0..1000; 8. Of lines of about the same direction; 0 = off */
  double min_angle;    /* degrees, 0..90; 5. Not read with segments. Lines that differ by more are
                        * not duplicates */
  int threads;         /* CPU engine, 0 = all; 0 */
  RvLog log;           /* silent */
} RvHoughConfig;

/* rv_hough_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h. */
RV_ALGORITHM_API(RvHough, hough);

/* Size of the accumulator: bins of an angle, angles, and the bin of rho = 0; 0 for an invalid
 * config. Angle `row` of the accumulator is k = first + row. Any pointer may be NULL. */
RV_API void rv_hough_size(const RvHoughConfig *config, int *bins, int *angles, int *rho_zero,
                          int *first);

/* Where a run puts its results, in the memory of the engine. */
typedef struct RvHoughOutput {
  RvLine *lines;       /* max_lines records; those from *count on are set to 0 */
  uint32_t *count;     /* number of lines */
  RvPlane edges;       /* RV_U8 of width x height: 255 on edges, else 0; data NULL: omitted */
  RvPlane accumulator; /* RV_U32 of rv_hough_size: votes; data NULL: omitted */
  uint32_t *hits;      /* with segments, for rv_hough_thin: max_lines rows of rv_hough_hit_words
                        * words, one for each line before those without a segment are removed: 1
                        * when it was kept, else 0; then a bit for every position along the line,
                        * 1 = an edge. Rows after the last line are 0. NULL: omitted */
} RvHoughOutput;

/* input: RV_U8, gray or an edge map. Planes must not overlap. */
RV_API RvStatus rv_hough_run(RvHough *hough, const RvPlane *input, const RvHoughOutput *out,
                             RvStream stream);

/* Words in a row of hits; 0 for an invalid config. */
RV_API int rv_hough_hit_words(const RvHoughConfig *config);

/* Lines, or every dash of them, without near-duplicates. All in host memory; does not allocate.
 * lines, count, hits: outputs of rv_hough_run of an object with this valid config; hits NULL: as
 * with dashes = 0. memory: rv_hough_thin_bytes, aligned to 8 bytes. out: space for max_lines,
 * must not overlap lines. Returns the number of lines.
 *
 * With segments, longer ones come first, else lines with more votes; on a tie, the first. A
 * segment is a near-duplicate of one before it when both its ends are within min_distance of the
 * other's line, and its middle is next to the other segment or at most min_distance beyond its
 * ends. A line is one when the directions differ by at most min_angle, and the middle of its
 * part inside the image is within min_distance of the other line. max_lines counts before this.
 * The result has the order of `lines`, segments of a line from left to right, or from the top
 * where it is steep; at most the first max_lines of at most RV_HOUGH_LINES_MAX. */
RV_API size_t rv_hough_thin_bytes(const RvHoughConfig *config);
RV_API int rv_hough_thin(const RvHoughConfig *config, const RvLine *lines, int count,
                         const uint32_t *hits, void *memory, RvLine *out);

/* Computes the end points of a line of an image of width x height px in one of to_width x to_height
 * px: those of its segment, or of its part inside the image. ends_fx: x0 y0 x1 y1 in 1/16 px from
 * the corner of the image, pixel centers at 1/2. Returns 0 when the line is outside, else 1. */
RV_API int rv_hough_ends(const RvLine *line, int has_segment, int width, int height, int to_width,
                         int to_height, int ends_fx[4]);

#ifdef __cplusplus
}
#endif
#endif

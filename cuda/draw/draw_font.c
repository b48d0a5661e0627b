/* SPDX-License-Identifier: MIT */
/* draw_font.c: the project's own stroke font and its distance field.
 *
 * A glyph is a path in a cell of RV_FONT_UNITS units: M moves, L draws a line, Q a quadratic curve
 * by its control point and end; coordinates are integer units from the cell's top left corner.
 * Capitals stand from 8 to the base line at 36, small letters reach up to 16, tails down to 45. The
 * field holds the distance of each sample from the path, so that a glyph can be drawn at any size
 * and stroke width. */
#include "draw/draw_stages.h"

#include <math.h>
#include <stdlib.h>

typedef struct Glyph {
  int advance; /* units */
  const char *path;
} Glyph;

#define BOWL "M18 26Q18 16 11 16Q4 16 4 26Q4 36 11 36Q18 36 18 26"
#define RING "M4 18Q4 8 13 8Q22 8 22 18L22 26Q22 36 13 36Q4 36 4 26L4 18"
#define ESS "M20 13Q18 8 12 8Q4 8 4 15Q4 20 12 22Q21 24 21 29Q21 36 12 36Q5 36 3 30"
#define ROOF "M4 8L13 8Q21 8 21 16Q21 24 13 24L4 24M4 8L4 36"

static const Glyph glyphs[RV_FONT_GLYPHS] = {
    {13, ""},                                             /* space */
    {12, "M6 8L6 26M5 35L6 35L6 36L5 36L5 35"},           /* ! */
    {16, "M5 8L5 15M11 8L11 15"},                         /* " */
    {23, "M9 10L6 34M17 10L14 34M3 18L20 18M3 26L19 26"}, /* # */
    {25, ESS "M12 4L12 40"},                              /* $ */
    {26, "M5 36L21 8M4 13Q4 8 8 8Q12 8 12 13Q12 18 8 18Q4 18 4 13"
         "M14 31Q14 26 18 26Q22 26 22 31Q22 36 18 36Q14 36 14 31"}, /* % */
    {26, "M22 36L8 17Q6 14 6 13Q6 8 11 8Q16 8 16 13Q16 16 11 19Q4 23 4 28Q4 36 11 36Q19 36 21 25"},
    {10, "M5 8L5 15"},                         /* ' */
    {13, "M10 5Q4 14 4 23Q4 32 10 41"},        /* ( */
    {13, "M3 5Q9 14 9 23Q9 32 3 41"},          /* ) */
    {20, "M10 9L10 21M5 12L15 18M15 12L5 18"}, /* * */
    {24, "M12 16L12 32M4 24L20 24"},           /* + */
    {11, "M6 34L6 36Q6 39 4 41"},              /* , */
    {18, "M4 24L14 24"},                       /* - */
    {11, "M5 35L6 35L6 36L5 36L5 35"},         /* . */
    {17, "M3 40L14 6"},                        /* / */
    {24, "M4 17Q4 8 12 8Q20 8 20 17L20 27Q20 36 12 36Q4 36 4 27L4 17"},
    {24, "M6 14L14 8L14 36"},
    {24, "M4 15Q4 8 12 8Q20 8 20 15Q20 19 16 23L4 36L20 36"},
    {24, "M5 8L19 8L11 18Q20 18 20 27Q20 36 12 36Q5 36 4 30"},
    {24, "M16 36L16 8L4 28L21 28"},
    {24, "M19 8L7 8L5 21Q8 17 13 17Q20 18 20 26Q20 36 12 36Q6 36 4 31"},
    {24, "M18 9Q4 11 4 27Q4 36 12 36Q20 36 20 27Q20 19 12 19Q5 19 4 27"},
    {24, "M4 8L20 8L9 36"},
    {24, "M12 21Q5 21 5 14Q5 8 12 8Q19 8 19 14Q19 21 12 21Q4 21 4 29Q4 36 12 36Q20 36 20 29"
         "Q20 21 12 21"},
    {24, "M6 35Q20 33 20 17Q20 8 12 8Q4 8 4 17Q4 25 12 25Q19 25 20 17"},
    {11, "M5 20L6 20L6 21L5 21L5 20M5 35L6 35L6 36L5 36L5 35"}, /* : */
    {11, "M5 20L6 20L6 21L5 21L5 20M6 34L6 36Q6 39 4 41"},      /* ; */
    {23, "M18 15L5 24L18 33"},                                  /* < */
    {24, "M4 20L20 20M4 28L20 28"},                             /* = */
    {23, "M5 15L18 24L5 33"},                                   /* > */
    {22, "M4 14Q5 8 11 8Q18 8 18 14Q18 18 14 20Q11 22 11 27M10 35L11 35L11 36L10 36L10 35"},
    {33, "M21 16L21 23Q21 29 25 29Q29 28 29 21Q29 8 17 8Q4 8 4 23Q4 38 17 38Q22 38 25 36"
         "M21 23Q21 16 15 16Q10 16 10 23Q10 29 15 29Q21 29 21 23"}, /* @ */
    {26, "M4 36L13 8L22 36M7 27L19 27"},
    {26, "M4 8L4 36L13 36Q21 36 21 29Q21 22 13 22L4 22M4 8L12 8Q19 8 19 15Q19 22 12 22"},
    {25, "M21 14Q19 8 13 8Q4 8 4 18L4 26Q4 36 13 36Q19 36 21 30"},
    {27, "M4 8L4 36L11 36Q22 36 22 25L22 19Q22 8 11 8L4 8"},
    {23, "M19 8L4 8L4 36L19 36M4 22L17 22"},
    {22, "M19 8L4 8L4 36M4 22L16 22"},
    {27, "M21 14Q19 8 13 8Q4 8 4 18L4 26Q4 36 13 36Q22 36 22 27L22 23L14 23"},
    {26, "M4 8L4 36M21 8L21 36M4 22L21 22"},
    {10, "M5 8L5 36"},
    {20, "M15 8L15 29Q15 36 9 36Q3 36 3 30"},
    {24, "M4 8L4 36M20 8L4 25M10 19L21 36"},
    {21, "M4 8L4 36L18 36"},
    {29, "M4 36L4 8L14 28L24 8L24 36"},
    {26, "M4 36L4 8L21 36L21 8"},
    {27, RING},
    {25, ROOF},
    {27, RING "M15 29L23 38"},
    {26, ROOF "M13 24L21 36"},
    {25, ESS},
    {22, "M2 8L20 8M11 8L11 36"},
    {26, "M4 8L4 27Q4 36 13 36Q22 36 22 27L22 8"},
    {24, "M3 8L12 36L21 8"},
    {32, "M3 8L9 36L16 12L23 36L29 8"},
    {23, "M3 8L20 36M20 8L3 36"},
    {22, "M2 8L11 23L20 8M11 23L11 36"},
    {24, "M4 8L20 8L4 36L20 36"},
    {14, "M11 5L5 5L5 41L11 41"}, /* [ */
    {17, "M3 6L14 40"},           /* \ */
    {14, "M3 5L9 5L9 41L3 41"},   /* ] */
    {20, "M4 18L10 9L16 18"},     /* ^ */
    {22, "M2 41L20 41"},          /* _ */
    {12, "M4 7L8 12"},            /* ` */
    {23, BOWL "M18 16L18 36"},
    {22, BOWL "M4 7L4 36"},
    {21, "M18 20Q16 16 11 16Q4 16 4 26Q4 36 11 36Q16 36 18 32"},
    {23, BOWL "M18 7L18 36"},
    {22, "M4 26L18 26Q18 16 11 16Q4 16 4 26Q4 36 11 36Q16 36 18 32"},
    {15, "M14 8Q12 7 11 7Q7 7 7 12L7 36M2 17L13 17"},
    {23, BOWL "M18 16L18 38Q18 45 11 45Q6 45 5 42"},
    {23, "M4 7L4 36M4 24Q5 16 11 16Q18 16 18 23L18 36"},
    {10, "M5 16L5 36M5 8L5 9"},
    {12, "M7 16L7 40Q7 45 3 45M7 8L7 9"},
    {20, "M4 7L4 36M16 16L4 28M9 23L17 36"},
    {12, "M5 7L5 32Q5 36 9 36"},
    {31, "M4 16L4 36M4 23Q5 16 10 16Q15 16 15 22L15 36M15 23Q16 16 21 16Q26 16 26 22L26 36"},
    {23, "M4 16L4 36M4 24Q5 16 11 16Q18 16 18 23L18 36"},
    {22, BOWL},
    {22, BOWL "M4 16L4 45"},
    {23, BOWL "M18 16L18 45"},
    {16, "M4 16L4 36M4 24Q5 16 12 16L13 16"},
    {21, "M16 19Q14 16 10 16Q4 16 4 21Q4 25 10 26Q17 27 17 31Q17 36 10 36Q5 36 3 32"},
    {16, "M7 9L7 31Q7 36 12 36L13 36M2 17L13 17"},
    {23, "M4 16L4 29Q4 36 11 36Q17 36 18 28M18 16L18 36"},
    {20, "M3 16L10 36L17 16"},
    {28, "M3 16L8 36L14 19L20 36L25 16"},
    {19, "M3 16L16 36M16 16L3 36"},
    {20, "M17 16L10 35Q7 45 3 45M3 16L10 35"},
    {20, "M4 16L16 16L4 36L16 36"},
    {15, "M12 5Q8 5 8 9L8 19Q8 23 4 23Q8 23 8 27L8 37Q8 41 12 41"}, /* { */
    {10, "M5 4L5 42"},                                              /* | */
    {15, "M3 5Q7 5 7 9L7 19Q7 23 11 23Q7 23 7 27L7 37Q7 41 3 41"},  /* } */
    {24, "M4 26Q4 21 8 21Q10 21 12 24Q14 27 16 27Q20 27 20 22"},    /* ~ */
    {24, "M4 8L20 8L20 36L4 36L4 8"},                               /* any other character */
};

#define CURVE_PIECES 8

typedef struct Point {
  double x, y; /* units */
} Point;

/* Samples first..last - 1 of a row or column that lie within the field's reach of p and q. */
static void reach(double p, double q, int samples, int *first, int *last) {
  const int far = RV_FONT_FAR / 16 + 2;
  *first = rv_max((int)fmin(p, q) + RV_FONT_MARGIN - far, 0);
  *last = rv_min((int)fmax(p, q) + RV_FONT_MARGIN + far + 1, samples);
}

/* Lowers squared distances (units^2) to those from the piece a..b. */
static void add_piece(float *restrict squares, Point a, Point b) {
  const float dx = (float)(b.x - a.x), dy = (float)(b.y - a.y);
  const float length = dx * dx + dy * dy;
  const float inverse = length > 0.0f ? 1.0f / length : 0.0f;
  int top, bottom, left, right;
  reach(a.y, b.y, RV_FONT_ROWS, &top, &bottom);
  reach(a.x, b.x, RV_FONT_COLUMNS, &left, &right);
  for (int row = top; row < bottom; row++) {
    const float py = (float)(row - RV_FONT_MARGIN + 0.5 - a.y);
    float *restrict out = squares + row * RV_FONT_COLUMNS;
#pragma omp simd
    for (int column = left; column < right; column++) {
      const float px = (float)column + (float)(0.5 - RV_FONT_MARGIN - a.x);
      const float along = (px * dx + py * dy) * inverse;
      const float t = along < 0.0f ? 0.0f : (along > 1.0f ? 1.0f : along);
      const float ex = px - t * dx, ey = py - t * dy;
      const float square = ex * ex + ey * ey;
      out[column] = square < out[column] ? square : out[column];
    }
  }
}

static void add_curve(float *squares, Point a, Point control, Point b) {
  Point from = a;
  for (int i = 1; i <= CURVE_PIECES; i++) {
    const double t = (double)i / CURVE_PIECES, s = 1.0 - t;
    const Point to = {s * s * a.x + 2.0 * s * t * control.x + t * t * b.x,
                      s * s * a.y + 2.0 * s * t * control.y + t * t * b.y};
    add_piece(squares, from, to);
    from = to;
  }
}

static Point read_point(const char **at) {
  char *end;
  const long x = strtol(*at, &end, 10);
  const long y = strtol(end, &end, 10);
  *at = end;
  return (Point){(double)x, (double)y};
}

static void draw_path(float *squares, const char *path) {
  Point pen = {0.0, 0.0};
  for (const char *at = path; *at;) {
    const char command = *at++;
    const Point first = read_point(&at);
    if (command == 'M') {
      pen = first;
    } else if (command == 'L') {
      add_piece(squares, pen, first);
      pen = first;
    } else {
      const Point last = read_point(&at);
      add_curve(squares, pen, first, last);
      pen = last;
    }
  }
}

void rv_font_field(uint8_t *field) {
  float squares[RV_FONT_ROWS * RV_FONT_COLUMNS];
  for (int g = 0; g < RV_FONT_GLYPHS; g++) {
    for (int i = 0; i < RV_FONT_ROWS * RV_FONT_COLUMNS; i++)
      squares[i] = 1e6f;
    draw_path(squares, glyphs[g].path);
    for (int i = 0; i < RV_FONT_ROWS * RV_FONT_COLUMNS; i++) {
      const int distance = (int)(16.0f * sqrtf(squares[i]) + 0.5f);
      *field++ = (uint8_t)rv_min(distance, RV_FONT_FAR);
    }
  }
}

int rv_font_advance(int glyph) {
  return glyphs[glyph].advance;
}

int rv_font_next(const char **text) {
  const unsigned char first = (unsigned char)**text;
  if (first == 0)
    return -1;
  ++*text;
  if (first >= 32 && first <= 126)
    return first - 32;
  while (((unsigned char)**text & 0xC0) == 0x80) /* the rest of a UTF-8 character */
    ++*text;
  return RV_FONT_GLYPHS - 1;
}

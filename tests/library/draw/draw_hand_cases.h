/* SPDX-License-Identifier: MIT */
/* draw_hand_cases.h: between the two files of cases. Tests only. */
#ifndef RV_DRAW_PROOF_CASES_H
#define RV_DRAW_PROOF_CASES_H

#include "convert/convert_picture_cases.h"
#include "draw/draw.h"

/* Object for images of this kind on an engine; failures are counted. */
RvDraw *draw_case_new(RvCheck *check, const char *name, const RvPicture *picture, RvEngine engine);

/* An RGB image over the caller's bytes, all DRAW_CASE_PAPER, and an object that draws on it. */
#define DRAW_CASE_PAPER 200
typedef struct DrawSheet {
  RvPicture view;
  RvDraw *draw;
} DrawSheet;
DrawSheet draw_case_sheet(RvCheck *check, const char *name, uint8_t *rgb, int width, int height);

/* Makes its bytes DRAW_CASE_PAPER again. */
void draw_case_clean(DrawSheet *sheet);

/* Draws what has been added; whether `status`, of the adding, and that went well. */
int draw_case_flush(DrawSheet *sheet, RvStatus status);

/* Bytes that have been drawn on in the rows y0..y1 - 1 and columns x0..x1 - 1. */
long draw_case_touched(const DrawSheet *sheet, int x0, int y0, int x1, int y1);

/* Adds a shape or text of random kind, place and color, some of it outside the image. */
void draw_case_random_shape(RvDraw *draw, RvRandom *random, int width, int height);

/* Proofs of the CPU engine. */
void draw_case_proofs(RvCheck *check);

/* Grids of cells and keys, on both engines. */
void draw_grid_proofs(RvCheck *check);

#endif

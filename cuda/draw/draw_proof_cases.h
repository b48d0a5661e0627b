/* draw_proof_cases.h: between the two files of cases. Tests only. */
#ifndef RV_DRAW_PROOF_CASES_H
#define RV_DRAW_PROOF_CASES_H

#include "convert/convert_picture_cases.h"
#include "draw/draw.h"

/* Object for pictures of this kind on an engine; failures are counted. */
RvDraw *draw_case_new(RvCheck *check, const char *name, const RvPicture *picture, RvEngine engine);

/* Adds a shape or text of random kind, place and colour, some of it outside the picture. */
void draw_case_random_shape(RvDraw *draw, RvRandom *random, int width, int height);

/* Proofs of the CPU engine. */
void draw_case_proofs(RvCheck *check);

/* Grids of cells and keys, on both engines. */
void draw_grid_proofs(RvCheck *check);

#endif

/* SPDX-License-Identifier: MIT */
/* hough_inputs.h: the street scene that the peers of the benchmark ran on, made again. Tests only.
 */
#ifndef RV_HOUGH_PICTURES_H
#define RV_HOUGH_PICTURES_H

#include <stdint.h>

typedef struct HoughImages {
  int width, height;
  uint8_t *gray;  /* the scene */
  uint8_t *p10;   /* 255 at the tenth of the pixels with the largest gradients */
  uint8_t *canny; /* 255 at Canny edges */
} HoughImages;

/* 1920 x 1080, or 640 x 480. 0 when memory is exhausted. */
int hough_images_new(HoughImages *pictures, int is_small);
void hough_images_free(HoughImages *pictures);

long hough_images_count(const HoughImages *pictures, const uint8_t *map);

#endif

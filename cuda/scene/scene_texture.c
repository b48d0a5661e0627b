/* SPDX-License-Identifier: MIT */
/* scene_texture.c: tileable textures made from the seed, with mip levels, so that a surface looks
 * the same in both views at any distance. */
#include "scene/scene_internal.h"

#include <string.h>

#define SIDE TEXTURE_SIDE
#define MASK (SIDE - 1)

static float lattice(uint32_t salt, int x, int y) {
  return (float)(scene_hash(salt, (uint32_t)x, (uint32_t)y) >> 8) * (1.0f / 16777216.0f);
}

/* One octave of value noise: `across` x `down` cells in the tile. */
typedef struct Octave {
  int across, down;
  float amplitude;
} Octave;

#define OCTAVES 6

/* Adds an octave; `table` has space for the values at the cells' corners. */
static void add_octave(float *out, const Octave *octave, uint32_t salt, float *table) {
  const int nx = octave->across, ny = octave->down;
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x++)
      table[y * nx + x] = octave->amplitude * (lattice(salt, x, y) - 0.5f);
  for (int y = 0; y < SIDE; y++) {
    const float v = (float)(y * ny) / SIDE, b = v - (float)(int)v;
    const float t = b * b * (3.0f - 2.0f * b);
    const float *r0 = table + (int)v % ny * nx, *r1 = table + ((int)v + 1) % ny * nx;
    for (int x = 0; x < SIDE; x++) {
      const float u = (float)(x * nx) / SIDE, a = u - (float)(int)u;
      const float s = a * a * (3.0f - 2.0f * a);
      const int x0 = (int)u, x1 = x0 + 1 == nx ? 0 : x0 + 1;
      const float top = r0[x0] + s * (r0[x1] - r0[x0]), bottom = r1[x0] + s * (r1[x1] - r1[x0]);
      out[y * SIDE + x] += top + t * (bottom - top);
    }
  }
}

/* Adds overlapping discs, one in each of n x n cells: the nearest center's tone, darker at its rim.
 * `table` has space for position and tone of every disc. */
static void add_discs(float *out, uint32_t salt, int n, float amplitude, float *table) {
  for (int i = 0; i < n * n; i++) {
    table[3 * i] = lattice(salt, i % n, i / n);
    table[3 * i + 1] = lattice(salt + 1, i % n, i / n);
    table[3 * i + 2] = lattice(salt + 2, i % n, i / n);
  }
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      const float u = (float)(x * n) / SIDE, v = (float)(y * n) / SIDE;
      float best = 9.0f, tone = 0.0f;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
          const int cx = (int)u + i, cy = (int)v + j;
          const float *disc = table + 3 * ((cy + n) % n * n + (cx + n) % n);
          const float px = (float)cx + disc[0] - u, py = (float)cy + disc[1] - v;
          const float d = px * px + py * py;
          if (d < best) {
            best = d;
            tone = disc[2];
          }
        }
      out[y * SIDE + x] += amplitude * (tone - 0.9f * best);
    }
}

/* Rows of nx x ny stones, every other row shifted by half a stone when `bond`; `joint` in texels.
 */
static float masonry(uint32_t salt, float x, float y, int nx, int ny, int bond, float joint) {
  const float v = y * (float)ny / SIDE;
  const int row = (int)v;
  float u = x * (float)nx / SIDE + (bond && (row & 1) ? 0.5f : 0.0f);
  if (u >= (float)nx)
    u -= (float)nx;
  const float in_x = (u - (float)(int)u) * SIDE / (float)nx;
  const float in_y = (v - (float)row) * SIDE / (float)ny;
  return in_x < joint || in_y < joint ? 0.55f : 0.8f * lattice(salt, (int)u, row) - 0.4f;
}

static const Octave octaves[TEXTURES][OCTAVES] = {
    [TEX_GRAIN] = {{128, 128, 1.0f}, {64, 64, 0.8f}, {32, 32, 0.5f}, {12, 12, 0.35f}},
    [TEX_CLOUD] = {{4, 4, 1.0f}, {9, 9, 0.55f}, {19, 19, 0.3f}, {41, 41, 0.17f}, {90, 90, 0.09f}},
    [TEX_LEAVES] = {{7, 7, 0.4f}},
    [TEX_BRICK] = {{128, 128, 0.25f}},
    [TEX_PAVING] = {{128, 128, 0.18f}, {9, 9, 0.5f}},
    [TEX_GRASS] = {{128, 40, 1.0f}, {60, 128, 0.8f}, {20, 20, 0.5f}, {6, 6, 0.5f}},
    [TEX_DIRT] = {{128, 128, 0.8f}, {40, 40, 0.5f}, {11, 11, 0.45f}},
};

/* Adds stones of nx x ny to the tile. */
static void add_masonry(float *out, uint32_t salt, int nx, int ny, int bond, float joint,
                        float amplitude) {
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      out[y * SIDE + x] += amplitude * masonry(salt, (float)x, (float)y, nx, ny, bond, joint);
}

static void generate(int texture, uint32_t salt, float *out, float *table) {
  memset(out, 0, SIDE * SIDE * sizeof *out);
  if (texture == TEX_LEAVES) {
    add_discs(out, salt, 40, 1.0f, table);
    add_discs(out, salt + 7, 17, 0.6f, table);
  } else if (texture == TEX_DIRT) {
    add_discs(out, salt, 30, 0.5f, table);
  } else if (texture == TEX_BRICK) {
    add_masonry(out, salt, 8, 24, 1, 1.5f, 1.0f);
  } else if (texture == TEX_PAVING) {
    add_masonry(out, salt, 4, 4, 0, 2.0f, 0.7f);
  }
  for (int i = 0; i < OCTAVES && octaves[texture][i].across; i++)
    add_octave(out, &octaves[texture][i], salt + 16u + (uint32_t)i, table);
}

static size_t level_bytes(int level) {
  return (size_t)(SIDE >> level) * (size_t)(SIDE >> level);
}

size_t scene_texture_bytes(void) {
  size_t bytes = 0;
  for (int l = 0; l < TEXTURE_LEVELS; l++)
    bytes += level_bytes(l);
  return SIDE * SIDE * sizeof(float) + TEXTURES * bytes; /* scratch first: it needs alignment */
}

/* Mean 128 and standard deviation 40, so that materials can state their contrast. */
static void quantize(const float *values, uint8_t *out) {
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < SIDE * SIDE; i++) {
    sum += (double)values[i];
    squares += (double)values[i] * (double)values[i];
  }
  const double mean = sum / (SIDE * SIDE), variance = squares / (SIDE * SIDE) - mean * mean;
  double deviation = 0.5; /* Newton's root, the same everywhere */
  for (int i = 0; i < 20; i++)
    deviation = 0.5 * (deviation + variance / deviation);
  for (int i = 0; i < SIDE * SIDE; i++) {
    const double v = 128.0 + 40.0 * ((double)values[i] - mean) / deviation;
    out[i] = (uint8_t)(v < 0.0 ? 0 : v > 255.0 ? 255 : (int)(v + 0.5));
  }
}

static void make_cells(const Texture *texture) {
  for (int l = 0; l < TEXTURE_LEVELS; l++) {
    const int side = SIDE >> l;
    uint32_t *cells = texture->cells + (size_t)side * (size_t)side;
    for (int y = 0; y < side; y++) {
      const uint8_t *r0 = texture->level[l] + y * side;
      const uint8_t *r1 = texture->level[l] + (y + 1 == side ? 0 : y + 1) * side;
      for (int x = 0; x < side; x++) {
        const int next = x + 1 == side ? 0 : x + 1;
        cells[y * side + x] = (uint32_t)r0[x] | (uint32_t)r0[next] << 8 | (uint32_t)r1[x] << 16 |
                              (uint32_t)r1[next] << 24;
      }
    }
  }
}

/* The tables of `generate` lie behind its values, where the finest level of the first texture is
 * stored: that level is what the last tables leave there. Images depend on it. */
void scene_textures_make(RvScene *scene, uint8_t *memory, uint32_t *cells) {
  float *const scratch = (float *)(void *)memory;
  memory += SIDE * SIDE * sizeof(float);
  for (int t = 0; t < TEXTURES; t++)
    for (int l = 0; l < TEXTURE_LEVELS; l++) {
      scene->texture[t].level[l] = memory;
      memory += level_bytes(l);
    }
  for (int t = 0; t < TEXTURES; t++) {
    const Texture *texture = &scene->texture[t];
    const uint32_t salt = scene_hash(scene->plan.config.seed, 77u, (uint32_t)t);
    generate(t, salt, scratch, scratch + SIDE * SIDE);
    quantize(scratch, texture->level[0]);
    for (int l = 1; l < TEXTURE_LEVELS; l++) {
      const int side = SIDE >> l;
      const uint8_t *from = texture->level[l - 1];
      for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
          const uint8_t *p = from + 4 * side * y + 2 * x;
          texture->level[l][y * side + x] =
              (uint8_t)((p[0] + p[1] + p[2 * side] + p[2 * side + 1] + 2) >> 2);
        }
    }
  }
  for (int t = 0; t < TEXTURES; t++) {
    scene->texture[t].cells = cells + (size_t)t * TEXTURE_CELLS;
    make_cells(&scene->texture[t]);
  }
}

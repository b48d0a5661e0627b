/* SPDX-License-Identifier: MIT */
/* scene_lanes.c: the rows of an image, for the instruction set this file is compiled for
 * (RV_SCENE_KERNELS names it). */
#include "scene/scene_lanes_terrain.h"

#include "scene/scene_lanes_shade.h"

#define SPAN 128       /* px of a row whose samples are sorted by material */
#define EDGE_SAMPLES 4 /* of a pixel on an outline */
#define FARTHEST 1e12  /* m: depth of the sky */
#define MATERIALS 32

static const Doubles iota = IOTA;

/* The first `count` lanes. */
INLINE Longs first_lanes(int count) {
  return iota < (double)count;
}

/* --- First hits and truth -------------------------------------------------------------------- */

/* Whether the right camera sees the points that the left camera sees at (x, y). */
APART Longs seen_by_right(const RvScene *scene, Doubles x, Doubles y, Doubles t, Longs lanes) {
  const RvCamera *camera = &scene->plan.camera;
  const Doubles match = x - camera->focal * camera->baseline / t;
  lanes &= ~(match < 0.0);
  if (!any(lanes))
    return lanes;
  /* What lies behind is not needed; but where grass stands up, the ground behind leads to
   * it. The next number above a positive one is that of the next integer. */
  const Doubles front = t - 0.01 - 1e-3 * t;
  const int all = scene->plan.config.pattern == RV_SCENE_OFFROAD;
  const Doubles far = all ? d0 + FARTHEST : (Doubles)((Longs)front + 1);
  const Hits hits = trace(scene, 1, match, y, far, lanes);
  return lanes & (hits.t > front);
}

static void *truth_row(const RvPlane *plane, int y) {
  return plane->data ? (char *)plane->data + y * plane->stride : NULL;
}

/* Truth of `count` pixels from (x, y) on. */
static void write_truth(const RvScene *scene, const RvSceneTruth *truth, int x, int y, int count,
                        const Hits *hits) {
  const RvCamera *camera = &scene->plan.camera;
  const Ints object = objects_of(hits->id);
  const Longs is_sky = widen(object == -1), lanes = first_lanes(count);
  uint16_t *disparity = truth_row(&truth->disparity, y);
  uint8_t *labels = truth_row(&truth->labels, y), *road_ = truth_row(&truth->road, y);
  uint8_t *visible = truth_row(&truth->visible, y);
  const Ints sixteenths = to_ints(16.0 * camera->focal * camera->baseline / hits->t + 0.5);
  const Longs seen =
      visible ? is_sky | seen_by_right(scene, iota + x, d0 + y, hits->t, lanes & ~is_sky) : l0;
  for (int i = 0; i < count; i++) {
    const RvSceneLabel label = scene_label(scene, object[i], material_of(hits->id[i]));
    if (disparity)
      disparity[x + i] =
          (uint16_t)(is_sky[i] ? 0
                               : rv_clamp(sixteenths[i], 1, 16 * scene->plan.config.max_disparity));
    if (labels)
      labels[x + i] = (uint8_t)label;
    if (road_)
      road_[x + i] = label == RV_LABEL_ROAD ? 255 : 0;
    if (visible)
      visible[x + i] = seen[i] ? 255 : 0;
  }
}

static void trace_row(const RvScene *scene, int view, int y, const RvSceneTruth *truth) {
  const int width = scene->plan.config.width;
  const Vec origin = scene->work->world->view[view];
  uint32_t *ids = scene->work->ids + (size_t)y * (size_t)width;
  float *depths = scene->work->depths + (size_t)y * (size_t)width;
  for (int x = 0; x < width; x += LANES) {
    const int count = rv_min(width - x, LANES);
    const Longs lanes = first_lanes(count);
    const Doubles at = iota + x, row = d0 + y;
    const Hits hits = trace(scene, view, at, row, d0 + FARTHEST, lanes);
    const Longs shadow = shadows(scene, origin, directions(scene, at, row), &hits, lanes);
    const Ints packed = narrow(hits.id | (shadow & 1));
    const Floats depth = to_floats(hits.t);
    memcpy(ids + x, &packed, (size_t)count * sizeof *ids);
    memcpy(depths + x, &depth, (size_t)count * sizeof *depths);
    if (view == 0 && truth)
      write_truth(scene, truth, x, y, count, &hits);
  }
}

/* --- Colors ---------------------------------------------------------------------------------- */

/* Positions of a span whose colors are needed: one of most pixels, EDGE_SAMPLES of those on
 * outlines. */
typedef struct Samples {
  int count;
  double x[SPAN * EDGE_SAMPLES], y[SPAN * EDGE_SAMPLES], t[SPAN * EDGE_SAMPLES];
  uint32_t id[SPAN * EDGE_SAMPLES];
  float r[SPAN * EDGE_SAMPLES], g[SPAN * EDGE_SAMPLES], b[SPAN * EDGE_SAMPLES];
} Samples;

/* Whether one of LANES pixels, none in the first or last column or row, may be on an edge. */
INLINE int edges_near(const RvScene *scene, int x, int y) {
  const ptrdiff_t width = scene->plan.config.width;
  const uint32_t *at = scene->work->ids + y * width + x;
  const uint32_t *const around[4] = {at - 1, at + 1, at - width, at + width};
  Words id, other;
  memcpy(&id, at, sizeof id);
  Ints edge = (Ints)((id >> 5 & 31u) == MATERIAL_LEAVES);
  for (int k = 0; k < 4; k++) {
    memcpy(&other, around[k], sizeof other);
    edge |= (Ints)(id ^ other);
  }
  return any_ints(edge);
}

/* Whether another surface, or the same crown at another depth, is a neighbor. */
static int on_edge(const RvScene *scene, int x, int y) {
  const int width = scene->plan.config.width;
  const size_t i = (size_t)y * (size_t)width + (size_t)x;
  const uint32_t *ids = scene->work->ids, id = ids[i];
  const float *depths = scene->work->depths;
  const size_t left = x > 0 ? i - 1 : i, right = x < width - 1 ? i + 1 : i;
  const size_t above_ = y > 0 ? i - (size_t)width : i;
  const size_t below = y < scene->plan.config.height - 1 ? i + (size_t)width : i;
  if (ids[left] != id || ids[right] != id || ids[above_] != id || ids[below] != id)
    return 1;
  if (material_of(id) != MATERIAL_LEAVES)
    return 0;
  const float depth = depths[i], limit = 0.02f * depth;
  return absolute((double)(depths[left] - depth)) > (double)limit ||
         absolute((double)(depths[above_] - depth)) > (double)limit;
}

/* The samples of pixels x.. of row y; `first[i]` is the first of pixel i. Those on outlines have no
 * hits yet: their t is 0. */
static void place_samples(const RvScene *scene, int x, int y, int count, Samples *samples,
                          uint16_t *first) {
  static const double offsets[EDGE_SAMPLES][2] = {
      {-0.125, -0.375}, {0.375, -0.125}, {0.125, 0.375}, {-0.375, 0.125}};
  const int width = scene->plan.config.width, height = scene->plan.config.height;
  const size_t row = (size_t)y * (size_t)width;
  const int inner = y > 0 && y < height - 1;
  int n = 0, plain_ = 0; /* pixels that are known not to be on an edge */
  for (int i = 0; i < count; i++) {
    const size_t at = row + (size_t)(x + i);
    first[i] = (uint16_t)n;
    if (!plain_ && inner && x + i > 0 && x + i + LANES < width && !edges_near(scene, x + i, y))
      plain_ = LANES;
    if (plain_ ? plain_-- < 0 : on_edge(scene, x + i, y)) {
      for (int k = 0; k < EDGE_SAMPLES; k++, n++) {
        samples->x[n] = x + i + offsets[k][0];
        samples->y[n] = y + offsets[k][1];
        samples->t[n] = 0.0;
      }
    } else {
      samples->x[n] = x + i;
      samples->y[n] = y;
      samples->t[n] = (double)scene->work->depths[at];
      samples->id[n++] = scene->work->ids[at];
    }
  }
  first[count] = (uint16_t)n;
  samples->count = n;
}

/* Traces the samples without hits. */
static void trace_samples(const RvScene *scene, int view, Samples *samples) {
  const Vec origin = scene->work->world->view[view];
  int at[LANES], count = 0;
  for (int i = 0; i < samples->count; i++) {
    if (samples->t[i] == 0.0)
      at[count++] = i;
    if (count == 0 || (count < LANES && i < samples->count - 1))
      continue;
    Doubles x, y;
    for (int k = 0; k < LANES; k++) {
      x[k] = samples->x[at[k < count ? k : 0]];
      y[k] = samples->y[at[k < count ? k : 0]];
    }
    const Longs lanes = first_lanes(count);
    const Hits hits = trace(scene, view, x, y, d0 + FARTHEST, lanes);
    const Longs shadow = shadows(scene, origin, directions(scene, x, y), &hits, lanes);
    for (int k = 0; k < count; k++) {
      samples->t[at[k]] = hits.t[k];
      samples->id[at[k]] = (uint32_t)(hits.id[k] | (shadow[k] & 1));
    }
    count = 0;
  }
}

/* Indexes of the samples, sorted by material. */
static void sort_samples(const Samples *samples, uint16_t *order, int *ends) {
  int next[MATERIALS] = {0};
  for (int i = 0; i < samples->count; i++)
    next[material_of(samples->id[i])]++;
  for (int m = 0, sum = 0; m < MATERIALS; m++) {
    const int count = next[m];
    next[m] = sum;
    sum += count;
    ends[m] = sum;
  }
  for (int i = 0; i < samples->count; i++)
    order[next[material_of(samples->id[i])]++] = (uint16_t)i;
}

/* Up to LANES samples, of the same material; mostly neighbors. */
static void shade_some(const RvScene *scene, int view, Samples *samples, const uint16_t *order,
                       int count) {
  const int s0 = order[0], together = count == LANES && order[LANES - 1] - s0 == LANES - 1;
  Doubles x = d0, y = d0;
  Hits hits = {d0, l0};
  if (together) {
    Words id;
    memcpy(&x, samples->x + s0, sizeof x);
    memcpy(&y, samples->y + s0, sizeof y);
    memcpy(&hits.t, samples->t + s0, sizeof hits.t);
    memcpy(&id, samples->id + s0, sizeof id);
    hits.id = __builtin_convertvector(id, Longs);
  }
  for (int k = 0; k < LANES && !together; k++) {
    const int s = order[k < count ? k : 0];
    x[k] = samples->x[s];
    y[k] = samples->y[s];
    hits.t[k] = samples->t[s];
    hits.id[k] = samples->id[s];
  }
  const Colors c = shade_hits(scene, view, x, y, &hits, -narrow(hits.id & 1));
  if (together) {
    memcpy(samples->r + s0, &c.r, sizeof c.r);
    memcpy(samples->g + s0, &c.g, sizeof c.g);
    memcpy(samples->b + s0, &c.b, sizeof c.b);
  }
  for (int k = 0; k < count && !together; k++) {
    const int s = order[k];
    samples->r[s] = c.r[k];
    samples->g[s] = c.g[k];
    samples->b[s] = c.b[k];
  }
}

static void shade_samples(const RvScene *scene, int view, Samples *samples) {
  uint16_t order[SPAN * EDGE_SAMPLES];
  int ends[MATERIALS];
  sort_samples(samples, order, ends);
  for (int m = 0, i = 0; m < MATERIALS; m++)
    while (i < ends[m]) {
      const int count = rv_min(ends[m] - i, LANES);
      shade_some(scene, view, samples, order + i, count);
      i += count;
    }
}

/* Colors of the pixels of a span. */
static void mix_samples(const Samples *samples, const uint16_t *first, int count, float *light) {
  for (int i = 0; i < count; i++) {
    const int s = first[i];
    float c[3] = {samples->r[s], samples->g[s], samples->b[s]};
    if (first[i + 1] - s > 1) {
      c[0] = c[1] = c[2] = 0.0f;
      for (int k = 0; k < EDGE_SAMPLES; k++) {
        c[0] += 0.25f * samples->r[s + k];
        c[1] += 0.25f * samples->g[s + k];
        c[2] += 0.25f * samples->b[s + k];
      }
    }
    for (int k = 0; k < 3; k++)
      light[k * SPAN + i] = c[k];
  }
}

/* --- Sensor ---------------------------------------------------------------------------------- */

/* Noise of the sensor: a sum of four uniform numbers, near enough to a normal one; the same for
 * all channels of a pixel, so that its standard deviation holds for the gray value too. */
INLINE Floats sensor_noise(const RvScene *scene, const Sensor *sensor, Words x) {
  const Words none = {0}, when = none + sensor->when;
  const Words at = (uint32_t)sensor->y * 32768u + x;
  const Words a = hashes(none + scene->plan.config.seed, at, when), b = hashes(a, none + 17u, when);
  const Ints sum = (Ints)((a & 0xFFFFu) + (a >> 16) + (b & 0xFFFFu) + (b >> 16)) - 2 * 65535;
  return ints_to_floats(sum) * (float)(1.7320508 / 65535.0); /* variance of the sum: 4 / 12 */
}

INLINE Words levels(Floats v) {
  const Ints white = v >= 254.5f, black = v <= 0.0f;
  const Ints level = __builtin_convertvector(v + 0.5f, Ints);
  return (Words)(~black & ((white & 255) | (~white & level)));
}

/* The right camera exposes shorter and is a little bluer, as two cameras that expose for themselves
 * do; both darken towards the corners. The cameras of `planes` and `noise` are alike. */
INLINE Colors exposed(const RvScene *scene, const Sensor *sensor, Doubles x, Colors c) {
  const RvCamera *camera = &scene->plan.camera;
  const Color gain = scene->work->world->gain;
  const Floats u = to_floats((x - camera->cx) / camera->focal);
  const float v = (float)((sensor->y - camera->cy) / camera->focal);
  const Floats vignette = 1.0f - 0.16f * (u * u + v * v);
  c = colors_mul(c, sensor->view ? 0.7f * vignette : vignette);
  c = colors(c.r * gain.r, c.g * gain.g, c.b * gain.b);
  return sensor->view ? colors(c.r - 2.0f, c.g - 1.0f, c.b) : c;
}

/* `count` pixels of light (planes of SPAN values: r, g, b) from x on, as the bytes b, g, r, 255. */
static void sense(const RvScene *scene, const Sensor *sensor, int x, int count, const float *light,
                  uint8_t *bgr) {
  for (int i = 0; i < count; i += LANES) {
    const Words column = __builtin_convertvector(iota + (double)(x + i), Words);
    Colors c;
    memcpy(&c.r, light + i, sizeof c.r);
    memcpy(&c.g, light + SPAN + i, sizeof c.g);
    memcpy(&c.b, light + 2 * SPAN + i, sizeof c.b);
    if (scene_outdoors(scene))
      c = exposed(scene, sensor, iota + (double)(x + i), c);
    const Floats noise = scene->plan.config.noise > 0.0
                             ? (float)scene->plan.config.noise * sensor_noise(scene, sensor, column)
                             : f0;
    const Words b = levels(c.b + noise), g = levels(c.g + noise), r = levels(c.r + noise);
    const Words packed = b | g << 8 | r << 16 | 255u << 24; /* as little-endian machines store it */
    memcpy(bgr + 4 * i, &packed, 4 * (size_t)rv_min(count - i, LANES));
  }
}

static void shade_row(const RvScene *scene, uint64_t frame, int view, int y) {
  const int width = scene->plan.config.width;
  uint8_t *bgr = scene->work->bgr + 4 * ((size_t)(2 * y + view) * (size_t)width);
  const Sensor sensor = scene_sensor(frame, view, y);
  for (int x = 0; x < width; x += SPAN) {
    const int count = rv_min(width - x, SPAN);
    Samples samples;
    uint16_t first[SPAN + 1];
    float light[3 * SPAN] = {0};
    place_samples(scene, x, y, count, &samples, first);
    trace_samples(scene, view, &samples);
    shade_samples(scene, view, &samples);
    mix_samples(&samples, first, count, light);
    sense(scene, &sensor, x, count, light, bgr + 4 * x);
  }
}

static void sense_gray(const RvScene *scene, uint64_t frame, int view, int y, const float *gray) {
  const int width = scene->plan.config.width;
  uint8_t *bgr = scene->work->bgr + 4 * ((size_t)(2 * y + view) * (size_t)width);
  const Sensor sensor = scene_sensor(frame, view, y);
  for (int x = 0; x < width; x += SPAN) {
    const int count = rv_min(width - x, SPAN);
    float light[3 * SPAN] = {0};
    for (int k = 0; k < 3; k++)
      memcpy(light + k * SPAN, gray + x, (size_t)count * sizeof *gray);
    sense(scene, &sensor, x, count, light, bgr + 4 * x);
  }
}

#define NAME_(isa) scene_kernels_##isa
#define NAME(isa) NAME_(isa)
#define TEXT_(isa) #isa
#define TEXT(isa) TEXT_(isa)
const SceneKernels NAME(RV_SCENE_KERNELS) = {TEXT(RV_SCENE_KERNELS), trace_row, shade_row,
                                             sense_gray};

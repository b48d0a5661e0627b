/* SPDX-License-Identifier: MIT */
/* scene_objects.c: bodies in the world of one frame; and where in the image (tiles) and on the
 * ground (shadow grid) a ray has to look for them. */
#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

/* A profile along z at z m ahead of the camera. */
double scene_profile(const double *values, double z) {
  double at = (z - HEIGHT_Z0) * (1.0 / HEIGHT_STEP);
  at = at < 0.0 ? 0.0 : at > HEIGHTS - 1.001 ? HEIGHTS - 1.001 : at;
  const int i = (int)at;
  return values[i] + (at - i) * (values[i + 1] - values[i]);
}

double scene_ground_y(const World *world, double x, double z) {
  if (world->flat)
    return 0.0;
  double at = (z - HEIGHT_Z0) * (1.0 / HEIGHT_STEP);
  at = at < 0.0 ? 0.0 : at > HEIGHTS - 1.001 ? HEIGHTS - 1.001 : at;
  const int i = (int)at;
  const double here = world->climb[i] + x * world->bank[i];
  return here + (at - i) * (world->climb[i + 1] + x * world->bank[i + 1] - here);
}

/* The bounding box of the turned box of half size `half` round the origin (the middle, except that
 * boxes stand on their origin when scene_box made them). */
static void bound(Object *object) {
  const Vec h = object->half, r = object->right, u = object->up, a = object->ahead;
  const Vec e = object->shape == SHAPE_CONVEX
                    ? vec(absolute(r.x) * h.x + absolute(u.x) * h.y + absolute(a.x) * h.z,
                          absolute(r.y) * h.x + absolute(u.y) * h.y + absolute(a.y) * h.z,
                          absolute(r.z) * h.x + absolute(u.z) * h.y + absolute(a.z) * h.z)
                    : h;
  object->low = vec_sub(object->origin, e);
  object->high = vec_add(object->origin, e);
}

/* `origin` is the middle of the body. NULL when the world is full. */
Object *scene_add(World *world, Shape shape, Material material, RvSceneLabel label, Vec origin,
                  Vec half) {
  if (world->objects >= OBJECTS_MAX)
    return NULL;
  Object *object = &world->object[world->objects++];
  memset(object, 0, sizeof *object);
  object->shape = shape;
  object->material = material;
  object->label = label;
  object->origin = origin;
  object->half = half;
  object->right = vec(1, 0, 0);
  object->up = vec(0, 1, 0);
  object->ahead = vec(0, 0, 1);
  object->tint = color(128, 128, 128);
  object->thing = world->current;
  bound(object);
  return object;
}

/* Cuts the body by a plane: outward normal (any length) and a point, both in the body's frame. */
void scene_plane(Object *object, Vec normal, Vec point) {
  if (object->planes >= OBJECT_PLANES)
    return;
  const Vec n = vec_mul(normal, 1.0 / sqrt(vec_dot(normal, normal)));
  const Vec world = vec_add(vec_add(vec_mul(object->right, n.x), vec_mul(object->up, n.y)),
                            vec_mul(object->ahead, n.z));
  object->normal[object->planes] = world;
  object->offset[object->planes++] = vec_dot(world, object->origin) + vec_dot(n, point);
}

/* Faces 0..5: right, left, top, bottom, ahead, back. */
void scene_box(Object *object) {
  const Vec h = object->half;
  scene_plane(object, vec(1, 0, 0), vec(h.x, 0, 0));
  scene_plane(object, vec(-1, 0, 0), vec(-h.x, 0, 0));
  scene_plane(object, vec(0, 1, 0), vec(0, h.y, 0));
  scene_plane(object, vec(0, -1, 0), vec(0, -h.y, 0));
  scene_plane(object, vec(0, 0, 1), vec(0, 0, h.z));
  scene_plane(object, vec(0, 0, -1), vec(0, 0, -h.z));
}

/* Sets the frame; before any plane is added. */
void scene_turn(Object *object, Vec ahead, Vec up) {
  const Vec a = vec_mul(ahead, 1.0 / sqrt(vec_dot(ahead, ahead)));
  const Vec side = vec_cross(up, a);
  const Vec r = vec_mul(side, 1.0 / sqrt(vec_dot(side, side)));
  object->ahead = a;
  object->right = r;
  object->up = vec_cross(a, r);
  bound(object);
}

static Vec corner(const Object *object, int i, double low_z) {
  const double z = i & 4 ? object->high.z : object->low.z;
  return vec(i & 1 ? object->high.x : object->low.x, i & 2 ? object->high.y : object->low.y,
             z > low_z ? z : low_z);
}

/* Rocks are not closed by their planes: they end where tiles and cells do. */
static const Rect everywhere = {-1e9, 1e9, -1e9, 1e9};

static void set(Bits *bits, int index) {
  bits->word[index >> 6] |= (uint64_t)1 << (index & 63);
}

/* Marks the tiles that the bounding box can cover. Nothing nearer than `near` is ever visible
 * and the camera turns by a few degrees at most, so the box may be cut at half of it. */
static void tile(const RvScene *scene, World *world, int view, int rank) {
  const Object *object = &world->object[world->order[rank]];
  const double cut = 0.5 * scene->plan.near;
  if (object->high.z < cut)
    return;
  const double w = scene->plan.config.width, h = scene->plan.config.height,
               f = scene->plan.camera.focal;
  double x0 = 1e9, x1 = -1e9, y0 = 1e9, y1 = -1e9;
  for (int i = 0; i < 8; i++) {
    const Vec p = vec_sub(corner(object, i, cut), world->view[view]);
    const double depth = vec_dot(p, world->ahead);
    /* A corner too near to be seen bounds what is seen of its edges from both sides. */
    for (int k = 0; k < (depth < scene->plan.near ? 2 : 1); k++) {
      const double z = depth >= scene->plan.near ? depth : k ? scene->plan.near : 0.1 * cut;
      const double x = scene->plan.camera.cx + f * vec_dot(p, world->right) / z;
      const double y = scene->plan.camera.cy + f * vec_dot(p, world->down) / z;
      x0 = x < x0 ? x : x0, x1 = x > x1 ? x : x1;
      y0 = y < y0 ? y : y0, y1 = y > y1 ? y : y1;
    }
  }
  if (x1 < -2 || y1 < -2 || x0 > w + 2 || y0 > h + 2)
    return;
  world->cover[view][rank] =
      object->material == MATERIAL_ROCK ? everywhere : (Rect){x0 - 2, x1 + 2, y0 - 2, y1 + 2};
  const double sx = TILES_X / w, sy = TILES_Y / h;
  const int left = (int)((x0 < 2 ? 0 : x0 - 2) * sx), top = (int)((y0 < 2 ? 0 : y0 - 2) * sy);
  const int right = rv_min((int)((x1 > w ? w : x1 + 2) * sx), TILES_X - 1);
  const int bottom = rv_min((int)((y1 > h ? h : y1 + 2) * sy), TILES_Y - 1);
  for (int y = top; y <= bottom; y++)
    for (int x = left; x <= right; x++)
      set(&world->tile[view][y][x], rank);
}

/* Marks the cells of the ground plane that rays towards the sun pass on the way to the body. */
static void shade(World *world, int rank) {
  const Object *object = &world->object[world->order[rank]];
  double x0 = 1e9, x1 = -1e9, z0 = 1e9, z1 = -1e9;
  for (int i = 0; i < 8; i++) {
    const Vec p = corner(object, i, -1e9);
    const double k = p.y / world->sun.y, x = p.x - k * world->sun.x, z = p.z - k * world->sun.z;
    x0 = x < x0 ? x : x0, x1 = x > x1 ? x : x1;
    z0 = z < z0 ? z : z0, z1 = z > z1 ? z : z1;
  }
  world->cast[rank] = object->material == MATERIAL_ROCK
                          ? everywhere
                          : (Rect){x0 - 0.01, x1 + 0.01, z0 - 0.01, z1 + 0.01};
  const int left = rv_max(floor_int((x0 - SHADE_X0) / SHADE_CELL), 0);
  const int right = rv_min(floor_int((x1 - SHADE_X0) / SHADE_CELL), SHADE_X - 1);
  const int front = rv_max(floor_int((z0 - SHADE_Z0) / SHADE_CELL), 0);
  const int back = rv_min(floor_int((z1 - SHADE_Z0) / SHADE_CELL), SHADE_Z - 1);
  for (int z = front; z <= back; z++)
    for (int x = left; x <= right; x++)
      set(&world->shade[z][x], rank);
}

/* Marks the strips of street whose ground gets less daylight beside and below a car. */
static void close_by(World *world, int rank) {
  const Object *object = &world->object[world->order[rank]];
  if (object->material != MATERIAL_BODY)
    return;
  const int front = rv_max(floor_int((object->low.z - 0.8 - SHADE_Z0) / SHADE_CELL), 0);
  const int back = rv_min(floor_int((object->high.z + 0.8 - SHADE_Z0) / SHADE_CELL), SHADE_Z - 1);
  for (int z = front; z <= back; z++)
    set(&world->close[z], rank);
}

/* What rays of the views and towards the sun need of each plane. */
static void measure(const World *world, Object *object) {
  for (int i = 0; i < object->planes; i++) {
    const Vec n = object->normal[i];
    for (int view = 0; view < 2; view++)
      object->room[view][i] = object->offset[i] - vec_dot(n, world->view[view]);
    object->sunny[i] = vec_dot(n, world->sun);
  }
}

static float look(const Object *object, uint32_t salt) {
  return (float)(scene_hash(object->style, salt, 4u) >> 8) * (1.0f / 16777216.0f);
}

/* Front to back, so that the first hit ends the search early; ties keep their order. */
void scene_sort(RvScene *scene) {
  World *world = scene->work->world;
  for (int i = 0; i < world->objects; i++) {
    Object *object = &world->object[i];
    object->nearest = 1e9;
    for (int k = 0; k < 8; k++) {
      const double z = vec_dot(vec_sub(corner(object, k, -1e9), world->view[0]), world->ahead);
      object->nearest = z < object->nearest ? z : object->nearest;
    }
  }
  for (int i = 0; i < world->objects; i++) {
    int k = i;
    for (; k > 0 && world->object[world->order[k - 1]].nearest > world->object[i].nearest; k--)
      world->order[k] = world->order[k - 1];
    world->order[k] = i;
  }
  memset(world->tile, 0, sizeof world->tile);
  memset(world->shade, 0, sizeof world->shade);
  memset(world->close, 0, sizeof world->close);
  for (int rank = 0; rank < world->objects; rank++) {
    Object *object = &world->object[world->order[rank]];
    world->nearest[rank] = object->nearest;
    for (int i = 0; i < LOOKS; i++)
      object->look[i] = look(object, (uint32_t)i);
    measure(world, object);
    tile(scene, world, 0, rank);
    tile(scene, world, 1, rank);
    shade(world, rank);
    close_by(world, rank);
  }
}

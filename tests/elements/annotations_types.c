/* SPDX-License-Identifier: MIT */
/* annotations_types.c: every annotation the same way: written and read, through copies, through
 * text, without any one of its fields, with fields of another type, with short buffers. */
#include "element_test.h"

#include <string.h>

#define W 64
#define H 48

/* One annotation with a value in every field; buffers are made again each time. */
typedef struct Case {
  const char *name;
  gsize size;           /* of the struct */
  const char *optional; /* fields that may be absent, between blanks */
  void (*fill)(void *meta);
  gboolean (*get)(GstBuffer *buffer, void *meta);
  GstStructure *(*add)(GstBuffer *buffer, const void *meta);
  gboolean (*attach)(const void *meta, GstBuffer *buffer, GError **error);
} Case;

static GstBuffer *raster(RvFormat format, int width, int height, guint8 value) {
  GstBuffer *buffer = rv_meta_raster_new(format, width, height);
  gst_buffer_memset(buffer, 0, value, G_MAXSIZE);
  return buffer;
}

static GstBuffer *records(gsize bytes) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, bytes, NULL);
  gst_buffer_memset(buffer, 0, 7, G_MAXSIZE);
  return buffer;
}

#define TYPE(Type, type)                                                                           \
  static gboolean get_##type(GstBuffer *buffer, void *meta) {                                      \
    return rv_meta_get_##type(buffer, meta);                                                       \
  }                                                                                                \
  static GstStructure *add_##type(GstBuffer *buffer, const void *meta) {                           \
    return rv_meta_add_##type(buffer, meta);                                                       \
  }                                                                                                \
  ATTACH(Type, type)
#define ATTACH(Type, type)                                                                         \
  static gboolean attach_##type(const void *meta, GstBuffer *buffer, GError **error) {             \
    return rv_meta_##type##_attach(meta, buffer, error);                                           \
  }
#define FILL(Type, type, ...)                                                                      \
  static void fill_##type(void *meta) {                                                            \
    const RvMeta##Type values = {.width = W, .height = H, __VA_ARGS__};                            \
    *(RvMeta##Type *)meta = values;                                                                \
  }

TYPE(Disparity, disparity)
TYPE(Semantics, semantics)
TYPE(Stixels, stixels)
TYPE(Segments, segments)
TYPE(Road, road)
TYPE(Lines, lines)
TYPE(Ground, ground)
TYPE(Obstacles, obstacles)
TYPE(FreeSpace, free_space)
TYPE(Lanes, lanes)
TYPE(Detections, detections)
TYPE(Pair, pair)
TYPE(Truth, truth)
ATTACH(Camera, camera)

/* The two functions of the camera have another form. */
static gboolean get_camera(GstBuffer *buffer, void *meta) {
  RvMetaCamera *camera = rv_meta_camera_new();
  const gboolean found = rv_meta_camera_read(camera, buffer, NULL);
  memcpy(meta, camera, sizeof *camera);
  rv_meta_camera_free(camera);
  return found;
}

static GstStructure *add_camera(GstBuffer *buffer, const void *meta) {
  fail_unless(rv_meta_camera_attach(meta, buffer, NULL));
  return (GstStructure *)rv_meta_find(buffer, RV_META_CAMERA);
}

FILL(Camera, camera, .focal = 700, .cx = 31.5, .cy = 23.5, .doffs = 2, .baseline = 0.5,
     .camera_height = 1.6, .pitch = 3, .valid_x = 1, .valid_y = 2, .valid_width = 60,
     .valid_height = 44)
FILL(Disparity, disparity, .scale = 16, .min_disparity = -3, .disparities = 96,
     .payload = raster(RV_U16, W, H, 1), .confidence = raster(RV_U8, W, H, 2))
FILL(Semantics, semantics, .classes = 5, .map_width = 8, .map_height = 6,
     .type = RV_SEMANTICS_SCORES, .payload = raster(RV_U16, 8, 30, 3))
FILL(Stixels, stixels, .count = 3, .stixel_width = 8, .vertical_step = 4,
     .model = RV_STIXELS_CONSTANT, .ground_slope = 0.25, .ground_intercept = -7, .ground_frames = 9,
     .payload = records(3 * sizeof(RvStixel)))
FILL(Segments, segments, .count = 4, .epsilon = 1.5, .levels_max = 6,
     .payload = records(4 * sizeof(RvSegment)))
FILL(Road, road, .patch_size = 5, .columns = 12, .rows = 9, .models = 3, .samples = 40, .seeds = 17,
     .samples_matched = 11, .models_added = 1, .samples_pending = 6, .iterations = 8,
     .road_share = 0.25, .classify_threshold = 4, .ground_slope_x = 0.01, .ground_slope_y = 0.2,
     .ground_intercept = -5, .camera_height = 1.5, .drivable_distance = 21.5, .border_values = 12,
     .payload = raster(RV_U8, 12, 9, 255), .score = raster(RV_U8, 12, 9, 200),
     .border = records(12 * sizeof(float)), .distance = raster(RV_F32, 12, 9, 0),
     .seed_mask = raster(RV_U8, 12, 9, 0))
FILL(Lines, lines, .count = 2, .theta_step = 0.0175, .rho_step = 1, .segments = TRUE,
     .rho_zero = 81, .first_angle = 4, .accumulator_width = 163, .accumulator_height = 20,
     .payload = records(2 * sizeof(RvLine)), .accumulator = raster(RV_U32, 163, 20, 1))
FILL(Ground, ground, .ground_slope_x = 0.01, .ground_slope_y = 0.2, .ground_intercept = -5,
     .camera_height = 1.5, .bins = 128, .bin = 0.5, .source = RV_GROUND_MEMORY,
     .profile = records(256))
FILL(Obstacles, obstacles, .count = 2, .tracked = 1, .nearest = 1, .min_height = 0.3,
     .clearance = 2.2, .max_range = 60, .payload = records(2 * sizeof(RvObstacle)))
FILL(FreeSpace, free_space, .columns = 16, .column_width = 4, .area = 120.5,
     .payload = records(16 * sizeof(RvFreeColumn)))
FILL(Lanes, lanes, .count = 2, .left = 0, .right = 1, .offset = -0.2, .heading = 0.01,
     .curvature = 0.002, .lane_width = 3.5, .confidence = 0.9, .z_min = 4, .z_max = 45,
     .polyline_values = 8, .payload = records(2 * sizeof(RvLaneLine)),
     .polylines = records(8 * sizeof(float)))
FILL(Detections, detections, .count = 3, .unmatched = 1,
     .payload = records(3 * sizeof(RvDetection)))
FILL(Pair, pair, .skew = -G_GINT64_CONSTANT(5000000000), .left_time = 11, .right_time = 12)
FILL(Truth, truth, .disparity = raster(RV_U16, W, H, 1), .labels = raster(RV_U8, W, H, 2),
     .road = raster(RV_U8, W, H, 3), .visible = raster(RV_U8, W, H, 4),
     .objects = raster(RV_U16, W, H, 5), .heights = raster(RV_U16, W, H, 6), .free_columns = W,
     .object_count = 2, .line_count = 3, .free_space = records(W * sizeof(float)),
     .object_list = records(2 * 48), .line_list = records(3 * 116))

#define CASE(Type, type, NAME, optional)                                                           \
  { NAME, sizeof(RvMeta##Type), optional, fill_##type, get_##type, add_##type, attach_##type }

static const Case cases[] = {
    CASE(Camera, camera, RV_META_CAMERA,
         " focal cx cy doffs baseline camera-height pitch valid-x valid-y valid-width "
         "valid-height "),
    CASE(Disparity, disparity, RV_META_DISPARITY, " view confidence "),
    CASE(Semantics, semantics, RV_META_SEMANTICS, " "),
    CASE(Stixels, stixels, RV_META_STIXELS, " "),
    CASE(Segments, segments, RV_META_SEGMENTS, " "),
    CASE(Road, road, RV_META_ROAD,
         " models samples seeds samples-matched models-added samples-pending iterations road-share "
         "classify-threshold ground-slope-x ground-slope-y ground-intercept camera-height distance "
         "seed-mask drivable-distance border-values border score "),
    CASE(Lines, lines, RV_META_LINES,
         " segments rho-zero first-angle accumulator accumulator-width accumulator-height "),
    CASE(Ground, ground, RV_META_GROUND, " camera-height profile "),
    CASE(Obstacles, obstacles, RV_META_OBSTACLES, " "),
    CASE(FreeSpace, free_space, RV_META_FREE_SPACE, " "),
    CASE(Lanes, lanes, RV_META_LANES, " polyline-values polylines "),
    CASE(Detections, detections, RV_META_DETECTIONS, " "),
    CASE(Pair, pair, RV_META_PAIR, " "),
    CASE(Truth, truth, RV_META_TRUTH,
         " disparity labels road visible objects heights free-columns object-count line-count "
         "free-space object-list line-list "),
};

/* A buffer with the annotation; its values in `meta`, whose buffers the annotation owns. */
static GstBuffer *annotated(const Case *c, void *meta) {
  GstBuffer *buffer = gst_buffer_new();
  memset(meta, 0, c->size);
  c->fill(meta);
  fail_unless(c->add(buffer, meta) != NULL);
  if (c->add == add_camera) /* attached, not taken over: it has no buffers */
    fail_unless(rv_meta_check(buffer, c->name, NULL));
  return buffer;
}

static gboolean is_layout(const char *field) {
  return g_str_has_suffix(field, "stride") || g_str_has_suffix(field, "format");
}

static gboolean is_optional(const Case *c, const char *field) {
  char *name = g_strdup_printf(" %s ", field);
  const gboolean optional = strstr(c->optional, name) != NULL;
  g_free(name);
  return optional || is_layout(field); /* of no account beside a GstVideoMeta */
}

GST_START_TEST(test_names) {
  const char *const *names = rv_meta_get_names();
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    fail_unless(g_strv_contains(names, cases[i].name), "%s", cases[i].name);
  fail_unless_equals_int(g_strv_length((char **)names), G_N_ELEMENTS(cases));
}
GST_END_TEST

/* Every value survives writing, a copy of the buffer and reading; so does a copy of the struct. */
GST_START_TEST(test_round_trip) {
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Case *c = &cases[i];
    guint64 meta[32], got[32];
    g_assert(c->size <= sizeof meta);
    GstBuffer *buffer = annotated(c, meta), *copy = gst_buffer_copy(buffer);
    GError *error = NULL;
    fail_unless(rv_meta_remove(buffer, c->name));
    fail_if(rv_meta_remove(buffer, c->name) || rv_meta_check(buffer, c->name, &error) || error);
    gst_buffer_unref(buffer);
    fail_unless(rv_meta_check(copy, c->name, &error), "%s", error ? error->message : c->name);
    memset(got, 99, sizeof got);
    fail_unless(c->get(copy, got), "%s", c->name);
    fail_unless(memcmp(meta, got, c->size) == 0, "%s", c->name);
    /* In place of the one that has the buffers of `got`; an error while others have the buffer. */
    fail_unless(c->attach(got, copy, &error), "%s", error ? error->message : c->name);
    gst_buffer_ref(copy);
    fail_if(c->attach(got, copy, &error));
    fail_unless(g_error_matches(error, RV_META_ERROR, RV_META_ERROR_SHARED));
    fail_unless(strstr(error->message, "2 references") != NULL, "%s", error->message);
    g_clear_error(&error);
    gst_buffer_unref(copy);
    gst_buffer_unref(copy);
  }
}
GST_END_TEST

/* The names of all fields, valid after a field is removed; to be freed. */
static GPtrArray *list_fields(const GstStructure *fields) {
  GPtrArray *names = g_ptr_array_new();
  for (gint i = 0; i < gst_structure_n_fields(fields); i++)
    g_ptr_array_add(names,
                    (gpointer)g_intern_string(gst_structure_nth_field_name(fields, (guint)i)));
  return names;
}

/* What a damaged annotation must be: read without an optional field, invalid without another. */
static void expect(const Case *c, GstBuffer *buffer, const char *field, const char *damage) {
  guint64 got[32];
  GError *error = NULL;
  const gboolean valid = c->get(buffer, got);
  fail_unless(valid == is_optional(c, field), "%s: %s %s", c->name, field, damage);
  fail_unless(valid == rv_meta_check(buffer, c->name, &error), "%s", c->name);
  fail_unless(valid || (g_error_matches(error, RV_META_ERROR, RV_META_ERROR_INVALID) &&
                        strstr(error->message, c->name)),
              "%s: %s %s", c->name, field, damage);
  g_clear_error(&error);
}

/* The annotation of a copy, to be damaged. */
static GstStructure *copy_of(GstBuffer *buffer, const Case *c, GstBuffer **copy) {
  *copy = gst_buffer_copy(buffer);
  return (GstStructure *)rv_meta_find(*copy, c->name);
}

static void damage_field(const Case *c, GstBuffer *buffer, const char *field) {
  GstBuffer *copy;
  GstStructure *fields = copy_of(buffer, c, &copy);
  const GType kind = gst_structure_get_field_type(fields, field);
  gst_structure_remove_field(fields, field);
  expect(c, copy, field, "is missing");
  if (kind != G_TYPE_STRING || !is_optional(c, field)) {
    gst_structure_set(fields, field, G_TYPE_STRING, "none of these", NULL);
    expect(c, copy, field, "is a text");
  }
  gst_structure_set(fields, field, GST_TYPE_FRACTION, 1, 2, NULL);
  expect(c, copy, field, "is a fraction");
  if (kind == GST_TYPE_BUFFER) {
    const GstBuffer *payload = rv_meta_get_buffer(rv_meta_find(buffer, c->name), field);
    rv_meta_set_buffer(fields, field, gst_buffer_new_allocate(NULL, 1, NULL));
    expect(c, copy, field, "is short");
    GstBuffer *cut = gst_buffer_copy_region((GstBuffer *)payload, GST_BUFFER_COPY_ALL, 0,
                                            gst_buffer_get_size((GstBuffer *)payload) / 2);
    rv_meta_set_buffer(fields, field, cut);
    expect(c, copy, field, "is cut in half");
    rv_meta_set_buffer(fields, field, raster(RV_U8, 7, 5, 0));
    expect(c, copy, field, "is a raster of another size");
  } else if (kind == G_TYPE_DOUBLE) {
    gst_structure_set(fields, field, G_TYPE_DOUBLE, G_MAXDOUBLE * 2, NULL);
    expect(c, copy, field, "is infinite");
  }
  gst_buffer_unref(copy);
}

GST_START_TEST(test_hostile_fields) {
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint64 meta[32];
    GstBuffer *buffer = annotated(&cases[i], meta);
    GPtrArray *fields = list_fields(rv_meta_find(buffer, cases[i].name));
    fail_unless(fields->len >= 3);
    for (guint k = 0; k < fields->len; k++)
      damage_field(&cases[i], buffer, g_ptr_array_index(fields, k));
    g_ptr_array_unref(fields);
    gst_buffer_unref(buffer);
  }
}
GST_END_TEST

/* Sizes that no image has, and later versions. */
GST_START_TEST(test_hostile_sizes) {
  static const struct {
    const char *field;
    int value;
  } damages[] = {{"width", 0},
                 {"width", RV_MAX_SIDE + 1},
                 {"height", -1},
                 {"version", 0},
                 {"version", RV_META_VERSION + 1}};
  for (guint i = 0; i < G_N_ELEMENTS(cases) * G_N_ELEMENTS(damages); i++) {
    const Case *c = &cases[i / G_N_ELEMENTS(damages)];
    guint64 meta[32];
    GstBuffer *buffer = annotated(c, meta);
    gst_structure_set((GstStructure *)rv_meta_find(buffer, c->name),
                      damages[i % G_N_ELEMENTS(damages)].field, G_TYPE_INT,
                      damages[i % G_N_ELEMENTS(damages)].value, NULL);
    expect(c, buffer, damages[i % G_N_ELEMENTS(damages)].field, "is out of range");
    gst_buffer_unref(buffer);
  }
}
GST_END_TEST

/* The same scalars, and the same pixels or records. */
static void expect_same_content(const Case *c, GstBuffer *a, GstBuffer *b) {
  const GstStructure *fields = rv_meta_find(a, c->name);
  GPtrArray *names = list_fields(fields);
  for (guint i = 0; i < names->len; i++) {
    const char *name = g_ptr_array_index(names, i);
    const GValue *one = gst_structure_get_value(fields, name);
    const GValue *other = gst_structure_get_value(rv_meta_find(b, c->name), name);
    fail_unless(other && G_VALUE_TYPE(one) == G_VALUE_TYPE(other), "%s: %s", c->name, name);
    if (!G_VALUE_HOLDS(one, GST_TYPE_BUFFER))
      fail_unless(gst_value_compare(one, other) == GST_VALUE_EQUAL, "%s: %s", c->name, name);
  }
  g_ptr_array_unref(names);
}

/* Metas that were serialized: buffers lose their GstVideoMeta, stride and format are in the text. */
GST_START_TEST(test_text) {
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Case *c = &cases[i];
    guint64 meta[32], got[32], again[32];
    GstBuffer *buffer = annotated(c, meta), *other = gst_buffer_new();
    char *text = gst_structure_to_string(rv_meta_find(buffer, c->name));
    GstStructure *parsed = gst_structure_from_string(text, NULL);
    fail_unless(parsed != NULL, "%s", text);
    GstStructure *fields = rv_meta_add(other, c->name, W, H);
    for (int k = 0; k < gst_structure_n_fields(parsed); k++) {
      const char *name = gst_structure_nth_field_name(parsed, k);
      gst_structure_set_value(fields, name, gst_structure_get_value(parsed, name));
    }
    gst_structure_free(parsed);
    g_free(text);
    expect_same_content(c, buffer, other);
    GError *error = NULL;
    fail_unless(rv_meta_check(other, c->name, &error), "%s", error ? error->message : "");
    fail_unless(c->get(other, got) && c->get(other, again), "%s", c->name);
    fail_unless(memcmp(got, again, c->size) == 0); /* rasters are restored once */
    /* A format that is not that of the field: no raster. */
    if (gst_structure_has_field(fields, "stride")) {
      guint64 damaged[32];
      GstBuffer *copy;
      fields = copy_of(other, c, &copy);
      gst_structure_set(fields, "format", G_TYPE_STRING, "u32", "payload", GST_TYPE_BUFFER,
                        rv_meta_get_buffer(rv_meta_find(other, c->name), "payload"), NULL);
      fail_if(c->get(copy, damaged), "%s", c->name);
      gst_structure_set(fields, "format", G_TYPE_STRING, rv_meta_get_format(c->name, "payload"),
                        "stride", G_TYPE_INT, G_MAXINT, NULL);
      fail_if(c->get(copy, damaged), "%s", c->name);
      gst_buffer_unref(copy);
    }
    gst_buffer_unref(buffer);
    gst_buffer_unref(other);
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_names) TEST(test_round_trip) TEST(test_hostile_fields) TEST(test_hostile_sizes) \
  TEST(test_text)
/* clang-format on */

ELEMENT_TESTS(annotations_types, TESTS)

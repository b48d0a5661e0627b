/* SPDX-License-Identifier: MIT */
/* annotations.c: registers, reads, checks and writes annotations as their tables describe them. */
#include <math.h>
#include <string.h>

#include "annotations_private.h"

G_DEFINE_QUARK(rv_meta_error, rv_meta_error)

/* --- Any annotation ---------------------------------------------------------------------------- */

/* The only place where metas are registered. */
static void register_name(const char *name) {
  static GMutex lock;
  static const char *no_tags[] = {NULL};
  if (gst_meta_get_info(name))
    return;
  g_mutex_lock(&lock);
  if (!gst_meta_get_info(name))
    gst_meta_register_custom(name, no_tags, NULL, NULL, NULL);
  g_mutex_unlock(&lock);
}

void rv_meta_register_all(void) {
  for (const RvMetaType *type = rv_meta_types; type->name; type++)
    register_name(type->name);
}

const RvMetaType *rv_meta_type_find(const char *name) {
  for (const RvMetaType *type = rv_meta_types; type->name; type++)
    if (strcmp(type->name, name) == 0)
      return type;
  return NULL;
}

const RvMetaField *rv_meta_type_field(const RvMetaType *type, const char *field) {
  for (guint i = 0; type && i < type->count; i++)
    if (strcmp(type->fields[i].name, field) == 0)
      return &type->fields[i];
  return NULL;
}

static gboolean is_buffer(const RvMetaField *field) {
  return field && (field->kind == RV_META_RASTER || field->kind == RV_META_RECORDS);
}

/**
 * rv_meta_get_format:
 * Returns: (nullable):
 */
const char *rv_meta_get_format(const char *name, const char *field) {
  const RvMetaField *found = rv_meta_type_field(rv_meta_type_find(name), field);
  return is_buffer(found) ? found->format : NULL;
}

/**
 * rv_meta_get_scalar:
 * Returns: (nullable):
 */
const char *rv_meta_get_scalar(const char *name, guint index) {
  const RvMetaType *type = rv_meta_type_find(name);
  for (guint i = 0; type && i < type->count; i++)
    if (!is_buffer(&type->fields[i]) && index-- == 0)
      return type->fields[i].name;
  return NULL;
}

int rv_meta_count_records(const GstStructure *fields, const char *field) {
  const RvMetaType *type = rv_meta_type_find(gst_structure_get_name(fields));
  const RvMetaField *records = rv_meta_type_field(type, field);
  int count = -1;
  if (!records || records->kind != RV_META_RECORDS)
    return -1;
  for (guint i = 0; i < type->count; i++) {
    const RvMetaField *scalar = &type->fields[i];
    if (scalar->kind == RV_META_INT && scalar->at == records->columns)
      return gst_structure_get_int(fields, scalar->name, &count) && count >= 0 ? count : -1;
  }
  return -1;
}

static GstCustomMeta *find_meta(GstBuffer *buffer, const char *name) {
  return gst_meta_get_info(name) ? gst_buffer_get_custom_meta(buffer, name) : NULL;
}

const GstStructure *rv_meta_find(GstBuffer *buffer, const char *name) {
  GstCustomMeta *meta = find_meta(buffer, name);
  return meta ? gst_custom_meta_get_structure(meta) : NULL;
}

gboolean rv_meta_remove(GstBuffer *buffer, const char *name) {
  GstCustomMeta *meta = gst_buffer_is_writable(buffer) ? find_meta(buffer, name) : NULL;
  return meta && gst_buffer_remove_meta(buffer, &meta->meta);
}

GstStructure *rv_meta_add(GstBuffer *buffer, const char *name, int width, int height) {
  if (!gst_buffer_is_writable(buffer))
    return NULL;
  register_name(name);
  rv_meta_remove(buffer, name);
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, name);
  if (!meta)
    return NULL;
  GstStructure *fields = gst_custom_meta_get_structure(meta);
  gst_structure_set(fields, "version", G_TYPE_INT, RV_META_VERSION, "width", G_TYPE_INT, width,
                    "height", G_TYPE_INT, height, NULL);
  return fields;
}

gboolean rv_meta_size(const GstStructure *fields, int *width, int *height) {
  int version = 0;
  return fields && gst_structure_get_int(fields, "version", &version) && version >= 1 &&
         version <= RV_META_VERSION && gst_structure_get_int(fields, "width", width) &&
         gst_structure_get_int(fields, "height", height) && *width > 0 && *height > 0 &&
         *width <= RV_MAX_SIDE && *height <= RV_MAX_SIDE;
}

GstBuffer *rv_meta_get_buffer(const GstStructure *fields, const char *field) {
  const GValue *value = fields ? gst_structure_get_value(fields, field) : NULL;
  return value && G_VALUE_HOLDS(value, GST_TYPE_BUFFER) ? gst_value_get_buffer(value) : NULL;
}

void rv_meta_set_buffer(GstStructure *fields, const char *field, GstBuffer *payload) {
  if (payload && fields) {
    const char *format = rv_meta_get_format(gst_structure_get_name(fields), field);
    gst_structure_set(fields, field, GST_TYPE_BUFFER, payload, NULL);
    rv_meta_set_layout(fields, field, payload, format);
  }
  gst_clear_buffer(&payload);
}

/* --- Members of a struct ------------------------------------------------------------------------ */

/* Member of type T at the offset `where`. */
#define MEMBER(T, meta, where) (*(T *)((char *)(meta) + (where)))
#define MEMBER_OF(T, meta, where) (*(T const *)((const char *)(meta) + (where)))

static gsize member_bytes(RvMetaKind kind) {
  switch (kind) {
  case RV_META_TEXT:
    return 0;
  case RV_META_INT:
  case RV_META_BOOLEAN:
  case RV_META_ENUM:
    return sizeof(int);
  case RV_META_RASTER:
  case RV_META_RECORDS:
    return sizeof(GstBuffer *);
  default:
    return 8;
  }
}

static gboolean is_set(const RvMetaType *type, const void *meta, gsize at) {
  for (guint i = 0; i < type->count; i++) {
    const RvMetaField *field = &type->fields[i];
    if (field->at == at && field->kind == RV_META_DOUBLE)
      return MEMBER_OF(double, meta, at) > 0.0;
    if (field->at == at && is_buffer(field))
      return MEMBER_OF(GstBuffer *, meta, at) != NULL;
  }
  return MEMBER_OF(int, meta, at) > 0;
}

/* Position of `text` in a list separated by blanks, -1 if it is not there. */
static int nick_index(const char *list, const char *text) {
  const gsize length = strlen(text);
  for (int i = 0; *list; i++) {
    const gsize nick = strcspn(list, " ");
    if (nick == length && memcmp(list, text, nick) == 0)
      return i;
    list += nick + (list[nick] != '\0');
  }
  return -1;
}

/* The nick at `index`, to be freed; NULL after the last one. */
static char *nick_at(const char *list, int index) {
  while (*list && index-- > 0) {
    list += strcspn(list, " ");
    list += *list != '\0';
  }
  return *list && index < 0 ? g_strndup(list, strcspn(list, " ")) : NULL;
}

static gboolean parse_enum(const GstStructure *fields, const RvMetaField *field, int *value) {
  const char *text = gst_structure_get_string(fields, field->name);
  *value = text ? nick_index(field->format, text) : -1;
  return *value >= 0;
}

/* FALSE if the field is absent or has another type. */
static gboolean parse(const GstStructure *fields, const RvMetaField *field, void *meta) {
  void *member = (char *)meta + field->at;
  switch (field->kind) {
  case RV_META_INT:
    return gst_structure_get_int(fields, field->name, member);
  case RV_META_BOOLEAN:
    return gst_structure_get_boolean(fields, field->name, member);
  case RV_META_INT64:
    return gst_structure_get_int64(fields, field->name, member);
  case RV_META_UINT64:
    return gst_structure_get_uint64(fields, field->name, member);
  case RV_META_DOUBLE:
    return gst_structure_get_double(fields, field->name, member);
  case RV_META_ENUM:
    return parse_enum(fields, field, member);
  case RV_META_TEXT:
    return TRUE;
  default:
    MEMBER(GstBuffer *, meta, field->at) = rv_meta_get_buffer(fields, field->name);
    return MEMBER(GstBuffer *, meta, field->at) != NULL;
  }
}

static RvMetaShape shape_of(const RvMetaType *type, const RvMetaField *field, const void *meta) {
  RvMetaShape shape = {field->format, MEMBER_OF(int, meta, field->columns),
                       field->kind == RV_META_RASTER ? MEMBER_OF(int, meta, field->rows) : 1};
  if (type->reshape && field->kind == RV_META_RASTER)
    type->reshape(meta, &shape);
  return shape;
}

/* What is wrong with the value of a field; NULL if nothing is. */
static const char *problem_of(const RvMetaType *type, const RvMetaField *field, const void *meta) {
  int number;
  char *nick;
  switch (field->kind) {
  case RV_META_INT:
    number = MEMBER_OF(int, meta, field->at);
    return number < field->low || number > field->high ? "is out of range" : NULL;
  case RV_META_DOUBLE:
    return isfinite(MEMBER_OF(double, meta, field->at)) ? NULL : "is not finite";
  case RV_META_ENUM:
    nick = nick_at(field->format, MEMBER_OF(int, meta, field->at));
    g_free(nick);
    return nick ? NULL : "is out of range";
  case RV_META_RASTER:
  case RV_META_RECORDS:
    break;
  default:
    return NULL;
  }
  GstBuffer *buffer = MEMBER_OF(GstBuffer *, meta, field->at);
  const RvMetaShape shape = shape_of(type, field, meta);
  if (!buffer)
    return field->optional ? NULL : "is missing";
  return field->kind == RV_META_RASTER
             ? rv_meta_raster_problem(buffer, &shape)
             : rv_meta_records_problem(buffer, field->format, shape.width);
}

static gboolean fail(const RvMetaType *type, GError **error, const char *field,
                     const char *problem) {
  g_set_error(error, RV_META_ERROR, RV_META_ERROR_INVALID, "invalid %s: %s %s", type->name, field,
              problem);
  return FALSE;
}

/* --- Reading ------------------------------------------------------------------------------------ */

/* Fields in the order of the table: sizes before the buffers that depend on them. */
static gboolean read_field(const RvMetaType *type, const RvMetaField *field,
                           const GstStructure *fields, void *meta, GError **error) {
  const char *problem = "is missing or has another type";
  if (parse(fields, field, meta)) {
    if (field->kind == RV_META_RASTER) {
      const RvMetaShape shape = shape_of(type, field, meta);
      GstBuffer **raster = &MEMBER(GstBuffer *, meta, field->at);
      *raster = rv_meta_restore_layout(fields, field->name, *raster, &shape);
    }
    problem = problem_of(type, field, meta);
  }
  if (!problem)
    return TRUE;
  memset((char *)meta + field->at, 0, member_bytes(field->kind));
  return field->optional || fail(type, error, field->name, problem);
}

static gboolean read_fields(const RvMetaType *type, const GstStructure *fields, void *meta,
                            GError **error) {
  int *size = meta;
  if (!rv_meta_size(fields, &size[0], &size[1]))
    return fail(type, error, "version, width or height", "is missing or out of range");
  for (guint i = 0; i < type->count; i++)
    if (!read_field(type, &type->fields[i], fields, meta, error))
      return FALSE;
  const char *problem = type->check ? type->check(meta) : NULL;
  return !problem || fail(type, error, "values:", problem);
}

gboolean rv_meta_type_get(const RvMetaType *type, GstBuffer *buffer, void *meta, GError **error) {
  const GstStructure *fields = rv_meta_find(buffer, type->name);
  memset(meta, 0, type->size);
  if (!fields)
    return FALSE;
  if (read_fields(type, fields, meta, error))
    return TRUE;
  memset(meta, 0, type->size);
  return FALSE;
}

gboolean rv_meta_check(GstBuffer *buffer, const char *name, GError **error) {
  const RvMetaType *type = rv_meta_type_find(name);
  if (!type) {
    g_set_error(error, RV_META_ERROR, RV_META_ERROR_FIELD, "%s is not an annotation", name);
    return FALSE;
  }
  void *meta = g_malloc(type->size);
  const gboolean valid = rv_meta_type_get(type, buffer, meta, error);
  g_free(meta);
  return valid;
}

/* --- Writing ------------------------------------------------------------------------------------ */

static void write_field(const RvMetaType *type, const RvMetaField *field, const void *meta,
                        GstStructure *fields) {
  GstBuffer *buffer;
  char *nick;
  switch (field->kind) {
  case RV_META_INT:
    gst_structure_set(fields, field->name, G_TYPE_INT, MEMBER_OF(int, meta, field->at), NULL);
    break;
  case RV_META_BOOLEAN:
    gst_structure_set(fields, field->name, G_TYPE_BOOLEAN,
                      MEMBER_OF(gboolean, meta, field->at) != FALSE, NULL);
    break;
  case RV_META_INT64:
    gst_structure_set(fields, field->name, G_TYPE_INT64, MEMBER_OF(gint64, meta, field->at), NULL);
    break;
  case RV_META_UINT64:
    gst_structure_set(fields, field->name, G_TYPE_UINT64, MEMBER_OF(guint64, meta, field->at),
                      NULL);
    break;
  case RV_META_DOUBLE:
    gst_structure_set(fields, field->name, G_TYPE_DOUBLE, MEMBER_OF(double, meta, field->at), NULL);
    break;
  case RV_META_ENUM:
    nick = nick_at(field->format, MEMBER_OF(int, meta, field->at));
    gst_structure_set(fields, field->name, G_TYPE_STRING, nick, NULL);
    g_free(nick);
    break;
  case RV_META_TEXT:
    gst_structure_set(fields, field->name, G_TYPE_STRING, field->format, NULL);
    break;
  default:
    buffer = MEMBER_OF(GstBuffer *, meta, field->at);
    if (buffer) {
      gst_structure_set(fields, field->name, GST_TYPE_BUFFER, buffer, NULL);
      rv_meta_set_layout(fields, field->name, buffer, shape_of(type, field, meta).format);
    }
  }
}

static void ref_buffers(const RvMetaType *type, const void *meta) {
  for (guint i = 0; i < type->count; i++)
    if (is_buffer(&type->fields[i]) && MEMBER_OF(GstBuffer *, meta, type->fields[i].at))
      gst_buffer_ref(MEMBER_OF(GstBuffer *, meta, type->fields[i].at));
}

static void unref_buffers(const RvMetaType *type, const void *meta) {
  for (guint i = 0; i < type->count; i++)
    if (is_buffer(&type->fields[i]) && MEMBER_OF(GstBuffer *, meta, type->fields[i].at))
      gst_buffer_unref(MEMBER_OF(GstBuffer *, meta, type->fields[i].at));
}

/* The buffers may be those of the annotation that is replaced. */
static GstStructure *write_fields(const RvMetaType *type, GstBuffer *buffer, const void *meta) {
  const int *size = meta;
  ref_buffers(type, meta);
  GstStructure *fields = rv_meta_add(buffer, type->name, size[0], size[1]);
  for (guint i = 0; fields && i < type->count; i++) {
    const RvMetaField *field = &type->fields[i];
    if (field->with == 0 || is_set(type, meta, field->with))
      write_field(type, field, meta, fields);
  }
  unref_buffers(type, meta);
  return fields;
}

GstStructure *rv_meta_type_add(const RvMetaType *type, GstBuffer *buffer, const void *meta) {
  GstStructure *fields = write_fields(type, buffer, meta);
  unref_buffers(type, meta);
  return fields;
}

static gboolean check_fields(const RvMetaType *type, const void *meta, GError **error) {
  const int *size = meta;
  if (size[0] < 1 || size[0] > RV_MAX_SIDE || size[1] < 1 || size[1] > RV_MAX_SIDE)
    return fail(type, error, "width or height", "is out of range");
  for (guint i = 0; i < type->count; i++) {
    const RvMetaField *field = &type->fields[i];
    const char *problem = problem_of(type, field, meta);
    if (problem)
      return fail(type, error, field->name, problem);
  }
  const char *problem = type->check ? type->check(meta) : NULL;
  return !problem || fail(type, error, "values:", problem);
}

gboolean rv_meta_type_attach(const RvMetaType *type, GstBuffer *buffer, const void *meta,
                             GError **error) {
  if (!check_fields(type, meta, error))
    return FALSE;
  if (write_fields(type, buffer, meta))
    return TRUE;
  g_set_error(error, RV_META_ERROR, RV_META_ERROR_SHARED,
              "failed to attach %s: the buffer is shared (%d references)", type->name,
              GST_MINI_OBJECT_REFCOUNT_VALUE(buffer));
  return FALSE;
}

gboolean rv_meta_type_attach_in_probe(const RvMetaType *type, GstPadProbeInfo *info,
                                      const void *meta, GError **error) {
  if (!(GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) || !info->data) {
    g_set_error(error, RV_META_ERROR, RV_META_ERROR_INVALID,
                "failed to attach %s: the pad probe has no buffer", type->name);
    return FALSE;
  }
  if (!check_fields(type, meta, error))
    return FALSE;
  info->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  return rv_meta_type_attach(type, info->data, meta, error);
}

/* --- Structs with references -------------------------------------------------------------------- */

void *rv_meta_type_copy(const RvMetaType *type, const void *meta) {
  void *copy = g_malloc(type->size);
  memcpy(copy, meta, type->size);
  ref_buffers(type, copy);
  return copy;
}

void rv_meta_type_clear(const RvMetaType *type, void *meta) {
  unref_buffers(type, meta);
  memset(meta, 0, type->size);
}

gboolean rv_meta_type_read(const RvMetaType *type, GstBuffer *buffer, void *meta, GError **error) {
  rv_meta_type_clear(type, meta);
  if (!rv_meta_type_get(type, buffer, meta, error))
    return FALSE;
  ref_buffers(type, meta);
  return TRUE;
}

static const RvMetaField *buffer_field(const RvMetaType *type, const char *name, GError **error) {
  const RvMetaField *field = rv_meta_type_field(type, name);
  if (is_buffer(field))
    return field;
  g_set_error(error, RV_META_ERROR, RV_META_ERROR_FIELD, "%s has no buffer %s", type->name, name);
  return NULL;
}

RvMetaArray *rv_meta_type_get_array(const RvMetaType *type, const void *meta, const char *name,
                                    GError **error) {
  const RvMetaField *field = buffer_field(type, name, error);
  if (!field)
    return NULL;
  const char *problem = problem_of(type, field, meta);
  GstBuffer *buffer = MEMBER_OF(GstBuffer *, meta, field->at);
  if (problem || !buffer) {
    g_set_error(error, RV_META_ERROR, RV_META_ERROR_FIELD, "%s of this %s %s", name, type->name,
                problem ? problem : "is absent");
    return NULL;
  }
  const RvMetaShape shape = shape_of(type, field, meta);
  return rv_meta_array_from_buffer(buffer, shape.format, shape.width, shape.height, error);
}

gboolean rv_meta_type_set_array(const RvMetaType *type, void *meta, const char *name,
                                const RvMetaArray *array, GError **error) {
  const RvMetaField *field = buffer_field(type, name, error);
  if (!field)
    return FALSE;
  const gboolean is_raster = field->kind == RV_META_RASTER;
  const RvMetaShape shape = shape_of(type, field, meta);
  if (strcmp(array->format, shape.format) != 0 || (!is_raster && array->height != 1)) {
    g_set_error(error, RV_META_ERROR, RV_META_ERROR_INVALID, "%s of %s needs an array of %s%s",
                name, type->name, shape.format, is_raster ? "" : " with height 1");
    return FALSE;
  }
  GstBuffer **buffer = &MEMBER(GstBuffer *, meta, field->at);
  gst_clear_buffer(buffer);
  *buffer = rv_meta_array_to_buffer(array, is_raster);
  if (!is_raster)
    MEMBER(int, meta, field->columns) = array->width;
  return TRUE;
}

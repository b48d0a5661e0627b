/* SPDX-License-Identifier: MIT */
/* gstrvtransform.h: the base class of the elements that process frames. An element adds its
 * computation and its properties.
 *
 * What the base class does: the properties `engine`, `threads`, `cuda-device-id`, `post-messages`
 * and `stats`; finding and sharing the CUDA context; caps (CUDA memory first, then system memory; a
 * CAPS query from an element that could give either is answered with CUDA memory); pools; mapping
 * frames for the engine; copying annotations to new buffers; one stream and one synchronization
 * before the push, so that pushed buffers are complete; errors with cause and remedy.
 *
 * What an element does (class_init):
 *
 *   gst_rv_transform_class_set_analyzer(klass, "cudahough", &settings, GST_MAP_READ,
 *                                       RV_META_LINES, NULL);
 *   gst_rv_transform_class_set_work(klass, configure, process, finish, release);
 *
 * An element that draws on frames, or creates other ones, is not an analyzer: it calls
 * gst_rv_transform_class_set_element(), sets in_place, picture and annotation, and adds its pad
 * templates (gst_rv_transform_class_add_templates).
 *
 * Properties are a table (gstrvsettings.h), whose values the base class initializes and frees. They
 * are guarded by the object lock; configure reads a copy. An element calls
 * gst_rv_transform_rebuild() where a property of its own changed. */
#ifndef GST_RV_TRANSFORM_H
#define GST_RV_TRANSFORM_H

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "gstrvannotation.h"
#include "gstrvengine.h"
#include "gstrverror.h"
#include "gstrvframe.h"
#include "gstrvmemory.h"
#include "gstrvsettings.h"

G_BEGIN_DECLS

#define GST_TYPE_RV_TRANSFORM (gst_rv_transform_get_type())
#define GST_RV_TRANSFORM(obj)                                                                      \
  (G_TYPE_CHECK_INSTANCE_CAST((obj), GST_TYPE_RV_TRANSFORM, GstRvTransform))
#define GST_IS_RV_TRANSFORM(obj) (G_TYPE_CHECK_INSTANCE_TYPE((obj), GST_TYPE_RV_TRANSFORM))
#define GST_RV_TRANSFORM_CLASS(klass)                                                              \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_RV_TRANSFORM, GstRvTransformClass))
#define GST_RV_TRANSFORM_GET_CLASS(obj)                                                            \
  (G_TYPE_INSTANCE_GET_CLASS((obj), GST_TYPE_RV_TRANSFORM, GstRvTransformClass))

/* Formats that every element accepts, in any memory and in system memory only. (Those that
 * libgstcuda cannot allocate are among the latter.) */
#define GST_RV_FORMATS                                                                             \
  "NV12, I420, YUY2, UYVY, BGRx, BGRA, RGBx, RGBA, YV12, NV21, Y42B, ARGB, ABGR"
#define GST_RV_FORMATS_SYSTEM GST_RV_FORMATS ", RGB, BGR, GRAY8, xRGB, xBGR"
/* In any memory, for elements that do not draw: the upper 8 of 10 bits are used. */
#define GST_RV_FORMATS_DEEP ", P010_10LE"
#define GST_RV_RESULTS 5 /* annotations that one element attaches at most */

typedef struct GstRvTransform GstRvTransform;
typedef struct GstRvTransformClass GstRvTransformClass;
typedef struct GstRvTransformPrivate GstRvTransformPrivate;

/* One frame. in and out are the same buffer and image when the class works in place. */
typedef struct GstRvJob {
  GstBuffer *in, *out;
  const RvPicture *in_picture;  /* NULL when the class does not read it, or with bypass */
  const RvPicture *out_picture; /* NULL for GRAY16_LE */
  gboolean ok;                  /* for finish: process was successful */
} GstRvJob;

/* What an element can do to the memory of frames besides leaving them where they are, with the CUDA
 * engine and in builds with CUDA caps. */
typedef enum GstRvMemoryChange {
  GST_RV_MEMORY_KEPT = 0,
  GST_RV_MEMORY_UPLOADS = 1 << 0,   /* system memory in, CUDA memory out */
  GST_RV_MEMORY_DOWNLOADS = 1 << 1, /* CUDA memory in, system memory out */
} GstRvMemoryChange;

struct GstRvTransform {
  GstBaseTransform parent;
  GstVideoInfo in_info, out_info; /* as negotiated; for subclasses to read */
  GstRvTransformPrivate *priv;
};

struct GstRvTransformClass {
  GstBaseTransformClass parent_class;

  const GstRvSettings *settings; /* properties */
  GstDebugCategory *debug;       /* of the name of the element */
  gboolean in_place;             /* the frame passes through; FALSE: a new buffer */
  GstMapFlags picture;           /* access to the pixels of the input; 0: none */
  GstRvMemoryChange memory;
  gboolean gray16;        /* GRAY16_LE output is an image, not a disparity map */
  const char *annotation; /* what post-messages describes; may be NULL */
  const char
      *annotations[GST_RV_RESULTS]; /* all that process and finish attach; NULL behind them, and
                                     * if `annotation` is the only one */
  const char
      *downstream_hint; /* remedy when no downstream element accepts the output; may be NULL */

  /* Posts an error (cause and remedy) and returns FALSE when frames of `caps` can never be
   * processed. Optional; called with the caps event, where the reason is known. */
  gboolean (*check_caps)(GstRvTransform *self, GstCaps *caps, const GstVideoInfo *info);

  /* Appends to `result` what `structure` and `features` (ownership passes) become on the other pad.
   * Optional; without it both pads have the same caps. */
  void (*transform_structure)(GstRvTransform *self, GstPadDirection direction,
                              GstStructure *structure, GstCapsFeatures *features, GstCaps *result);

  /* Makes everything for in_info, out_info and the properties (gst_rv_transform_settings), so that
   * process need not allocate. Called between frames, with the device current, after caps and after
   * a rebuild. Must leave the previous state usable when it fails with RV_ERR_ARG during a rebuild:
   * the frame is processed with it. */
  RvStatus (*configure)(GstRvTransform *self, const GstRvExecContext *work);

  /* Enqueues (RV_CUDA) or does (RV_CPU) the work of one frame, and attaches the result to out. */
  RvStatus (*process)(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job);

  /* Optional: after the wait, what the host does with results; the engine is done with the frame.
   * Called after a failed process too (job->ok FALSE), to unmap what process mapped. */
  RvStatus (*finish)(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job);

  /* Optional: in place of process and finish, for a frame that repeats the previous one (GAP, as
   * videorate marks its copies). The annotations of the previous frame are attached already;
   * without this function nothing else is done, and elements that write pixels process the frame.
   * Not called for elements without annotation. */
  RvStatus (*repeat)(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job);

  /* Optional: the stream was interrupted (flush, new stream, time that jumps by more than 1 s or
   * goes back): clears state that is averaged over time. With the device current, before the next
   * frame. */
  RvStatus (*reset)(GstRvTransform *self, const GstRvExecContext *work);

  /* Optional: adds fields to the element message of the last frame (post-messages). */
  void (*describe)(GstRvTransform *self, GstStructure *message);

  /* Optional: the stream has ended, with the device current; before EOS is forwarded. A failure is
   * posted as a failure to save the models. */
  RvStatus (*drain)(GstRvTransform *self, const GstRvExecContext *work);

  /* Frees what configure made, with the device current. Learned state may stay; stop drops it. */
  void (*release)(GstRvTransform *self);
};

GType gst_rv_transform_get_type(void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstRvTransform, gst_object_unref)

/* What every element states: its name, whose line in elements.def is the metadata, and its
 * properties, a table that lives as long as the class. */
void gst_rv_transform_class_set_element(GstRvTransformClass *klass, const char *name,
                                        const GstRvSettings *settings);

/* The same, for an element that attaches annotations to the frames that pass through it: at most
 * GST_RV_RESULTS names and NULL; post-messages describes the first. `picture`: GST_MAP_READ, or
 * 0 for an element that reads the disparity alone, and so accepts disparity maps (GRAY16_LE) as
 * frames too. Adds the pad templates. */
void gst_rv_transform_class_set_analyzer(GstRvTransformClass *klass, const char *name,
                                         const GstRvSettings *settings, GstMapFlags picture,
                                         const char *annotation, ...) G_GNUC_NULL_TERMINATED;

/* Sets the functions that every element has. */
void gst_rv_transform_class_set_work(
    GstRvTransformClass *klass,
    RvStatus (*configure)(GstRvTransform *self, const GstRvExecContext *work),
    RvStatus (*process)(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job),
    RvStatus (*finish)(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job),
    void (*release)(GstRvTransform *self));

/* Pad templates from caps strings. */
void gst_rv_transform_class_add_templates(GstRvTransformClass *klass, const char *sink,
                                          const char *src);

/* "video/x-raw(memory:CUDAMemory), format={...}; video/x-raw, format={...}", without the first part
 * in builds that have no CUDA caps. `deep`: GST_RV_FORMATS_DEEP too; `more`: further formats in
 * system memory (", GRAY16_LE"), or "". To be freed. */
char *gst_rv_transform_caps_string(gboolean deep, const char *more);

/* The same with GST_RV_FORMATS_DEEP, and GRAY16_LE in system memory for disparity and depth
 * maps. To be freed. */
char *gst_rv_transform_caps_string_maps(void);

/* configure is called before the next frame. Any thread. */
void gst_rv_transform_rebuild(GstRvTransform *self);

/* The same, as GstRvSettings.changed. */
void gst_rv_transform_changed(GObject *object, const char *name);

/* Defines the table `settings` of an element whose properties are those of the library and the rows
 * `own`, and configure is called after each change. */
#define GST_RV_TRANSFORM_SETTINGS(Type, Settings, its_params)                                      \
  static const GstRvSettings settings =                                                            \
      GST_RV_SETTINGS(Type, Settings, its_params, own, gst_rv_transform_changed)

/* For configure: the values of the class's table of properties, copied under the object lock before
 * the call and freed behind it. */
gconstpointer gst_rv_transform_settings(GstRvTransform *self);

/* For configure of classes that are not in_place: with `bypass` frames are not copied. process and
 * finish are called without images, to attach annotations to job->out. */
void gst_rv_transform_set_bypass(GstRvTransform *self, gboolean bypass);

/* For elements that are in_place: with `idle` frames pass untouched, as far as their memory allows.
 * Any thread. */
void gst_rv_transform_set_idle(GstRvTransform *self, gboolean idle);

/* Seconds of a frame, for state that depends on time; those of a frame without time stamp are one
 * frame later than `before`, that of the previous frame. */
double gst_rv_transform_seconds(GstRvTransform *self, GstBuffer *buffer, double before);

/* TRUE the first time it is called with this bit (0..31) since the element started: for warnings
 * that are posted once per stream. */
gboolean gst_rv_transform_once(GstRvTransform *self, guint bit);

/* TRUE when an element message is posted for each frame. */
gboolean gst_rv_transform_posts_messages(GstRvTransform *self);

/* The log whose last line the base class posts when a vfunc fails. */
GstRvLog *gst_rv_transform_log(GstRvTransform *self);

/* The debug category of the element, for GST_CAT_DEFAULT. */
GstDebugCategory *gst_rv_transform_category(GstRvTransform *self);

G_END_DECLS
#endif

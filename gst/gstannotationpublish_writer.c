/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_writer.c: queue and thread. */
#include "gstannotationpublish_writer.h"

#include <pthread.h>
#include <signal.h>

#define IDLE_US (200 * 1000)   /* between calls of idle() */
#define RETRY_US (1000 * 1000) /* between attempts while the destination does not accept data */

struct GstPublishWriter {
  GMutex lock;
  GCond work;     /* for the thread: frames, finish, quit, wake */
  GCond progress; /* for the streaming thread: a frame was written or dropped */
  GThread *thread;
  GstPublishSink *sink;

  /* Guarded by the lock. */
  GQueue frames;
  gsize bytes;
  GstPublishCounts counts;
  guint64 finish_wanted, finish_done; /* serial numbers of drains */
  gboolean flushing, quit, wake, failed, reported;
  gboolean busy; /* a frame is with the sink */

  guint frames_max;
  gsize bytes_max;
  gboolean stop_on_error;
};

/* --- The thread ------------------------------------------------------------------------------ */

static void report_wait(GstPublishWriter *writer) {
  GstElement *element = writer->sink->host->element;
  const char *reason = writer->sink->reason;
  if (writer->stop_on_error)
    GST_ELEMENT_ERROR(element, RESOURCE, WRITE, ("Publishing stopped: %s.", reason),
                      ("Set on-error=warn to continue the stream without it."));
  else
    GST_ELEMENT_WARNING(element, RESOURCE, WRITE, ("Publishing is interrupted: %s.", reason),
                        ("The stream continues; it is tried again every second, and frames that "
                         "do not fit into the queue are dropped."));
}

/* The destination did not accept the frame: reports it once and waits for the next attempt. Called
 * and returns with the lock held; FALSE when there will be none. */
static gboolean wait_for_destination(GstPublishWriter *writer) {
  if (writer->quit)
    return FALSE;
  if (!writer->counts.waiting) {
    writer->counts.waiting = TRUE;
    g_cond_broadcast(&writer->progress);
    g_mutex_unlock(&writer->lock);
    report_wait(writer);
    g_mutex_lock(&writer->lock);
    writer->failed |= writer->stop_on_error; /* after the message: upstream reports the flow */
    g_cond_broadcast(&writer->progress);
  }
  const gint64 until = g_get_monotonic_time() + RETRY_US;
  while (!writer->quit && !writer->wake && !writer->failed)
    if (!g_cond_wait_until(&writer->work, &writer->lock, until))
      break;
  writer->wake = FALSE;
  return !writer->quit && !writer->failed;
}

/* Writes one frame, in several attempts if needed; called and returns with the lock held. */
static void write_frame(GstPublishWriter *writer, GstPublishFrame *frame) {
  GstPublishSink *sink = writer->sink;
  GstPublishStatus status = GST_PUBLISH_WAIT;
  writer->busy = TRUE;
  do {
    frame->dropped = writer->counts.dropped;
    g_mutex_unlock(&writer->lock);
    status = sink->klass->write(sink, frame);
    g_mutex_lock(&writer->lock);
    if (status == GST_PUBLISH_DONE && writer->counts.waiting) {
      writer->counts.waiting = FALSE;
      GST_INFO_OBJECT(sink->host->element, "publishing continues");
    }
  } while (status == GST_PUBLISH_WAIT && wait_for_destination(writer));
  writer->busy = FALSE;
  if (status == GST_PUBLISH_DONE)
    writer->counts.published++;
  else
    writer->counts.dropped++;
  writer->counts.bytes = sink->bytes;
  writer->counts.files = sink->files;
  writer->counts.reconnects = sink->reconnects;
  g_cond_broadcast(&writer->progress);
}

static void finish(GstPublishWriter *writer) {
  const guint64 serial = writer->finish_wanted;
  g_mutex_unlock(&writer->lock);
  const GstPublishStatus status = writer->sink->klass->finish(writer->sink);
  if (status == GST_PUBLISH_WAIT)
    report_wait(writer);
  g_mutex_lock(&writer->lock);
  writer->failed |= status == GST_PUBLISH_WAIT && writer->stop_on_error;
  writer->counts.bytes = writer->sink->bytes;
  writer->finish_done = serial;
  g_cond_broadcast(&writer->progress);
}

static void idle(GstPublishWriter *writer) {
  if (!writer->sink->klass->idle)
    return;
  g_mutex_unlock(&writer->lock);
  writer->sink->klass->idle(writer->sink);
  g_mutex_lock(&writer->lock);
}

static gpointer run(gpointer data) {
  GstPublishWriter *writer = data;
  /* A pipe without a reader and a limit of file sizes are errors of write(), not signals. */
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  g_mutex_lock(&writer->lock);
  for (;;) {
    GstPublishFrame *frame = writer->failed ? NULL : g_queue_pop_head(&writer->frames);
    if (frame) {
      writer->bytes -= frame->bytes;
      write_frame(writer, frame);
      gst_publish_frame_free(frame);
    } else if (writer->finish_done != writer->finish_wanted) {
      finish(writer);
    } else if (writer->quit) {
      break;
    } else if (!g_cond_wait_until(&writer->work, &writer->lock, g_get_monotonic_time() + IDLE_US)) {
      idle(writer);
    }
  }
  g_mutex_unlock(&writer->lock);
  writer->sink->klass->finish(writer->sink);
  return NULL;
}

/* --- For the streaming thread ---------------------------------------------------------------- */

GstPublishWriter *gst_publish_writer_new(GstPublishSink *sink, guint frames_max, gsize bytes_max,
                                         gboolean stop_on_error) {
  GstPublishWriter *writer = g_new0(GstPublishWriter, 1);
  g_mutex_init(&writer->lock);
  g_cond_init(&writer->work);
  g_cond_init(&writer->progress);
  g_queue_init(&writer->frames);
  writer->sink = sink;
  writer->frames_max = frames_max;
  writer->bytes_max = bytes_max;
  writer->stop_on_error = stop_on_error;
  g_atomic_pointer_set(&sink->host->writer, writer);
  writer->thread = g_thread_new("rv-publish", run, writer);
  return writer;
}

static gboolean is_full(const GstPublishWriter *writer, const GstPublishFrame *frame) {
  const guint waiting = g_queue_get_length((GQueue *)&writer->frames);
  return waiting >= writer->frames_max ||
         (waiting > 0 && writer->bytes + frame->bytes > writer->bytes_max);
}

static void drop_oldest(GstPublishWriter *writer) {
  GstPublishFrame *oldest = g_queue_pop_head(&writer->frames);
  writer->bytes -= oldest->bytes;
  writer->counts.dropped++;
  gst_publish_frame_free(oldest);
}

/* Reports once that frames are dropped because the destination is too slow. */
static void report_slow(GstPublishWriter *writer) {
  GST_ELEMENT_WARNING(writer->sink->host->element, RESOURCE, WRITE,
                      ("Publishing is slower than the stream: frames are dropped."),
                      ("A queue of %u frames was full. Publish fewer annotations, or set "
                       "overflow=block where the stream may wait.",
                       writer->frames_max));
}

gboolean gst_publish_writer_push(GstPublishWriter *writer, GstPublishFrame *frame, gboolean block) {
  gboolean report = FALSE;
  g_mutex_lock(&writer->lock);
  while (is_full(writer, frame) && !writer->failed) {
    if (block && !writer->counts.waiting && !writer->flushing && !writer->quit)
      g_cond_wait(&writer->progress, &writer->lock);
    else {
      report |= !writer->counts.waiting && !writer->flushing && !writer->quit;
      drop_oldest(writer);
    }
  }
  report &= !writer->reported;
  writer->reported |= report;
  const gboolean good = !writer->failed;
  writer->counts.frames++;
  if (good) {
    writer->bytes += frame->bytes;
    g_queue_push_tail(&writer->frames, frame);
    writer->counts.queued_max = MAX(writer->counts.queued_max, g_queue_get_length(&writer->frames));
    g_cond_signal(&writer->work);
  } else {
    writer->counts.dropped++;
    gst_publish_frame_free(frame);
  }
  g_mutex_unlock(&writer->lock);
  if (report)
    report_slow(writer);
  return good;
}

/* Waits, with the lock, for the drain `serial`; FALSE when nothing moved for `patience`. */
static gboolean wait_for_drain(GstPublishWriter *writer, guint64 serial, GstClockTime patience) {
  guint64 last = G_MAXUINT64;
  gint64 until = 0;
  while (writer->finish_done < serial && !writer->flushing && !writer->failed) {
    const guint64 now = writer->counts.published;
    if (now != last) {
      last = now;
      until = g_get_monotonic_time() + (gint64)(patience / 1000);
    }
    if (!g_cond_wait_until(&writer->progress, &writer->lock, until))
      return FALSE;
  }
  return writer->finish_done >= serial;
}

void gst_publish_writer_drain(GstPublishWriter *writer, GstClockTime patience) {
  g_mutex_lock(&writer->lock);
  const guint64 serial = ++writer->finish_wanted;
  g_cond_signal(&writer->work);
  if (!wait_for_drain(writer, serial, patience))
    GST_INFO_OBJECT(writer->sink->host->element, "%u frames wait for the destination",
                    g_queue_get_length(&writer->frames));
  g_mutex_unlock(&writer->lock);
}

void gst_publish_writer_set_flushing(GstPublishWriter *writer, gboolean flushing) {
  g_mutex_lock(&writer->lock);
  writer->flushing = flushing;
  g_cond_broadcast(&writer->progress);
  g_mutex_unlock(&writer->lock);
}

void gst_publish_writer_wake(GstPublishWriter *writer) {
  g_mutex_lock(&writer->lock);
  writer->wake = TRUE;
  g_cond_signal(&writer->work);
  g_mutex_unlock(&writer->lock);
}

void gst_publish_host_wake(GstPublishHost *host) {
  GstPublishWriter *writer = g_atomic_pointer_get(&host->writer);
  if (writer)
    gst_publish_writer_wake(writer);
}

void gst_publish_writer_counts(GstPublishWriter *writer, GstPublishCounts *counts) {
  g_mutex_lock(&writer->lock);
  *counts = writer->counts;
  counts->queued = g_queue_get_length(&writer->frames);
  g_mutex_unlock(&writer->lock);
}

void gst_publish_writer_free(GstPublishWriter *writer, GstClockTime patience,
                             GstPublishCounts *counts) {
  g_mutex_lock(&writer->lock);
  writer->flushing = FALSE;
  const guint64 serial = ++writer->finish_wanted;
  g_cond_signal(&writer->work);
  wait_for_drain(writer, serial, patience);
  writer->quit = TRUE;
  while (!g_queue_is_empty(&writer->frames))
    drop_oldest(writer);
  g_atomic_int_set(&writer->sink->host->cancelled, 1);
  g_cond_signal(&writer->work);
  g_mutex_unlock(&writer->lock);
  g_thread_join(writer->thread);
  *counts = writer->counts;
  counts->bytes = writer->sink->bytes;
  writer->sink->klass->free(writer->sink); /* ends threads that call wake */
  g_mutex_clear(&writer->lock);
  g_cond_clear(&writer->work);
  g_cond_clear(&writer->progress);
  g_free(writer);
}

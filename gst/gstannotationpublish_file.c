/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_file.c: complete records into files and pipes. */
#include "gstannotationpublish_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define POLL_MS 100            /* between looks at `cancelled` while a reader does not read */
#define NUMBERS_MAX 100000000u /* files of one name */
#define DIGITS_MAX 9

/* --- Names ----------------------------------------------------------------------------------- */

static gboolean is_stdout(const GstPublishFile *file) {
  return strcmp(file->config.location, "-") == 0;
}

/* Parses a conversion after '%': its kind (s, d, %), its width, and where it ends. */
static const char *parse_conversion(const char *s, char *kind, guint *width) {
  *width = 0;
  while (g_ascii_isdigit(*s) && *width <= DIGITS_MAX)
    *width = *width * 10 + (guint)(*s++ - '0');
  *kind = *s;
  const gboolean valid =
      (*s == 'd' && *width <= DIGITS_MAX) || ((*s == 's' || *s == '%') && !*width);
  return valid ? s + 1 : NULL;
}

static gboolean location_has(const char *location, char wanted) {
  for (const char *s = strchr(location, '%'); s; s = strchr(s, '%')) {
    char kind = 0;
    guint width = 0;
    const char *end = parse_conversion(s + 1, &kind, &width);
    if (end && kind == wanted)
      return TRUE;
    s = end ? end : s + 1;
  }
  return FALSE;
}

gboolean gst_publish_location_has_kind(const char *location) {
  return location_has(location, 's');
}

gboolean gst_publish_file_check(const GstPublishFileConfig *config, gboolean has_kinds,
                                GError **error) {
  const char *location = config->location;
  for (const char *s = strchr(location, '%'); s; s = strchr(s, '%')) {
    char kind = 0;
    guint width = 0;
    s = parse_conversion(s + 1, &kind, &width);
    if (!s || (kind == 's' && !has_kinds)) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                  "Invalid location \"%s\": only %%d and %%05d (number of the file), %%s (kind of "
                  "records, with format=csv) and %%%% are known.",
                  location);
      return FALSE;
    }
  }
  if (strcmp(location, "-") == 0 && (config->rotate_size || config->rotate_time)) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "Standard output cannot be rotated: rotate-size and rotate-time need a file.");
    return FALSE;
  }
  return TRUE;
}

/* Path of file `number`. */
static char *make_path(const GstPublishFile *file, guint number) {
  const char *location = file->config.location;
  GString *path = g_string_new(NULL);
  for (const char *s = location; *s;) {
    if (*s != '%') {
      g_string_append_c(path, *s++);
      continue;
    }
    char kind = 0;
    guint width = 0;
    s = parse_conversion(s + 1, &kind, &width);
    if (kind == 'd')
      g_string_append_printf(path, "%0*u", (int)width, number);
    else if (kind == 's')
      g_string_append(path, file->kind ? file->kind : "");
    else
      g_string_append_c(path, '%');
  }
  if (file->numbered && !location_has(location, 'd')) {
    const char *folder_end = strrchr(path->str, '/');
    const char *dot = strrchr(folder_end ? folder_end : path->str, '.');
    char suffix[16];
    g_snprintf(suffix, sizeof suffix, "-%05u", number);
    g_string_insert(path, dot ? dot - path->str : -1, suffix);
  }
  return g_string_free(path, FALSE);
}

void gst_publish_file_init(GstPublishFile *file, const GstPublishFileConfig *config,
                           const char *kind) {
  memset(file, 0, sizeof *file);
  file->config = *config;
  file->config.location = g_strdup(config->location);
  file->kind = g_strdup(kind);
  file->fd = -1;
  file->started = GST_CLOCK_TIME_NONE;
  file->numbered =
      config->rotate_size || config->rotate_time || location_has(config->location, 'd');
  g_queue_init(&file->paths);
  while (file->numbered && config->append && file->number < NUMBERS_MAX) {
    char *path = make_path(file, file->number);
    const gboolean exists = g_file_test(path, G_FILE_TEST_EXISTS);
    g_free(path);
    if (!exists)
      break;
    file->number++;
  }
  file->path = make_path(file, file->number);
}

/* --- Opening --------------------------------------------------------------------------------- */

static void set_open_error(const GstPublishFile *file, int code, GError **error) {
  const char *cause = g_strerror(code);
  if (code == ELOOP)
    cause = "it is a symbolic link, which is not followed; specify the path that it leads to";
  else if (code == ENOENT)
    cause = "its folder does not exist";
  else if (code == ENXIO)
    cause = "it is a socket";
  g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE,
              "Failed to open \"%s\" for writing: %s.", file->path, cause);
}

/* Ends a line that an earlier run did not complete, so that the next line is not appended to it. */
static void close_last_line(GstPublishFile *file) {
  const int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  char last = '\n';
  if (fd >= 0 && pread(fd, &last, 1, (off_t)file->size - 1) == 1 && last != '\n' &&
      write(file->fd, "\n", 1) == 1)
    file->size++;
  if (fd >= 0)
    close(fd);
}

static void adopt(GstPublishFile *file, GstPublishSink *sink) {
  struct stat status;
  memset(&status, 0, sizeof status);
  file->regular = fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode);
  /* Standard output may belong to other programs: its flags are left as they are. */
  file->nonblocking = !file->regular && !is_stdout(file);
  file->size = file->regular ? (guint64)status.st_size : 0;
  file->started = GST_CLOCK_TIME_NONE;
  if (file->regular && file->config.text && file->size > 0)
    close_last_line(file);
  file->fresh = !file->regular || file->size == 0;
  sink->files += !file->opened_before || file->regular;
  sink->reconnects += file->opened_before && !file->regular;
  file->opened_before = TRUE;
  if (!file->regular || !file->numbered)
    return;
  g_queue_push_tail(&file->paths, g_strdup(file->path));
  while (file->config.max_files && g_queue_get_length(&file->paths) > file->config.max_files) {
    char *oldest = g_queue_pop_head(&file->paths);
    if (unlink(oldest) != 0)
      GST_WARNING_OBJECT(sink->host->element, "failed to remove %s: %s", oldest, g_strerror(errno));
    g_free(oldest);
  }
}

/* Such as /dev/stdout or /dev/fd/3: links that the system made. Other folders in /dev can be everybody's, such as
 * /dev/shm. */
static gboolean is_device(const char *path) {
  return g_str_has_prefix(path, "/dev/fd/") ||
         (g_str_has_prefix(path, "/dev/") && strchr(path + strlen("/dev/"), '/') == NULL);
}

gboolean gst_publish_file_open(GstPublishFile *file, GstPublishSink *sink, GError **error) {
  struct stat status;
  if (is_stdout(file)) {
    file->fd = dup(STDOUT_FILENO);
  } else {
    const gboolean follow = is_device(file->path);
    const gboolean append = file->config.append && !file->numbered;
    /* O_APPEND: after a truncation, writing continues at the new end. */
    file->fd = open(file->path,
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK |
                        (append ? 0 : O_TRUNC) | (follow ? 0 : O_NOFOLLOW),
                    0644);
  }
  if (file->fd >= 0) {
    adopt(file, sink);
    return TRUE;
  }
  const int code = errno;
  if (code == ENXIO && lstat(file->path, &status) == 0 && S_ISFIFO(status.st_mode)) {
    g_snprintf(sink->reason, sizeof sink->reason, "nothing reads the pipe %s", file->path);
    return TRUE;
  }
  set_open_error(file, code, error);
  return FALSE;
}

static void close_file(GstPublishFile *file) {
  if (file->fd >= 0)
    close(file->fd);
  file->fd = -1;
}

/* --- Writing --------------------------------------------------------------------------------- */

/* Waits until a pipe has space; FALSE when the element stops. */
static gboolean wait_for_reader(const GstPublishFile *file, GstPublishSink *sink) {
  struct pollfd poller = {file->fd, POLLOUT, 0};
  while (!g_atomic_int_get(&sink->host->cancelled)) {
    const int ready = poll(&poller, 1, POLL_MS);
    if (ready > 0 || (ready < 0 && errno != EINTR))
      return TRUE; /* also after an error: write() reports it */
  }
  errno = ECANCELED;
  return FALSE;
}

/* Writes all bytes; FALSE with errno. */
static gboolean write_all(const GstPublishFile *file, GstPublishSink *sink, const char *data,
                          gsize size) {
  while (size > 0) {
    gsize chunk = MIN(size, (gsize)SSIZE_MAX);
    if (!file->regular) {
      if (!wait_for_reader(file, sink))
        return FALSE;
      if (!file->nonblocking)
        chunk = MIN(chunk, PIPE_BUF); /* as much as does not block after poll() */
    }
    const ssize_t written = write(file->fd, data, chunk);
    if (written < 0 && errno != EINTR && errno != EAGAIN)
      return FALSE;
    data += MAX(written, 0);
    size -= (gsize)MAX(written, 0);
  }
  return TRUE;
}

GstPublishStatus gst_publish_file_ensure(GstPublishFile *file, GstPublishSink *sink) {
  GError *error = NULL;
  if (file->fd < 0 && !gst_publish_file_open(file, sink, &error)) {
    g_strlcpy(sink->reason, error->message, sizeof sink->reason);
    g_clear_error(&error);
  }
  return file->fd < 0 ? GST_PUBLISH_WAIT : GST_PUBLISH_DONE;
}

GstPublishStatus gst_publish_file_write(GstPublishFile *file, GstPublishSink *sink,
                                        const struct iovec *parts, int count) {
  if (gst_publish_file_ensure(file, sink) == GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  gsize total = 0;
  for (int i = 0; i < count; i++) {
    if (!write_all(file, sink, parts[i].iov_base, parts[i].iov_len)) {
      const int code = errno;
      g_snprintf(sink->reason, sizeof sink->reason, "failed to write %s: %s",
                 is_stdout(file) ? "standard output" : file->path, g_strerror(code));
      if (file->regular)
        gst_publish_file_truncate(file, file->size);
      else if (code != ECANCELED && !is_stdout(file))
        close_file(file); /* a new reader of the pipe receives complete lines */
      return GST_PUBLISH_WAIT;
    }
    total += parts[i].iov_len;
  }
  file->size += total;
  file->fresh &= total == 0;
  sink->bytes += total;
  return GST_PUBLISH_DONE;
}

gboolean gst_publish_file_is_due(const GstPublishFile *file, gsize bytes,
                                 GstClockTime running_time) {
  if (file->fd < 0 || !file->regular || file->size == 0)
    return FALSE;
  if (file->config.rotate_size && file->size + bytes > file->config.rotate_size)
    return TRUE;
  return file->config.rotate_time && GST_CLOCK_TIME_IS_VALID(running_time) &&
         GST_CLOCK_TIME_IS_VALID(file->started) &&
         running_time >= file->started + file->config.rotate_time;
}

void gst_publish_file_rotate(GstPublishFile *file) {
  close_file(file);
  file->number++;
  g_free(file->path);
  file->path = make_path(file, file->number);
}

gboolean gst_publish_file_truncate(GstPublishFile *file, guint64 size) {
  return file->fd >= 0 && file->regular && ftruncate(file->fd, (off_t)size) == 0;
}

guint64 gst_publish_file_space(const GstPublishFile *file) {
  struct statvfs status;
  if (file->fd < 0 || !file->regular || fstatvfs(file->fd, &status) != 0)
    return G_MAXUINT64;
  return (guint64)status.f_bavail * (guint64)status.f_frsize;
}

void gst_publish_file_sync(GstPublishFile *file) {
  if (file->fd >= 0 && file->regular)
    fdatasync(file->fd);
}

void gst_publish_file_clear(GstPublishFile *file) {
  close_file(file);
  g_clear_pointer(&file->path, g_free);
  g_clear_pointer(&file->kind, g_free);
  g_free((char *)file->config.location);
  file->config.location = NULL;
  g_queue_clear_full(&file->paths, g_free);
}

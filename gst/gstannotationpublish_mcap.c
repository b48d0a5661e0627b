/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_mcap.c: records of MCAP. All numbers are little endian. */
#include "gstannotationpublish_mcap.h"

#include "gstrvconfig.h"

#if GST_RV_HAVE_ZSTD
#  include <zstd.h>
#endif

#define CHUNK_BYTES (4 * 1024 * 1024) /* a chunk is written when it has more */
#define CHUNK_AGE (G_USEC_PER_SEC)    /* or when its first message is older, µs */
#define RESERVE_BYTES (64 * 1024)     /* of the disk, kept free besides the summary */
#define ATTACHMENT_MAX (16 * 1024 * 1024)
#define MAGIC "\x89MCAP0\r\n"
#define MAGIC_BYTES 8
#define HEAD_BYTES 9 /* opcode and length of a record */

enum {
  OP_HEADER = 1,
  OP_FOOTER,
  OP_SCHEMA,
  OP_CHANNEL,
  OP_MESSAGE,
  OP_CHUNK,
  OP_MESSAGE_INDEX,
  OP_CHUNK_INDEX,
  OP_ATTACHMENT,
  OP_ATTACHMENT_INDEX,
  OP_STATISTICS,
  OP_SUMMARY_OFFSET = 14,
  OP_DATA_END
};

typedef struct Channel {
  GstPublishChannel config;
  gboolean in_file;     /* its schema and channel records are in this file, or in its chunk */
  guint64 messages;     /* of this file, without its chunk in memory */
  guint32 sequence;     /* of the next message */
  GstPublishText index; /* entries of the current chunk: time, offset */
} Channel;

struct GstPublishMcap {
  GstPublishSink *sink;
  GstPublishFile file;
  gboolean zstd;
  GstPublishText attachment; /* the record */
  char *attachment_name;
  gsize attachment_bytes;

  Channel channels[GST_PUBLISH_CHANNELS_MAX];
  guint channel_count;

  /* The chunk in memory. */
  GstPublishText chunk, packed, head, tail;
  guint64 chunk_start, chunk_end; /* log times */
  guint chunk_messages;
  gint64 chunk_since; /* monotonic, µs */
  gsize message;      /* offset of the message that is being added */
  guint message_channel;
  guint64 message_time;

  /* The file. */
  gboolean started, finished;
  guint64 data_end; /* bytes before the summary */
  guint64 attachment_offset;
  GstPublishText chunk_indexes;
  guint32 chunks;
  guint64 messages, file_start, file_end;
  guint64 last_time;
};

/* --- Numbers and records --------------------------------------------------------------------- */

static void put16(GstPublishText *text, guint16 value) {
  value = GUINT16_TO_LE(value);
  gst_publish_text_bytes(text, &value, sizeof value);
}

static void put32(GstPublishText *text, guint32 value) {
  value = GUINT32_TO_LE(value);
  gst_publish_text_bytes(text, &value, sizeof value);
}

static void put64(GstPublishText *text, guint64 value) {
  value = GUINT64_TO_LE(value);
  gst_publish_text_bytes(text, &value, sizeof value);
}

static void put_string(GstPublishText *text, const char *string) {
  put32(text, (guint32)strlen(string));
  gst_publish_text_string(text, string);
}

/* Starts a record; its length follows when it ends. */
static gsize begin_record(GstPublishText *text, guint8 opcode) {
  const gsize start = text->length;
  gst_publish_text_char(text, (char)opcode);
  put64(text, 0);
  return start;
}

static void end_record(GstPublishText *text, gsize start) {
  const guint64 length = GUINT64_TO_LE((guint64)(text->length - start - HEAD_BYTES));
  memcpy(text->data + start + 1, &length, sizeof length);
}

#define CRC_BYTES 16 /* per step: one table each */

static guint32 crc_tables[CRC_BYTES][256];

static void make_crc_tables(void) {
  static gsize ready = 0;
  if (!g_once_init_enter(&ready))
    return;
  for (guint32 i = 0; i < 256; i++) {
    guint32 c = i;
    for (int bit = 0; bit < 8; bit++)
      c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    crc_tables[0][i] = c;
  }
  for (int t = 1; t < CRC_BYTES; t++)
    for (guint32 i = 0; i < 256; i++)
      crc_tables[t][i] = crc_tables[0][crc_tables[t - 1][i] & 255] ^ crc_tables[t - 1][i] >> 8;
  g_once_init_leave(&ready, 1);
}

guint32 gst_publish_crc32(guint32 crc, const void *data, gsize size) {
  const guint8 *bytes = data;
  make_crc_tables();
  crc = ~crc;
  for (; size >= CRC_BYTES; size -= CRC_BYTES, bytes += CRC_BYTES) {
    guint32 words[CRC_BYTES / 4], next = 0;
    memcpy(words, bytes, CRC_BYTES);
    words[0] = GUINT32_FROM_LE(words[0]) ^ crc;
    for (int w = 1; w < CRC_BYTES / 4; w++)
      words[w] = GUINT32_FROM_LE(words[w]);
    for (int w = 0; w < CRC_BYTES / 4; w++)
      for (int b = 0; b < 4; b++)
        next ^= crc_tables[CRC_BYTES - 1 - 4 * w - b][words[w] >> 8 * b & 255];
    crc = next;
  }
  for (; size > 0; size--)
    crc = crc_tables[0][(crc ^ *bytes++) & 255] ^ crc >> 8;
  return ~crc;
}

/* --- Channels and messages ------------------------------------------------------------------- */

guint gst_publish_mcap_add_channel(GstPublishMcap *mcap, const GstPublishChannel *channel) {
  g_return_val_if_fail(mcap->channel_count < GST_PUBLISH_CHANNELS_MAX, 0);
  mcap->channels[mcap->channel_count].config = *channel;
  return mcap->channel_count++;
}

/* Each channel has a schema record of its own, with the same id. */
static void put_schema(GstPublishText *text, guint number, const GstPublishChannel *channel) {
  const gsize start = begin_record(text, OP_SCHEMA);
  put16(text, (guint16)(number + 1));
  put_string(text, channel->schema);
  put_string(text, channel->encoding);
  put_string(text, channel->definition);
  end_record(text, start);
}

static void put_channel(GstPublishText *text, guint number, const GstPublishChannel *channel) {
  static const char key[] = "offered_qos_profiles";
  const gsize start = begin_record(text, OP_CHANNEL);
  put16(text, (guint16)(number + 1));
  put16(text, (guint16)(number + 1));
  put_string(text, channel->topic);
  put_string(text, "cdr");
  put32(text, (guint32)(8 + strlen(key) + strlen(channel->qos)));
  put_string(text, key);
  put_string(text, channel->qos);
  end_record(text, start);
}

GstPublishText *gst_publish_mcap_begin(GstPublishMcap *mcap, guint number, guint64 time) {
  Channel *channel = &mcap->channels[number];
  GstPublishText *chunk = &mcap->chunk;
  if (!channel->in_file) {
    put_schema(chunk, number, &channel->config);
    put_channel(chunk, number, &channel->config);
    channel->in_file = TRUE;
  }
  mcap->message = begin_record(chunk, OP_MESSAGE);
  mcap->message_channel = number;
  mcap->message_time = MAX(time, mcap->last_time);
  put16(chunk, (guint16)(number + 1));
  put32(chunk, channel->sequence++);
  put64(chunk, mcap->message_time);
  put64(chunk, mcap->message_time);
  return chunk;
}

void gst_publish_mcap_end(GstPublishMcap *mcap) {
  Channel *channel = &mcap->channels[mcap->message_channel];
  end_record(&mcap->chunk, mcap->message);
  put64(&channel->index, mcap->message_time);
  put64(&channel->index, mcap->message);
  if (mcap->chunk_messages++ == 0) {
    mcap->chunk_start = mcap->message_time;
    mcap->chunk_since = g_get_monotonic_time();
  }
  mcap->chunk_end = mcap->last_time = mcap->message_time;
}

guint gst_publish_mcap_file(const GstPublishMcap *mcap) {
  return mcap->file.number;
}

/* --- Files ----------------------------------------------------------------------------------- */

static void put_header(GstPublishText *text) {
  gst_publish_text_bytes(text, MAGIC, MAGIC_BYTES);
  const gsize start = begin_record(text, OP_HEADER);
  put_string(text, "ros2");
  put_string(text, "gst-roadvision " GST_RV_VERSION);
  end_record(text, start);
}

/* Opens the file when it is not open, and writes what comes first. */
static GstPublishStatus start_file(GstPublishMcap *mcap) {
  if (mcap->started)
    return GST_PUBLISH_DONE;
  mcap->head.length = 0;
  put_header(&mcap->head);
  const guint64 offset = mcap->head.length;
  const struct iovec parts[] = {{mcap->head.data, mcap->head.length},
                                {mcap->attachment.data, mcap->attachment.length}};
  const GstPublishStatus status =
      gst_publish_file_write(&mcap->file, mcap->sink, parts, G_N_ELEMENTS(parts));
  if (status == GST_PUBLISH_DONE) {
    mcap->started = TRUE;
    mcap->attachment_offset = offset;
  }
  return status;
}

static void forget_file(GstPublishMcap *mcap) {
  mcap->started = mcap->finished = FALSE;
  mcap->chunks = 0;
  mcap->messages = 0;
  mcap->chunk_indexes.length = 0;
  for (guint i = 0; i < mcap->channel_count; i++) {
    mcap->channels[i].in_file = FALSE;
    mcap->channels[i].messages = 0;
  }
}

/* --- Chunks ---------------------------------------------------------------------------------- */

/* Records of the chunk as they are stored. */
static const GstPublishText *pack(GstPublishMcap *mcap) {
#if GST_RV_HAVE_ZSTD
  if (mcap->zstd) {
    const gsize bound = ZSTD_compressBound(mcap->chunk.length);
    mcap->packed.length = 0;
    const gsize size = ZSTD_compress(gst_publish_text_reserve(&mcap->packed, bound), bound,
                                     mcap->chunk.data, mcap->chunk.length, 1);
    if (!ZSTD_isError(size)) {
      mcap->packed.length = size;
      return &mcap->packed;
    }
  }
#endif
  return &mcap->chunk;
}

static void put_message_indexes(GstPublishMcap *mcap) {
  mcap->tail.length = 0;
  for (guint i = 0; i < mcap->channel_count; i++) {
    const GstPublishText *index = &mcap->channels[i].index;
    if (index->length == 0)
      continue;
    const gsize start = begin_record(&mcap->tail, OP_MESSAGE_INDEX);
    put16(&mcap->tail, (guint16)(i + 1));
    put32(&mcap->tail, (guint32)index->length);
    gst_publish_text_bytes(&mcap->tail, index->data, index->length);
    end_record(&mcap->tail, start);
  }
}

/* The record of the summary for a chunk at `offset` of the file. */
static void put_chunk_index(GstPublishMcap *mcap, guint64 offset, guint64 chunk_bytes,
                            const char *compression, gsize packed) {
  GstPublishText *text = &mcap->chunk_indexes;
  const gsize start = begin_record(text, OP_CHUNK_INDEX);
  put64(text, mcap->chunk_start);
  put64(text, mcap->chunk_end);
  put64(text, offset);
  put64(text, chunk_bytes);
  const gsize map = text->length;
  put32(text, 0);
  guint64 index = offset + chunk_bytes;
  for (guint i = 0; i < mcap->channel_count; i++) {
    const gsize entries = mcap->channels[i].index.length;
    if (entries == 0)
      continue;
    put16(text, (guint16)(i + 1));
    put64(text, index);
    index += HEAD_BYTES + 2 + 4 + entries;
  }
  const guint32 bytes = GUINT32_TO_LE((guint32)(text->length - map - 4));
  memcpy(text->data + map, &bytes, sizeof bytes);
  put64(text, mcap->tail.length);
  put_string(text, compression);
  put64(text, packed);
  put64(text, mcap->chunk.length);
  end_record(text, start);
}

/* The chunk is in the file: counts it and starts the next one. */
static void account_chunk(GstPublishMcap *mcap) {
  if (mcap->messages == 0)
    mcap->file_start = mcap->chunk_start;
  mcap->file_end = mcap->chunk_end;
  mcap->messages += mcap->chunk_messages;
  mcap->chunks++;
  for (guint i = 0; i < mcap->channel_count; i++) {
    mcap->channels[i].messages += mcap->channels[i].index.length / 16;
    mcap->channels[i].index.length = 0;
  }
  mcap->chunk.length = 0;
  mcap->chunk_messages = 0;
}

/* FALSE when the disk has no space for `bytes` and the summary. */
static gboolean has_space(GstPublishMcap *mcap, gsize bytes) {
  const guint64 needed = bytes + mcap->chunk_indexes.length + 2 * RESERVE_BYTES;
  if (gst_publish_file_space(&mcap->file) >= needed)
    return TRUE;
  g_snprintf(mcap->sink->reason, sizeof mcap->sink->reason,
             "no space left on the device of %s; the recording up to here is complete",
             mcap->file.path);
  return FALSE;
}

static GstPublishStatus write_chunk(GstPublishMcap *mcap) {
  GstPublishText *head = &mcap->head;
  if (start_file(mcap) == GST_PUBLISH_WAIT || !has_space(mcap, mcap->chunk.length))
    return GST_PUBLISH_WAIT;
  if (mcap->finished && gst_publish_file_truncate(&mcap->file, mcap->data_end)) {
    mcap->file.size = mcap->data_end;
    mcap->finished = FALSE;
  }
  const GstPublishText *records = pack(mcap);
  const char *compression = records == &mcap->packed ? "zstd" : "";
  head->length = 0;
  gst_publish_text_char(head, OP_CHUNK);
  put64(head, 8 + 8 + 8 + 4 + 4 + strlen(compression) + 8 + records->length);
  put64(head, mcap->chunk_start);
  put64(head, mcap->chunk_end);
  put64(head, mcap->chunk.length);
  put32(head, gst_publish_crc32(0, mcap->chunk.data, mcap->chunk.length));
  put_string(head, compression);
  put64(head, records->length);
  put_message_indexes(mcap);
  const guint64 offset = mcap->file.size;
  const struct iovec parts[] = {{head->data, head->length},
                                {records->data, records->length},
                                {mcap->tail.data, mcap->tail.length}};
  if (gst_publish_file_write(&mcap->file, mcap->sink, parts, G_N_ELEMENTS(parts)) ==
      GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  put_chunk_index(mcap, offset, head->length + records->length, compression, records->length);
  account_chunk(mcap);
  return GST_PUBLISH_DONE;
}

/* --- Summary --------------------------------------------------------------------------------- */

/* Appends the summary offset record of the group that starts at `start` of `summary`. */
static void put_group(GstPublishText *offsets, guint8 opcode, guint64 base, gsize start,
                      gsize end) {
  if (start == end)
    return;
  const gsize record = begin_record(offsets, OP_SUMMARY_OFFSET);
  gst_publish_text_char(offsets, (char)opcode);
  put64(offsets, base + start);
  put64(offsets, end - start);
  end_record(offsets, record);
}

static void put_statistics(const GstPublishMcap *mcap, GstPublishText *text) {
  guint32 used = 0;
  for (guint i = 0; i < mcap->channel_count; i++)
    used += mcap->channels[i].messages > 0;
  const gsize start = begin_record(text, OP_STATISTICS);
  put64(text, mcap->messages);
  put16(text, (guint16)used);
  put32(text, used);
  put32(text, mcap->attachment.length > 0);
  put32(text, 0);
  put32(text, mcap->chunks);
  put64(text, mcap->messages ? mcap->file_start : 0);
  put64(text, mcap->messages ? mcap->file_end : 0);
  put32(text, used * 10);
  for (guint i = 0; i < mcap->channel_count; i++) {
    if (mcap->channels[i].messages == 0)
      continue;
    put16(text, (guint16)(i + 1));
    put64(text, mcap->channels[i].messages);
  }
  end_record(text, start);
}

static void put_attachment_index(const GstPublishMcap *mcap, GstPublishText *text) {
  if (mcap->attachment.length == 0)
    return;
  const gsize start = begin_record(text, OP_ATTACHMENT_INDEX);
  put64(text, mcap->attachment_offset);
  put64(text, mcap->attachment.length);
  put64(text, 0);
  put64(text, 0);
  put64(text, mcap->attachment_bytes);
  put_string(text, mcap->attachment_name);
  put_string(text, "application/octet-stream");
  end_record(text, start);
}

/* Data end, groups, offsets of the groups, footer. `base`: where the data end record will be. */
static void put_summary(const GstPublishMcap *mcap, guint64 base, GstPublishText *text) {
  GstPublishText offsets = {NULL, 0, 0};
  const gsize end = begin_record(text, OP_DATA_END);
  put32(text, 0);
  end_record(text, end);
  gsize marks[6];
  marks[0] = text->length;
  for (guint i = 0; i < mcap->channel_count; i++)
    if (mcap->channels[i].messages > 0)
      put_schema(text, i, &mcap->channels[i].config);
  marks[1] = text->length;
  for (guint i = 0; i < mcap->channel_count; i++)
    if (mcap->channels[i].messages > 0)
      put_channel(text, i, &mcap->channels[i].config);
  marks[2] = text->length;
  gst_publish_text_bytes(text, mcap->chunk_indexes.data, mcap->chunk_indexes.length);
  marks[3] = text->length;
  put_attachment_index(mcap, text);
  marks[4] = text->length;
  put_statistics(mcap, text);
  marks[5] = text->length;
  static const guint8 groups[] = {OP_SCHEMA, OP_CHANNEL, OP_CHUNK_INDEX, OP_ATTACHMENT_INDEX,
                                  OP_STATISTICS};
  for (guint i = 0; i < G_N_ELEMENTS(groups); i++)
    put_group(&offsets, groups[i], base, marks[i], marks[i + 1]);
  gst_publish_text_bytes(text, offsets.data, offsets.length);
  gst_publish_text_clear(&offsets);
  const gsize footer = begin_record(text, OP_FOOTER);
  put64(text, base + marks[0]);
  put64(text, base + marks[5]);
  put32(text, 0);
  end_record(text, footer);
  const guint32 crc = GUINT32_TO_LE(
      gst_publish_crc32(0, text->data + marks[0], text->length - marks[0] - sizeof(guint32)));
  memcpy(text->data + text->length - sizeof crc, &crc, sizeof crc);
  gst_publish_text_bytes(text, MAGIC, MAGIC_BYTES);
}

/* Closes the file properly, without the chunk in memory. */
static GstPublishStatus write_summary(GstPublishMcap *mcap) {
  if (!mcap->started || mcap->finished)
    return GST_PUBLISH_DONE;
  const guint64 end = mcap->file.size;
  mcap->tail.length = 0;
  put_summary(mcap, end, &mcap->tail);
  const struct iovec part = {mcap->tail.data, mcap->tail.length};
  const GstPublishStatus status = gst_publish_file_write(&mcap->file, mcap->sink, &part, 1);
  if (status == GST_PUBLISH_DONE) {
    mcap->data_end = end;
    mcap->finished = TRUE;
    gst_publish_file_sync(&mcap->file);
  }
  return status;
}

/* --- Interface ------------------------------------------------------------------------------- */

/* Writes the chunk. If that fails, completes the file with a summary and keeps the chunk. */
static GstPublishStatus write_or_close(GstPublishMcap *mcap) {
  if (mcap->chunk_messages == 0 || write_chunk(mcap) == GST_PUBLISH_DONE)
    return GST_PUBLISH_DONE;
  char reason[sizeof mcap->sink->reason];
  memcpy(reason, mcap->sink->reason, sizeof reason);
  write_summary(mcap);
  memcpy(mcap->sink->reason, reason, sizeof reason);
  return GST_PUBLISH_WAIT;
}

static gboolean is_due(const GstPublishMcap *mcap) {
  return mcap->chunk_messages > 0 && (mcap->chunk.length >= CHUNK_BYTES ||
                                      g_get_monotonic_time() >= mcap->chunk_since + CHUNK_AGE);
}

GstPublishStatus gst_publish_mcap_flush(GstPublishMcap *mcap) {
  return is_due(mcap) ? write_or_close(mcap) : GST_PUBLISH_DONE;
}

GstPublishStatus gst_publish_mcap_prepare(GstPublishMcap *mcap, GstClockTime running_time) {
  if (gst_publish_mcap_flush(mcap) == GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  if (gst_publish_file_is_due(&mcap->file, mcap->chunk.length, running_time)) {
    if (gst_publish_mcap_finish(mcap) == GST_PUBLISH_WAIT)
      return GST_PUBLISH_WAIT;
    gst_publish_file_rotate(&mcap->file);
    forget_file(mcap);
  }
  if (!GST_CLOCK_TIME_IS_VALID(mcap->file.started))
    mcap->file.started = running_time;
  return start_file(mcap);
}

GstPublishStatus gst_publish_mcap_finish(GstPublishMcap *mcap) {
  if (start_file(mcap) == GST_PUBLISH_WAIT || write_or_close(mcap) == GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  return write_summary(mcap);
}

/* Makes the attachment record. */
static gboolean read_attachment(GstPublishMcap *mcap, const char *path, GError **error) {
  char *data = NULL;
  gsize size = 0;
  if (!g_file_get_contents(path, &data, &size, error))
    return FALSE;
  if (size > ATTACHMENT_MAX) {
    g_free(data);
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "The attachment \"%s\" has %" G_GSIZE_FORMAT " bytes; the maximum is %d.", path,
                size, ATTACHMENT_MAX);
    return FALSE;
  }
  GstPublishText *text = &mcap->attachment;
  mcap->attachment_name = g_path_get_basename(path);
  mcap->attachment_bytes = size;
  const gsize start = begin_record(text, OP_ATTACHMENT);
  put64(text, 0);
  put64(text, 0);
  put_string(text, mcap->attachment_name);
  put_string(text, "application/octet-stream");
  put64(text, size);
  gst_publish_text_bytes(text, data, size);
  put32(text,
        gst_publish_crc32(0, text->data + start + HEAD_BYTES, text->length - start - HEAD_BYTES));
  end_record(text, start);
  g_free(data);
  return TRUE;
}

GstPublishMcap *gst_publish_mcap_new(GstPublishSink *sink, const GstPublishFileConfig *config,
                                     gboolean zstd, const char *attachment, GError **error) {
  if (!gst_publish_file_check(config, FALSE, error))
    return NULL;
#if !GST_RV_HAVE_ZSTD
  if (zstd) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "This build has no zstd: set compression=none, or build with -Dzstd=enabled.");
    return NULL;
  }
#endif
  GstPublishMcap *mcap = g_new0(GstPublishMcap, 1);
  mcap->sink = sink;
  mcap->zstd = zstd;
  gst_publish_file_init(&mcap->file, config, NULL);
  if (config->append && !mcap->file.numbered) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "An MCAP file cannot be appended to: number the files with %%05d in location.");
    gst_publish_mcap_free(mcap);
    return NULL;
  }
  gboolean good = !attachment || !*attachment || read_attachment(mcap, attachment, error);
  good = good && gst_publish_file_open(&mcap->file, sink, error);
  if (good && !mcap->file.regular) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "MCAP needs a file: \"%s\" is a pipe or a device.", config->location);
    good = FALSE;
  }
  if (good)
    return mcap;
  gst_publish_mcap_free(mcap);
  return NULL;
}

void gst_publish_mcap_free(GstPublishMcap *mcap) {
  if (!mcap)
    return;
  gst_publish_file_clear(&mcap->file);
  for (guint i = 0; i < mcap->channel_count; i++) {
    gst_publish_text_clear(&mcap->channels[i].index);
    g_free(mcap->channels[i].config.definition);
  }
  GstPublishText *const texts[] = {&mcap->chunk, &mcap->packed,     &mcap->head,
                                   &mcap->tail,  &mcap->attachment, &mcap->chunk_indexes};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    gst_publish_text_clear(texts[i]);
  g_free(mcap->attachment_name);
  g_free(mcap);
}

/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_mqtt.c: frames as MQTT messages, through libmosquitto. */
#include "gstannotationpublish_mqtt.h"

#include "gstrvconfig.h"

#if GST_RV_HAVE_MOSQUITTO

#  include "gstannotationpublish_layout.h"
#  include "gstannotationpublish_writer.h"

#  include <errno.h>
#  include <mosquitto.h>
#  include <pthread.h>
#  include <signal.h>

#  define PORT 1883
#  define PORT_TLS 8883
#  define RECONNECT_MS 1000    /* between attempts to connect */
#  define LOOP_MS 50           /* longest wait of the thread that reads and writes */
#  define END_LOOPS 10         /* of LOOP_MS, for the last packets */
#  define UNSENT_MAX 64        /* messages with the library, which has no limit of its own */
#  define SEND_PATIENCE_MS 500 /* for a free slot, before the writer waits */
#  define END_PATIENCE_MS 2000 /* for the last ones */

typedef struct Mqtt {
  GstPublishSink sink;
  GstPublishJson json;
  struct mosquitto *client;
  GThread *thread;
  char *host, *address, *topic; /* host:port, prefix */
  int port, keep_alive;
  gint qos;
  gboolean split;
  GstPublishText text, name;
  char *camera; /* JSON that is retained at the broker */
  guint next;   /* first annotation of the current frame that was not sent */

  GMutex lock; /* guards what follows */
  GCond changed;
  gboolean quit, connected, connected_before, resend_camera;
  guint unsent; /* messages that the library did not complete */
  char cause[128];
} Mqtt;

/* --- Network thread -------------------------------------------------------------------------- */

static char *topic_of(const Mqtt *mqtt, const char *name) {
  return g_strconcat(mqtt->topic, "/", name, NULL);
}

static void publish_status(Mqtt *mqtt, const char *status) {
  char *topic = topic_of(mqtt, "status");
  g_mutex_lock(&mqtt->lock);
  mqtt->unsent++;
  g_mutex_unlock(&mqtt->lock);
  if (mosquitto_publish(mqtt->client, NULL, topic, (int)strlen(status), status, 1, true) !=
      MOSQ_ERR_SUCCESS) {
    g_mutex_lock(&mqtt->lock);
    mqtt->unsent -= mqtt->unsent > 0;
    g_mutex_unlock(&mqtt->lock);
  }
  g_free(topic);
}

static void on_connect(struct mosquitto *client, void *user, int code) {
  Mqtt *mqtt = user;
  g_mutex_lock(&mqtt->lock);
  mqtt->connected = code == 0;
  if (code != 0)
    g_snprintf(mqtt->cause, sizeof mqtt->cause, "%s", mosquitto_connack_string(code));
  mqtt->sink.reconnects += mqtt->connected && mqtt->connected_before;
  mqtt->connected_before |= mqtt->connected;
  mqtt->resend_camera = TRUE; /* a broker that was restarted may have lost it */
  g_cond_broadcast(&mqtt->changed);
  g_mutex_unlock(&mqtt->lock);
  if (code != 0)
    return;
  publish_status(mqtt, "online");
  gst_publish_host_wake(mqtt->sink.host);
}

static void on_disconnect(struct mosquitto *client, void *user, int code) {
  Mqtt *mqtt = user;
  g_mutex_lock(&mqtt->lock);
  if (mqtt->connected)
    g_snprintf(mqtt->cause, sizeof mqtt->cause, "the connection was lost");
  mqtt->connected = FALSE;
  if (mqtt->qos == 0) /* the library discards these */
    mqtt->unsent = 0;
  g_cond_broadcast(&mqtt->changed);
  g_mutex_unlock(&mqtt->lock);
}

static void on_publish(struct mosquitto *client, void *user, int id) {
  Mqtt *mqtt = user;
  g_mutex_lock(&mqtt->lock);
  mqtt->unsent -= mqtt->unsent > 0;
  g_cond_broadcast(&mqtt->changed);
  g_mutex_unlock(&mqtt->lock);
}

static void set_cause(Mqtt *mqtt, int code) {
  const char *text = code == MOSQ_ERR_ERRNO ? g_strerror(errno) : mosquitto_strerror(code);
  g_mutex_lock(&mqtt->lock);
  g_strlcpy(mqtt->cause, text, sizeof mqtt->cause);
  mqtt->connected = FALSE;
  g_mutex_unlock(&mqtt->lock);
}

/* FALSE when the element stops. */
static gboolean wait_to_reconnect(Mqtt *mqtt) {
  const gint64 until = g_get_monotonic_time() + RECONNECT_MS * 1000;
  g_mutex_lock(&mqtt->lock);
  while (!mqtt->quit && g_cond_wait_until(&mqtt->changed, &mqtt->lock, until)) {
  }
  const gboolean quit = mqtt->quit;
  g_mutex_unlock(&mqtt->lock);
  return !quit;
}

/* The loop of the library itself ends for good when a host name is not found, and when the first
 * connection is rejected: this one tries again every second, whatever went wrong. */
static gpointer run_network(gpointer data) {
  Mqtt *mqtt = data;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE); /* an error of send(), not a signal */
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  do {
    int code = mosquitto_connect_async(mqtt->client, mqtt->host, mqtt->port, mqtt->keep_alive);
    /* At the end the loop continues until the DISCONNECT is sent and the connection closed:
     * otherwise the broker would publish the last will. */
    for (int last = END_LOOPS; code == MOSQ_ERR_SUCCESS && last > 0;) {
      code = mosquitto_loop(mqtt->client, LOOP_MS, 1);
      g_mutex_lock(&mqtt->lock);
      last -= mqtt->quit;
      g_mutex_unlock(&mqtt->lock);
    }
    set_cause(mqtt, code);
  } while (wait_to_reconnect(mqtt));
  return NULL;
}

/* --- Writer thread --------------------------------------------------------------------------- */

/* Waits until at most `most` messages are with the library; FALSE when that lasts too long. */
static gboolean wait_for_unsent(Mqtt *mqtt, guint most, gint64 patience_ms) {
  const gint64 until = g_get_monotonic_time() + patience_ms * 1000;
  g_mutex_lock(&mqtt->lock);
  while (mqtt->connected && mqtt->unsent > most && !g_atomic_int_get(&mqtt->sink.host->cancelled))
    if (!g_cond_wait_until(&mqtt->changed, &mqtt->lock, until))
      break;
  const gboolean good = mqtt->connected && mqtt->unsent <= most;
  if (!good)
    g_snprintf(mqtt->sink.reason, sizeof mqtt->sink.reason, "no connection to the broker %s (%s)",
               mqtt->address, mqtt->connected ? "it is too slow" : mqtt->cause);
  g_mutex_unlock(&mqtt->lock);
  return good;
}

/* Hands `mqtt->text` to the library. */
static GstPublishStatus send_text(Mqtt *mqtt, const char *name, gint qos, gboolean retain) {
  if (!wait_for_unsent(mqtt, UNSENT_MAX - 1, SEND_PATIENCE_MS))
    return GST_PUBLISH_WAIT;
  g_mutex_lock(&mqtt->lock);
  mqtt->unsent++;
  g_mutex_unlock(&mqtt->lock);
  char *topic = topic_of(mqtt, name);
  const int code = mosquitto_publish(mqtt->client, NULL, topic, (int)mqtt->text.length,
                                     mqtt->text.data, qos, retain);
  g_free(topic);
  /* With QoS 1 the library keeps a message that it could not send, and sends it later. */
  if (code == MOSQ_ERR_SUCCESS || (code == MOSQ_ERR_NO_CONN && qos > 0)) {
    mqtt->sink.bytes += mqtt->text.length;
    return GST_PUBLISH_DONE;
  }
  g_mutex_lock(&mqtt->lock);
  mqtt->unsent -= mqtt->unsent > 0;
  g_mutex_unlock(&mqtt->lock);
  g_snprintf(mqtt->sink.reason, sizeof mqtt->sink.reason, "failed to send to the broker %s: %s",
             mqtt->address, mosquitto_strerror(code));
  if (code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_CONN_LOST)
    return GST_PUBLISH_WAIT;
  GST_WARNING_OBJECT(mqtt->sink.host->element, "%s; the message is dropped", mqtt->sink.reason);
  return GST_PUBLISH_DONE;
}

static GstPublishStatus send_camera(Mqtt *mqtt, const GstPublishFrame *frame) {
  const GstStructure *fields = gst_publish_frame_find(frame, RV_META_CAMERA);
  if (!fields)
    return GST_PUBLISH_DONE;
  mqtt->text.length = 0;
  gst_publish_json_annotation(&mqtt->json, fields, &mqtt->text);
  g_mutex_lock(&mqtt->lock);
  const gboolean known = mqtt->camera && !mqtt->resend_camera &&
                         strlen(mqtt->camera) == mqtt->text.length &&
                         memcmp(mqtt->camera, mqtt->text.data, mqtt->text.length) == 0;
  g_mutex_unlock(&mqtt->lock);
  if (known)
    return GST_PUBLISH_DONE;
  if (send_text(mqtt, "camera", 1, TRUE) == GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  g_mutex_lock(&mqtt->lock);
  mqtt->resend_camera = FALSE;
  g_mutex_unlock(&mqtt->lock);
  g_free(mqtt->camera);
  mqtt->camera = g_strndup(mqtt->text.data, mqtt->text.length);
  return GST_PUBLISH_DONE;
}

/* One object per annotation; after WAIT continues with the one that could not be sent. */
static GstPublishStatus send_split(Mqtt *mqtt, const GstPublishFrame *frame) {
  for (; mqtt->next < frame->count; mqtt->next++) {
    GstPublishFrame one = *frame;
    one.count = 1;
    one.annotations[0] = frame->annotations[mqtt->next];
    mqtt->name.length = mqtt->text.length = 0;
    gst_publish_annotation_key(&mqtt->name, gst_structure_get_name(one.annotations[0]));
    gst_publish_text_char(&mqtt->name, 0);
    if (strcmp(mqtt->name.data, "camera") == 0)
      continue; /* retained, in another form */
    gst_publish_json_frame(&mqtt->json, &one, &mqtt->text);
    if (send_text(mqtt, mqtt->name.data, mqtt->qos, FALSE) == GST_PUBLISH_WAIT)
      return GST_PUBLISH_WAIT;
  }
  mqtt->next = 0;
  return GST_PUBLISH_DONE;
}

static GstPublishStatus mqtt_write(GstPublishSink *sink, const GstPublishFrame *frame) {
  Mqtt *mqtt = (Mqtt *)sink;
  if (mqtt->next == 0 && send_camera(mqtt, frame) == GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  if (mqtt->split)
    return send_split(mqtt, frame);
  mqtt->text.length = 0;
  gst_publish_json_frame(&mqtt->json, frame, &mqtt->text);
  return send_text(mqtt, "frame", mqtt->qos, FALSE);
}

static GstPublishStatus mqtt_finish(GstPublishSink *sink) {
  Mqtt *mqtt = (Mqtt *)sink;
  if (!g_atomic_int_get(&sink->host->cancelled))
    wait_for_unsent(mqtt, 0, END_PATIENCE_MS);
  return GST_PUBLISH_DONE;
}

/* --- Life ------------------------------------------------------------------------------------ */

static void mqtt_free(GstPublishSink *sink) {
  Mqtt *mqtt = (Mqtt *)sink;
  g_atomic_int_set(&sink->host->cancelled, 0); /* for the status message */
  g_mutex_lock(&mqtt->lock);
  const gboolean connected = mqtt->connected;
  g_mutex_unlock(&mqtt->lock);
  if (connected) {
    publish_status(mqtt, "offline");
    wait_for_unsent(mqtt, 0, END_PATIENCE_MS);
  }
  if (mqtt->thread) {
    mosquitto_disconnect(mqtt->client);
    g_mutex_lock(&mqtt->lock);
    mqtt->quit = TRUE;
    g_cond_broadcast(&mqtt->changed);
    g_mutex_unlock(&mqtt->lock);
    g_thread_join(mqtt->thread);
  }
  if (mqtt->client)
    mosquitto_destroy(mqtt->client);
  gst_publish_json_clear(&mqtt->json);
  gst_publish_text_clear(&mqtt->text);
  gst_publish_text_clear(&mqtt->name);
  g_free(mqtt->camera);
  g_free(mqtt->host);
  g_free(mqtt->address);
  g_free(mqtt->topic);
  g_mutex_clear(&mqtt->lock);
  g_cond_clear(&mqtt->changed);
  g_free(mqtt);
}

static const GstPublishSinkClass mqtt_class = {mqtt_write, NULL, mqtt_finish, mqtt_free};

static gboolean fail(GError **error, const char *format, const char *text, const char *cause) {
  g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, format, text, cause);
  return FALSE;
}

/* Splits host, host:port, [v6] or [v6]:port; the host is to be freed. */
static gboolean parse_broker(const char *broker, int *port, char **host, GError **error) {
  const char *bracket = *broker == '[' ? strchr(broker, ']') : NULL;
  const char *colon = strrchr(bracket ? bracket : broker, ':');
  guint64 number = (guint64)*port;
  if (colon && !g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &number, NULL))
    return fail(error, "Invalid broker \"%s\": %s.", broker, "the port must be 1 to 65535");
  *port = (int)number;
  *host = bracket ? g_strndup(broker + 1, (gsize)(bracket - broker - 1))
                  : g_strndup(broker, colon ? (gsize)(colon - broker) : strlen(broker));
  if (**host)
    return TRUE;
  g_clear_pointer(host, g_free);
  return fail(error, "Invalid broker \"%s\": %s.", broker, "it has no host name");
}

/* User name and password from the first two lines of a file. */
static gboolean set_credentials(Mqtt *mqtt, const char *path, GError **error) {
  char *text = NULL;
  GError *cause = NULL;
  if (!g_file_get_contents(path, &text, NULL, &cause)) {
    fail(error, "Failed to read the credentials of \"%s\": %s.", path, cause->message);
    g_clear_error(&cause);
    return FALSE;
  }
  char **lines = g_strsplit(text, "\n", 3);
  const guint count = g_strv_length(lines);
  const gboolean good =
      count > 0 && *g_strstrip(lines[0]) &&
      mosquitto_username_pw_set(mqtt->client, lines[0], count > 1 ? g_strchomp(lines[1]) : NULL) ==
          MOSQ_ERR_SUCCESS;
  g_strfreev(lines);
  g_free(text);
  return good || fail(error, "Invalid credentials in \"%s\": %s.", path,
                      "line 1 must be the user name, line 2 the password");
}

static int no_passphrase(char *buffer, int size, int writing, void *user) {
  return 0;
}

static gboolean is_set(const char *string) {
  return string && *string;
}

static gboolean set_up_client(Mqtt *mqtt, const GstPublishSettings *settings, GError **error) {
  struct mosquitto *client = mqtt->client;
  char *status = topic_of(mqtt, "status");
  int code = mosquitto_will_set(client, status, (int)strlen("offline"), "offline", 1, true);
  g_free(status);
  if (code != MOSQ_ERR_SUCCESS)
    return fail(error, "Invalid topic \"%s\": %s.", mqtt->topic,
                "it must be UTF-8 without the wildcards + and #");
  if (is_set(settings->credentials_location) &&
      !set_credentials(mqtt, settings->credentials_location, error))
    return FALSE;
  if (is_set(settings->tls_ca)) {
    code = mosquitto_tls_set(client, settings->tls_ca, NULL,
                             is_set(settings->tls_cert) ? settings->tls_cert : NULL,
                             is_set(settings->tls_key) ? settings->tls_key : NULL, no_passphrase);
    if (code != MOSQ_ERR_SUCCESS)
      return fail(error, "Failed to set up TLS with tls-ca \"%s\", tls-cert and tls-key: %s.",
                  settings->tls_ca,
                  code == MOSQ_ERR_INVAL ? "a file cannot be read, or only one of "
                                           "tls-cert and tls-key is set"
                                         : mosquitto_strerror(code));
  } else if (is_set(settings->tls_cert) || is_set(settings->tls_key)) {
    return fail(error, "%s%s", "tls-cert and tls-key need tls-ca, the certificates of authorities.",
                "");
  }
  mosquitto_threaded_set(client, true); /* one thread publishes, another one runs the loop */
  mosquitto_connect_callback_set(client, on_connect);
  mosquitto_disconnect_callback_set(client, on_disconnect);
  mosquitto_publish_callback_set(client, on_publish);
  return TRUE;
}

static void init_library(void) {
  static gsize done = 0;
  if (g_once_init_enter(&done)) {
    mosquitto_lib_init();
    g_once_init_leave(&done, 1);
  }
}

GstPublishSink *gst_publish_mqtt_new(GstPublishHost *host, const GstPublishSettings *settings,
                                     GstPublishJson *json, GError **error) {
  init_library();
  Mqtt *mqtt = g_new0(Mqtt, 1);
  g_mutex_init(&mqtt->lock);
  g_cond_init(&mqtt->changed);
  mqtt->sink.klass = &mqtt_class;
  mqtt->sink.host = host;
  mqtt->sink.wants = json->payload == GST_PUBLISH_PAYLOAD_NONE ? 0 : GST_PUBLISH_WANTS_RASTERS;
  mqtt->json = *json;
  mqtt->port = is_set(settings->tls_ca) ? PORT_TLS : PORT;
  mqtt->keep_alive = (int)settings->keep_alive;
  mqtt->qos = settings->qos;
  mqtt->split = settings->split;
  mqtt->topic = is_set(settings->topic)
                    ? g_strdup(settings->topic)
                    : g_strconcat("roadvision/",
                                  is_set(settings->source) ? settings->source : "camera", NULL);
  g_strlcpy(mqtt->cause, "no answer yet", sizeof mqtt->cause);
  mqtt->client =
      mosquitto_new(is_set(settings->client_id) ? settings->client_id : NULL, true, mqtt);
  gboolean good = mqtt->client != NULL || fail(error, "%s%s",
                                               "The MQTT client cannot be created: "
                                               "client-id is invalid.",
                                               "");
  good = good && parse_broker(settings->broker, &mqtt->port, &mqtt->host, error) &&
         set_up_client(mqtt, settings, error);
  if (good) {
    mqtt->address = g_strdup_printf("%s:%d", mqtt->host, mqtt->port);
    mqtt->thread = g_thread_new("rv-mqtt", run_network, mqtt);
  }
  if (good)
    return &mqtt->sink;
  mqtt_free(&mqtt->sink);
  return NULL;
}

#else

GstPublishSink *gst_publish_mqtt_new(GstPublishHost *host, const GstPublishSettings *settings,
                                     GstPublishJson *json, GError **error) {
  gst_publish_json_clear(json);
  g_set_error_literal(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                      "This build has no MQTT: build with -Dmosquitto=enabled (Debian: "
                      "libmosquitto-dev), or pipe location=- into mosquitto_pub -l.");
  return NULL;
}

#endif

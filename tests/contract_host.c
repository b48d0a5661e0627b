/* SPDX-License-Identifier: MIT */
/* contract_host.c: what rv_host.h promises: host memory, and streams apart from the default one. */
#include "contract_run.h"

#include <string.h>

#include "rv_host.h"

#define WORDS (1 << 20)
#define ROUNDS 8

static void check_host_memory(RvCheck *check, RvEngine engine) {
  const char *name = "contract/host/memory";
  void *memory = check;
  rvc_true(check, name, rv_host_new(NULL, 16, engine) == RV_ERR_ARG, "no place for the address");
  rvc_true(check, name, rv_host_new(&memory, 0, engine) == RV_ERR_ARG, "0 bytes");
  if (rvc_true(check, name, rv_host_new(&memory, 4096, engine) == RV_OK && memory, "4096 bytes"))
    memset(memory, 1, 4096);
  rv_host_free(&memory, engine);
  rvc_true(check, name, !memory, "freed memory is not NULL");
  rv_host_free(&memory, engine);
  rv_host_free(NULL, engine);
}

static void check_no_stream(RvCheck *check) {
  RvStream stream = (RvStream)(void *)check;
  rvc_true(check, "contract/host/none", rv_stream_new_apart(&stream) == RV_ERR_NO_DEVICE && !stream,
           "a stream");
}

/* What two streams do in turns. */
typedef struct Relay {
  RvStream stream[2];
  void *host[2], *device;
} Relay;

/* One stream brings words to the device; when they are there, the other takes them back. */
static RvStatus pass(Relay *r, int round) {
  const size_t bytes = WORDS * sizeof(int);
  for (int i = 0; i < WORDS; i++)
    ((int *)r->host[0])[i] = i + round;
  RvStatus status = rv_copy_to_device(r->device, r->host[0], bytes, r->stream[0]);
  if (status == RV_OK)
    status = rv_stream_wait(r->stream[0]);
  if (status == RV_OK)
    status = rv_copy_to_host(r->host[1], r->device, bytes, r->stream[1]);
  return status == RV_OK ? rv_stream_wait(r->stream[1]) : status;
}

static void check_streams(RvCheck *check) {
  const char *name = "contract/host/streams";
  Relay r = {{NULL, NULL}, {NULL, NULL}, NULL};
  const size_t bytes = WORDS * sizeof(int);
  const int ready = rv_stream_new_apart(&r.stream[0]) == RV_OK &&
                    rv_stream_new_apart(&r.stream[1]) == RV_OK &&
                    rv_host_new(&r.host[0], bytes, RV_CUDA) == RV_OK &&
                    rv_host_new(&r.host[1], bytes, RV_CUDA) == RV_OK &&
                    rv_buffer_new(&r.device, bytes, RV_CUDA) == RV_OK;
  rvc_true(check, name, ready, "streams or memory");
  for (int round = 0; ready && round < ROUNDS; round++)
    rvc_true(check, name, pass(&r, round) == RV_OK && memcmp(r.host[0], r.host[1], bytes) == 0,
             "round %d: other words came back", round);
  rv_buffer_free(&r.device, RV_CUDA);
  for (int i = 0; i < 2; i++) {
    rv_host_free(&r.host[i], RV_CUDA);
    rv_stream_free(&r.stream[i]);
  }
}

void contract_host(RvCheck *check, RvEngine engine) {
  check_host_memory(check, engine);
  if (engine == RV_CUDA)
    check_streams(check);
  else if (!rv_has_cuda())
    check_no_stream(check);
}

/* SPDX-License-Identifier: MIT */
/* pipelines_main.c: runs the pipeline tests on one engine.
 *   pipelines [--engine cpu|cuda] [--only TEXT]
 * Exit 0, 1, or 77 when the asked engine is not there. */
#include "pipelines.h"

#include <string.h>

static void run_tests(Pipelines *e, const PipelinesTest *tests) {
  for (; tests->name; tests++) {
    if (e->only && !strstr(tests->name, e->only))
      continue;
    g_strlcpy(e->test, tests->name, sizeof e->test);
    const guint64 checks = e->checks, failed = e->failed;
    const gint64 start = g_get_monotonic_time();
    tests->run(e);
    g_print("%-4s %-32s %6" G_GUINT64_FORMAT " checks, %5.1f s\n",
            e->failed == failed ? "ok" : "FAIL", tests->name, e->checks - checks,
            (double)(g_get_monotonic_time() - start) / 1e6);
    if (e->checks == checks)
      CHECK(e, FALSE, "the test checked nothing");
  }
}

static gboolean have_element(const char *name) {
  GstElementFactory *factory = gst_element_factory_find(name);
  if (!factory)
    return FALSE;
  gst_object_unref(factory);
  return TRUE;
}

int main(int argc, char **argv) {
  Pipelines e = {.engine = "cpu"};
  gst_init(&argc, &argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--engine") == 0)
      e.engine = argv[i + 1];
    else if (strcmp(argv[i], "--only") == 0)
      e.only = argv[i + 1];
  }
  if (strcmp(e.engine, "cuda") == 0) {
    char reason[256] = "";
    if (rv_cuda_devices(reason, sizeof reason) == 0) {
      g_print("skipped: no CUDA engine here: %s\n", reason);
      return 77;
    }
    e.cuda_caps = have_element("cudaupload") && have_element("cudadownload");
  }
  if (!have_element("cudasgm")) {
    g_printerr("cudasgm was not found: run inside `meson devenv`, or set GST_PLUGIN_PATH\n");
    return 1;
  }
  const PipelinesTest *const groups[] = {pipelines_source_tests,   pipelines_errors_tests,
                                         pipelines_annotate_tests, pipelines_chain_tests,
                                         pipelines_segments_tests, pipelines_results_tests};
  for (guint i = 0; i < G_N_ELEMENTS(groups); i++)
    run_tests(&e, groups[i]);
  g_print("%s: %" G_GUINT64_FORMAT " checks, %" G_GUINT64_FORMAT " failed%s\n", e.engine, e.checks,
          e.failed, e.cuda_caps ? ", with CUDA caps" : ", system memory only");
  return e.failed ? 1 : 0;
}

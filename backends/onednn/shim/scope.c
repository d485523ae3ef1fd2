/* scope.c: the engine, what a call owns, and how it says that something went wrong. */
#include <stdarg.h>
#include <stdio.h>

#include <oneapi/dnnl/dnnl_debug.h>

#include "shim.h"

static dnnl_engine_t cpu;
static dnnl_stream_t queue;

dnnl_engine_t engine(void) { return cpu; }

dnnl_stream_t stream(void) { return queue; }

int32_t open_engine(char *message, size_t message_size) {
  if (dnnl_engine_create(&cpu, dnnl_cpu, 0) != dnnl_success ||
      dnnl_stream_create(&queue, cpu, dnnl_stream_default_flags) != dnnl_success) {
    snprintf(message, message_size, "oneDNN has no CPU engine here");
    return OPPROOF_FAILED;
  }
  return OPPROOF_OK;
}

int ok(const Scope *s) { return s->code == OPPROOF_OK; }

static void stop(Scope *s, int32_t code, const char *format, va_list arguments) {
  if (!ok(s)) return; /* the first reason is the cause */
  s->code = code;
  vsnprintf(s->message, s->message_size, format, arguments);
}

void decline(Scope *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stop(s, OPPROOF_UNSUPPORTED, format, arguments);
  va_end(arguments);
}

void fail(Scope *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stop(s, OPPROOF_FAILED, format, arguments);
  va_end(arguments);
}

/* unimplemented is oneDNN's way to decline; everything else is a failure. */
int check(Scope *s, dnnl_status_t status, const char *what) {
  if (status == dnnl_unimplemented) {
    decline(s, "oneDNN has no implementation of %s for these types and sizes on this CPU", what);
  } else if (status != dnnl_success) {
    fail(s, "oneDNN answers %s to %s", dnnl_status2str(status), what);
  }
  return ok(s);
}

void close_scope(Scope *s) {
  for (int i = 0; i < s->n_memories; ++i) dnnl_memory_destroy(s->memories[i]);
  for (int i = 0; i < s->n_primitives; ++i) dnnl_primitive_desc_destroy(s->primitives[i]);
  for (int i = 0; i < s->n_descriptors; ++i) dnnl_memory_desc_destroy(s->descriptors[i]);
}

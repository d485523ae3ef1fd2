/* A made-up device in plain C, for tests/test_device_library.py: memory of its own, handles that are
 * pointers or, with -DNUMBERS=1, small numbers that nobody can follow; -DDEFECT="name" plants a fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opproof.h"

#ifndef DEFECT
#define DEFECT ""
#endif
#ifndef NUMBERS
#define NUMBERS 0
#endif

enum { SLOTS = 64 };
static char *slots[SLOTS]; /* slot i belongs to the handle i + 1 */
static int lost = 0;

static int is_on(const char *name) { return strcmp(DEFECT, name) == 0; }

static int32_t failed(char *message, size_t size, const char *reason) {
  snprintf(message, size, "%s", reason);
  return OPPROOF_FAILED;
}

/* The memory behind a handle, or NULL where it is none of this device. */
static char *memory_of(const void *handle) {
  for (size_t i = 0; i < SLOTS; ++i) {
    const void *known = NUMBERS ? (const void *)(i + 1) : (const void *)slots[i];
    if (slots[i] != NULL && known == handle) return slots[i];
  }
  return NULL;
}

int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }

const char *opproof_device(void) { return "made up"; }

int32_t opproof_device_type(void) { return kDLExtDev; }

int32_t opproof_alloc(size_t bytes, void **memory, char *message, size_t message_size) {
  if ((is_on("full") && bytes > 8192) || is_on("full from the start")) return failed(message, message_size, "no memory left");
  for (size_t i = 0; i < SLOTS; ++i) {
    if (slots[i] != NULL) continue;
    slots[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
    *memory = NUMBERS ? (void *)(i + 1) : (void *)slots[i];
    return OPPROOF_OK;
  }
  return failed(message, message_size, "no slot left: buffers are not given back");
}

int32_t opproof_free(void *memory, char *message, size_t message_size) {
  char *found = memory_of(memory);
  if (found == NULL) return failed(message, message_size, "freed what was never allocated");
  for (size_t i = 0; i < SLOTS; ++i) {
    if (slots[i] == found) slots[i] = NULL;
  }
  free(found);
  return OPPROOF_OK;
}

int32_t opproof_copy(void *dst, const void *src, size_t bytes, int32_t direction, char *message, size_t message_size) {
  char *there = memory_of(direction == OPPROOF_TO_DEVICE ? dst : src);
  if (lost) return failed(message, message_size, "an illegal memory access was encountered");
  if (there == NULL) return failed(message, message_size, "copied from or to what was never allocated");
  memcpy(direction == OPPROOF_TO_DEVICE ? there : dst, direction == OPPROOF_TO_DEVICE ? src : there, bytes);
  if (is_on("copy") && direction == OPPROOF_FROM_DEVICE) ((char *)dst)[bytes - 1] ^= 1;
  return OPPROOF_OK;
}

static float *first(const DLTensor *t) {
  char *memory = memory_of(t->data);
  if (memory == NULL || t->device.device_type != kDLExtDev) abort(); /* a host's pointer */
  return (float *)(memory + (is_on("no_offset") ? 0 : t->byte_offset));
}

static int64_t count(const DLTensor *t) {
  int64_t n = 1;
  for (int d = 0; d < t->ndim; ++d) n *= t->shape[d];
  return n;
}

static float *element(const DLTensor *t, int64_t i) {
  int64_t offset = 0;
  for (int d = t->ndim - 1; d >= 0; i /= t->shape[d--]) offset += i % t->shape[d] * t->strides[d];
  return first(t) + offset;
}

/* y = x <= 0 ? 0 : what, element by element; NaN stays. */
static int32_t masked(const DLTensor *x, const DLTensor *what, const DLTensor *y) {
  int64_t n = count(x);
  for (int64_t i = 0; i < n - is_on("unwritten"); ++i) *element(y, i) = *element(x, i) <= 0 ? 0 : *element(what, i);
  if (is_on("overrun")) first(y)[n] = 0;
  if (is_on("underrun")) first(y)[-3] = 0;
  if (is_on("far")) first(y)[n + 4000] = 0;
  if (is_on("scribble")) *element(x, 0) += 1;
  if (is_on("twice")) *element(y, 0) *= 2;
  if (is_on("lost")) lost = 1;
  return OPPROOF_OK;
}

static int32_t check(const opproof_call *call, char *message, size_t message_size) {
  if (strcmp(call->op, "relu") != 0 || call->inputs[0]->dtype.bits != 32) {
    snprintf(message, message_size, "only relu of float32");
    return OPPROOF_UNSUPPORTED;
  }
  return OPPROOF_OK;
}

int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  int32_t code = check(call, message, message_size);
  (void)n_outputs;
  return code != OPPROOF_OK ? code : masked(call->inputs[0], call->inputs[0], outputs[0]);
}

int32_t opproof_vjp(const opproof_call *call, int32_t n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *gradients, char *message, size_t message_size) {
  int32_t code = check(call, message, message_size);
  (void)n_outputs;
  return code != OPPROOF_OK ? code : masked(call->inputs[0], cotangents[0], gradients[0]);
}

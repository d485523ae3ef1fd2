/* defects.c: the planted faults that are no operator's own; empty in the good library. */
#include "defects.h"

#ifdef PLANTED_DEFECTS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[] = {
    "tail",         "mul_no_reduce",  "sigmoid_nan", "softmax_no_max", "ignore_cotangent", "gelu_tanh",
    "wrong_stride", "wrong_axis",     "no_dilation", "narrow_sum",     "unwritten",        "uncovered",
    "stale",        "overrun_write",  "overread",    "underrun_write", "scribble",         "hang",
    "abort_call",   "exit_call",      "crash_null",  "grow",           "eat_stdout",       "fail_message",
    "unknown_code",
};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES };
static int on[N_NAMES];

/* Index of the name of `length` characters, or -1. */
static int find(const char *name, size_t length) {
  for (int i = 0; i < N_NAMES; ++i) {
    if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0) return i;
  }
  return -1;
}

int defect_is_on(const char *name) { return on[find(name, strlen(name))]; }

int32_t defects_read(Reason why) {
  const char *name = getenv("OPPROOF_DEFECT");
  while (name != NULL && *name != '\0') {
    size_t length = strcspn(name, ",");
    int i = find(name, length);
    if (i < 0) return failed(why, "OPPROOF_DEFECT names no defect: %.*s", (int)length, name);
    on[i] = 1;
    name += length + (name[length] == ',');
  }
  return OPPROOF_OK;
}

/* Address of the element `past` elements after the last of a tensor that is not empty. */
static char *after_last(const DLTensor *t, int64_t past) {
  int64_t offset = past;
  for (int d = 0; d < t->ndim; ++d) offset += (t->shape[d] - 1) * t->strides[d];
  return (char *)t->data + t->byte_offset + offset * (t->dtype.bits / 8);
}

static int32_t grow(Reason why) {
  const size_t step = (size_t)16 << 20, limit = (size_t)8 << 30; /* spares a machine that sets no limit */
  for (size_t taken = 0; taken < limit; taken += step) {
    char *block = malloc(step);
    if (block == NULL) return failed(why, "out of memory");
    memset(block, 1, step);
  }
  return failed(why, "took 8 GiB and nothing stopped it");
}

int32_t defects_before(const opproof_call *call, Reason why) {
  const char *op = call->op;
  const DLTensor *x = input(call, 0);
  if (DEFECT("hang") && strcmp(op, "sum") == 0) {
    for (volatile int forever = 1; forever;) continue;
  }
  if (DEFECT("grow") && strcmp(op, "sum") == 0) return grow(why);
  if (DEFECT("abort_call") && strcmp(op, "matmul") == 0) abort();
  if (DEFECT("exit_call") && strcmp(op, "gelu") == 0) exit(0);
  if (DEFECT("crash_null") && strcmp(op, "softmax") == 0) *(volatile int *)NULL = 1;
  if (DEFECT("fail_message") && strcmp(op, "matmul") == 0) return failed(why, "no workspace of %d bytes", 4096);
  if (DEFECT("unknown_code") && strcmp(op, "add") == 0) return 7;
  if (DEFECT("eat_stdout") && strcmp(op, "mul") == 0) {
    printf("{\"verdict\": \"PASS\"}\n\x01garbage\n");
    fflush(stdout);
  }
  if (DEFECT("overread") && strcmp(op, "rms_norm") == 0 && count(x) > 0) (void)*(volatile char *)after_last(x, 1);
  if (DEFECT("scribble") && strcmp(op, "conv2d") == 0 && count(x) > 0) *after_last(x, 0) ^= 1;
  return OPPROOF_OK;
}

void defects_after(const opproof_call *call, const DLTensor *y) {
  int is_relu = strcmp(call->op, "relu") == 0;
  size_t size = y->dtype.bits / 8;
  if (DEFECT("overrun_write") && is_relu && count(y) > 0) memset(after_last(y, 1), 0, size);
  if (DEFECT("underrun_write") && is_relu && count(y) > 0) memset((char *)y->data + y->byte_offset - size, 0, size);
}

double defect_stale(const DLTensor *x, int64_t i, double value) {
  static struct Entry {
    struct Entry *next;
    int64_t line, shape[MAX_DIMS];
    double value;
  } *entries = NULL;
  int64_t shape[MAX_DIMS] = {0};
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  for (struct Entry *e = entries; e != NULL; e = e->next) {
    if (e->line == i && memcmp(e->shape, shape, sizeof shape) == 0) return e->value;
  }
  struct Entry *entry = malloc(sizeof *entry);
  if (entry == NULL) return value;
  *entry = (struct Entry){.next = entries, .line = i, .value = value};
  memcpy(entry->shape, shape, sizeof shape);
  entries = entry;
  return value;
}
#else
typedef int nothing_planted; /* C99 wants a declaration in every file */
#endif

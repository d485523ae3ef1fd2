#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int32_t unsupported(Reason why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why.text, why.size, format, arguments);
  va_end(arguments);
  return OPPROOF_UNSUPPORTED;
}

int32_t failed(Reason why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why.text, why.size, format, arguments);
  va_end(arguments);
  return OPPROOF_FAILED;
}

int64_t count(const DLTensor *t) {
  int64_t n = 1;
  for (int d = 0; d < t->ndim; ++d) n *= t->shape[d];
  return n;
}

int64_t offset_of(const DLTensor *t, int64_t i) {
  int64_t offset = 0;
  for (int d = t->ndim - 1; d >= 0; --d) {
    offset += i % t->shape[d] * t->strides[d];
    i /= t->shape[d];
  }
  return offset;
}

int64_t broadcast_offset(const DLTensor *t, const DLTensor *whole, int64_t i) {
  int64_t offset = 0;
  for (int d = t->ndim - 1, w = whole->ndim - 1; d >= 0; --d, --w) {
    if (t->shape[d] != 1) offset += i % whole->shape[w] * t->strides[d];
    i /= whole->shape[w];
  }
  return offset;
}

int64_t line_count(const DLTensor *t, int axis) {
  int64_t n = 1;
  for (int d = 0; d < t->ndim; ++d) {
    if (d != axis) n *= t->shape[d];
  }
  return n;
}

int64_t line_length(const DLTensor *t, int axis) { return t->ndim == 0 ? 1 : t->shape[axis]; }

int64_t line_stride(const DLTensor *t, int axis) { return t->ndim == 0 ? 0 : t->strides[axis]; }

int64_t line_offset(const DLTensor *t, int axis, int64_t i) {
  int64_t offset = 0;
  for (int d = t->ndim - 1; d >= 0; --d) {
    if (d == axis) continue;
    offset += i % t->shape[d] * t->strides[d];
    i /= t->shape[d];
  }
  return offset;
}

const DLTensor *input(const opproof_call *call, int32_t i) { return i < call->n_inputs ? call->inputs[i] : NULL; }

const opproof_param *param(const opproof_call *call, const char *name) {
  for (int32_t i = 0; i < call->n_params; ++i) {
    const opproof_param *p = &call->params[i];
    if (strcmp(p->name, name) == 0) return p->type == OPPROOF_NONE ? NULL : p;
  }
  return NULL;
}

int64_t int_param(const opproof_call *call, const char *name, int64_t otherwise) {
  const opproof_param *p = param(call, name);
  return p == NULL ? otherwise : p->i;
}

double float_param(const opproof_call *call, const char *name, double otherwise) {
  const opproof_param *p = param(call, name);
  if (p == NULL) return otherwise;
  return p->type == OPPROOF_INT ? (double)p->i : p->f;
}

int axis_of(int64_t dim, const DLTensor *t) {
  int64_t ndim = t->ndim == 0 ? 1 : t->ndim; /* a scalar has the axes 0 and -1 */
  if (dim < -ndim || dim >= ndim) return -1;
  return (int)(dim < 0 ? dim + ndim : dim);
}

/* call.h: what every operator needs of a call: positions in tensors, parameters, refusals. */
#ifndef CALL_H
#define CALL_H

#include "opproof.h"

#define MAX_DIMS 8

/* Where the reason of a refusal goes. */
typedef struct {
  char *text;
  size_t size;
} Reason;

/* Write the reason, as printf does, and return the code to return. */
int32_t unsupported(Reason why, const char *format, ...);
int32_t failed(Reason why, const char *format, ...);

/* Number of elements. */
int64_t count(const DLTensor *t);

/* Offset, in elements, of the i-th element of `t` in row-major order. */
int64_t offset_of(const DLTensor *t, int64_t i);

/* Offset in `t` of the element that broadcasting pairs with the i-th element of `whole`. */
int64_t broadcast_offset(const DLTensor *t, const DLTensor *whole, int64_t i);

/* Lines of `t` along `axis`: how many there are, how long, how far apart their elements lie, and
 * where the i-th begins. A scalar is one line of one element. */
int64_t line_count(const DLTensor *t, int axis);
int64_t line_length(const DLTensor *t, int axis);
int64_t line_stride(const DLTensor *t, int axis);
int64_t line_offset(const DLTensor *t, int axis, int64_t i);

/* The i-th input, or NULL where it is absent. */
const DLTensor *input(const opproof_call *call, int32_t i);

/* A parameter, or NULL where it is None or not given. */
const opproof_param *param(const opproof_call *call, const char *name);
int64_t int_param(const opproof_call *call, const char *name, int64_t otherwise);
double float_param(const opproof_call *call, const char *name, double otherwise);

/* dim in [-ndim, ndim) as an axis in [0, ndim), or -1 where it is out of range. */
int axis_of(int64_t dim, const DLTensor *t);

#endif

/* softmax.c: exp(x) / sum exp(x) along `dim`, on x - max(x) so that nothing overflows. */
#include "real.h"

/* One line: n elements of x, from `from`, `step` apart. */
typedef struct {
  const DLTensor *t;
  int64_t from, step, n;
} Line;

static Line line(const DLTensor *t, int axis, int64_t i) {
  return (Line){t, line_offset(t, axis, i), line_stride(t, axis), line_length(t, axis)};
}

static real at(Line l, int64_t k) { return load(l.t, l.from + k * l.step); }

/* The maximum and the sum of exp(x - maximum); both are NaN where an element is. */
static void normalizer(Line x, real *maximum, real *sum) {
  real most = -INFINITY;
  for (int64_t k = 0; k < x.n; ++k) {
    real value = at(x, k);
    if (value > most || isnan(value)) most = value;
    if (isnan(value)) break;
  }
  if (DEFECT("softmax_no_max")) most = 0;
  Total total = {0, 0};
  for (int64_t k = 0; k < x.n; ++k) add_to(&total, exp(at(x, k) - most));
  *maximum = most;
  *sum = value_of(total);
}

static int chosen_axis(const opproof_call *call, const DLTensor *x) {
  if (DEFECT("wrong_axis")) return axis_of(-1, x);
  return axis_of(int_param(call, "dim", -1), x);
}

int32_t FN(softmax_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  const DLTensor *x = input(call, 0);
  int axis = chosen_axis(call, x);
  if (axis < 0) return failed(why, "dim is out of range");
  for (int64_t i = 0, n = line_count(x, axis); i < n; ++i) {
    Line from = line(x, axis, i), into = line(y, axis, i);
    real maximum, sum;
    normalizer(from, &maximum, &sum);
    for (int64_t k = 0; k < from.n; ++k) store(y, into.from + k * into.step, exp(at(from, k) - maximum) / sum);
  }
  return OPPROOF_OK;
}

/* dx = y (g - sum(g y)) */
int32_t FN(softmax_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  const DLTensor *x = input(call, 0), *dx = gradients[0];
  if (dx == NULL) return OPPROOF_OK;
  int axis = chosen_axis(call, x);
  if (axis < 0) return failed(why, "dim is out of range");
  for (int64_t i = 0, n = line_count(x, axis); i < n; ++i) {
    Line from = line(x, axis, i), cotangent = line(g, axis, i), into = line(dx, axis, i);
    real maximum, sum;
    normalizer(from, &maximum, &sum);
    Total dot = {0, 0};
    for (int64_t k = 0; k < from.n; ++k) add_to(&dot, at(cotangent, k) * exp(at(from, k) - maximum) / sum);
    for (int64_t k = 0; k < from.n; ++k) {
      real y = exp(at(from, k) - maximum) / sum;
      store(dx, into.from + k * into.step, y * (at(cotangent, k) - value_of(dot)));
    }
  }
  return OPPROOF_OK;
}

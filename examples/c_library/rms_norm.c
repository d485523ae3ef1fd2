/* rms_norm.c: y = x r w with r = 1 / sqrt(mean(x^2) + eps) over the last axis; w is optional. */
#include "real.h"

/* r of the i-th line of x. */
static real inverse_rms(const opproof_call *call, const DLTensor *x, int64_t i) {
  int axis = x->ndim - 1;
  int64_t n = line_length(x, axis), step = line_stride(x, axis), from = line_offset(x, axis, i);
  Total squares = {0, 0};
  for (int64_t k = 0; k < n; ++k) {
    real value = load(x, from + k * step);
    add_to(&squares, value * value);
  }
  real r = 1 / sqrt(value_of(squares) / (real)n + (real)float_param(call, "eps", 1e-6));
  return DEFECT("stale") ? (real)defect_stale(x, i, r) : r;
}

static real weight_at(const DLTensor *weight, int64_t k) {
  return weight == NULL ? 1 : load(weight, k * line_stride(weight, 0));
}

int32_t FN(rms_norm_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  const DLTensor *x = input(call, 0), *weight = input(call, 1);
  if (x->ndim == 0) return unsupported(why, "rms_norm of a scalar");
  int axis = x->ndim - 1;
  int64_t n = line_length(x, axis), step = line_stride(x, axis);
  for (int64_t i = 0, lines = line_count(x, axis); i < lines; ++i) {
    int64_t from = line_offset(x, axis, i), into = line_offset(y, axis, i);
    real r = inverse_rms(call, x, i);
    for (int64_t k = 0; k < n; ++k) store(y, into + k, load(x, from + k * step) * r * weight_at(weight, k));
  }
  return OPPROOF_OK;
}

/* With h = g w:  dx = r (h - x r^2 mean(h x)),  dw = sum over lines of g x r. */
int32_t FN(rms_norm_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  const DLTensor *x = input(call, 0), *weight = input(call, 1);
  if (x->ndim == 0) return unsupported(why, "rms_norm of a scalar");
  const DLTensor *dx = gradients[0], *dw = gradients[1];
  Total *dw_totals = new_totals(dw);
  if (dw_totals == NULL) return failed(why, "out of memory");
  int axis = x->ndim - 1;
  int64_t n = line_length(x, axis), step = line_stride(x, axis), g_step = line_stride(g, axis);
  for (int64_t i = 0, lines = line_count(x, axis); i < lines; ++i) {
    int64_t from = line_offset(x, axis, i), g_from = line_offset(g, axis, i);
    real r = inverse_rms(call, x, i);
    Total dot = {0, 0};
    for (int64_t k = 0; k < n; ++k) {
      real gx = load(g, g_from + k * g_step) * load(x, from + k * step);
      add_to(&dot, gx * weight_at(weight, k));
      if (dw != NULL) add_to(&dw_totals[k], gx * r);
    }
    if (dx == NULL) continue;
    real mean = value_of(dot) / (real)n;
    for (int64_t k = 0; k < n; ++k) {
      real h = load(g, g_from + k * g_step) * weight_at(weight, k);
      store(dx, i * n + k, r * (h - load(x, from + k * step) * r * r * mean));
    }
  }
  store_totals(dw, dw_totals);
  free(dw_totals);
  return OPPROOF_OK;
}

/* reduction.c: sum, mean, amax, amin, prod and norm over axes. oneDNN's reduction has no backward. */
#include <math.h>
#include <string.h>

#include "shim.h"

static void reduce(Scope *s, dnnl_alg_kind_t algorithm, float p, View x, View y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  if (count(&x) == count(&y)) decline(s, "oneDNN's reduction refuses where no axis gets shorter");
  do {
    status = dnnl_reduction_primitive_desc_create(&pd, engine(), algorithm, described(s, &x), described(s, &y), p, 0,
                                                  NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "reduction");
  RUN(s, pd, in(DNNL_ARG_SRC, &x), out(DNNL_ARG_DST, &y));
}

/* In the type of x, which oneDNN reduces into no other. */
void sum_into(Scope *s, View x, View y) {
  View total = y;
  total.type = x.type;
  if (y.type != x.type) total = plain_view(s, NULL, total);
  reduce(s, dnnl_reduction_sum, 0, x, total);
  if (y.type != x.type) reorder(s, total, y);
}

/* y with an axis of size 1 for every axis of x that is reduced. */
static View with_reduced(const opproof_call *call, const View *x, View y) {
  const opproof_param *dim = param(call, "dim");
  int reduced[DNNL_MAX_NDIMS] = {0}, n = dim == NULL ? 0 : dim->type == OPPROOF_INTS ? dim->count : 1;
  for (int d = 0; d < x->ndims; ++d) reduced[d] = dim == NULL;
  for (int i = 0; i < n; ++i) reduced[axis_of(dim->type == OPPROOF_INTS ? dim->ints[i] : dim->i, x->ndims)] = 1;
  if (int_param(call, "keepdim", 0) || y.ndims == x->ndims) return y;
  int all = 1;
  for (int d = 0; d < x->ndims; ++d) all = all && reduced[d];
  for (int d = 0; d < x->ndims; ++d) {
    if (reduced[d] && !(all && d == 0)) y = with_axis(y, d); /* a scalar has an axis already */
  }
  return y;
}

static dnnl_alg_kind_t algorithm_of(Scope *s, const opproof_call *call, double p) {
  if (strcmp(call->op, "sum") == 0) return dnnl_reduction_sum;
  if (strcmp(call->op, "mean") == 0) return dnnl_reduction_mean;
  if (strcmp(call->op, "amax") == 0) return dnnl_reduction_max;
  if (strcmp(call->op, "amin") == 0) return dnnl_reduction_min;
  if (strcmp(call->op, "prod") == 0) return dnnl_reduction_mul;
  if (p < 1 || isinf(p)) decline(s, "oneDNN's norms have a p from 1 on, not %g", p);
  return dnnl_reduction_norm_lp_sum;
}

void reduction_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  double p = float_param(call, "p", 2);
  View x = view_of(s, input(call, 0));
  reduce(s, algorithm_of(s, call, p), (float)p, x, with_reduced(call, &x, view_of(s, outputs[0])));
}

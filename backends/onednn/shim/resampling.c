/* resampling.c: upsample_bilinear, and upsample_nearest where both mean the same cell. */
#include <string.h>

#include "shim.h"

/* oneDNN's nearest cell is round((i + 1/2) from / to - 1/2), the operator's floor(i from / to). */
static int same_cells(dnnl_dim_t from, dnnl_dim_t to) {
  for (dnnl_dim_t i = 0; i < to; ++i) {
    dnnl_dim_t theirs = ((2 * i + 1) * from) / (2 * to); /* round(v - 1/2) is floor(v) but for its ties, which go up */
    if (theirs != i * from / to) return 0;
  }
  return 1;
}

static dnnl_alg_kind_t algorithm_of(Scope *s, const opproof_call *call, const View *x, const View *y) {
  if (int_param(call, "align_corners", 0)) decline(s, "oneDNN's resampling has no align_corners");
  if (strcmp(call->op, "upsample_nearest") != 0) return dnnl_resampling_linear;
  for (int d = 2; d < x->ndims; ++d) {
    if (!same_cells(x->dims[d], y->dims[d])) {
      decline(s, "oneDNN takes the cell whose centre is nearest, not floor(i n / out); from %d to %d they differ",
              (int)x->dims[d], (int)y->dims[d]);
    }
  }
  return dnnl_resampling_nearest;
}

static dnnl_primitive_desc_t forward_of(Scope *s, dnnl_alg_kind_t algorithm, const View *x, const View *y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_resampling_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training, algorithm, NULL,
                                                           described(s, x), described(s, y), NULL);
  } while (again(s, status));
  return keep(s, pd, status, "resampling");
}

void resampling_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View x = view_of(s, input(call, 0)), y = view_of(s, outputs[0]);
  dnnl_primitive_desc_t pd = forward_of(s, algorithm_of(s, call, &x, &y), &x, &y);
  RUN(s, pd, in(DNNL_ARG_SRC, &x), out(DNNL_ARG_DST, &y));
}

void resampling_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents,
                    DLTensor *const *d) {
  (void)n;
  View g = view_of(s, cotangents[0]), dx = view_of(s, d[0]);
  dnnl_alg_kind_t algorithm = algorithm_of(s, call, &dx, &g);
  dnnl_primitive_desc_t hint = forward_of(s, algorithm, &dx, &g), pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_resampling_backward_primitive_desc_create(&pd, engine(), algorithm, NULL, described(s, &dx),
                                                            described(s, &g), hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "resampling backward");
  RUN(s, pd, in(DNNL_ARG_DIFF_DST, &g), out(DNNL_ARG_DIFF_SRC, &dx));
}

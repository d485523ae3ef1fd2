/* prelu.c: relu with a slope per channel, or one for all; the weights broadcast along axes of size 1. */
#include "shim.h"

/* The weights under as many axes as x, their one axis being axis 1 of x. */
static View slopes_of(Scope *s, const DLTensor *weight, const View *x) {
  View w = view_of(s, weight);
  while (ok(s) && w.ndims < x->ndims - 1) w = with_axis(w, w.ndims);
  return broadcast_to(s, w, x->ndims);
}

static dnnl_primitive_desc_t forward_of(Scope *s, const View *x, const View *w, const View *y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_prelu_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training, described(s, x),
                                                      described(s, w), described(s, y), NULL);
  } while (again(s, status));
  return keep(s, pd, status, "prelu");
}

void prelu_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View x = view_of(s, input(call, 0)), y = view_of(s, outputs[0]), w = slopes_of(s, input(call, 1), &x);
  dnnl_primitive_desc_t pd = forward_of(s, &x, &w, &y);
  RUN(s, pd, in(DNNL_ARG_SRC, &x), in(DNNL_ARG_WEIGHTS, &w), out(DNNL_ARG_DST, &y));
}

void prelu_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  View x = view_of(s, input(call, 0)), w = slopes_of(s, input(call, 1), &x), g = view_of(s, cotangents[0]);
  View dx = d[0] ? view_of(s, d[0]) : dense(x), dw = d[1] ? slopes_of(s, d[1], &x) : dense(w);
  dnnl_primitive_desc_t hint = forward_of(s, &x, &w, &dx), pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_prelu_backward_primitive_desc_create(&pd, engine(), described(s, &x), described(s, &w),
                                                       described(s, &dx), described(s, &dw), described(s, &g), hint,
                                                       NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "prelu backward");
  RUN(s, pd, in(DNNL_ARG_SRC, &x), in(DNNL_ARG_WEIGHTS, &w), in(DNNL_ARG_DIFF_DST, &g),
      out(DNNL_ARG_DIFF_SRC, d[0] ? &dx : NULL), out(DNNL_ARG_DIFF_WEIGHTS, d[1] ? &dw : NULL));
}

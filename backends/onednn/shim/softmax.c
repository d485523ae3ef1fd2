/* softmax.c: softmax and log_softmax along an axis; backward starts from the saved output. */
#include <string.h>

#include "shim.h"

static dnnl_alg_kind_t algorithm_of(const opproof_call *call) {
  return strcmp(call->op, "log_softmax") == 0 ? dnnl_softmax_log : dnnl_softmax_accurate;
}

static dnnl_primitive_desc_t forward_of(Scope *s, const opproof_call *call, const View *x, const View *y) {
  int axis = axis_of(int_param(call, "dim", -1), x->ndims);
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_softmax_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training, algorithm_of(call),
                                                        described(s, x), described(s, y), axis, NULL);
  } while (again(s, status));
  return keep(s, pd, status, "softmax");
}

void softmax_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View x = view_of(s, input(call, 0)), y = view_of(s, outputs[0]);
  RUN(s, forward_of(s, call, &x, &y), in(DNNL_ARG_SRC, &x), out(DNNL_ARG_DST, &y));
}

void softmax_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  View x = view_of(s, input(call, 0)), g = view_of(s, cotangents[0]), dx = view_of(s, d[0]);
  View y = plain_view(s, NULL, x);
  dnnl_primitive_desc_t hint = forward_of(s, call, &x, &y), pd = NULL;
  RUN(s, hint, in(DNNL_ARG_SRC, &x), out(DNNL_ARG_DST, &y));
  int axis = axis_of(int_param(call, "dim", -1), x.ndims);
  dnnl_status_t status;
  do {
    status = dnnl_softmax_backward_primitive_desc_create(&pd, engine(), algorithm_of(call), described(s, &dx),
                                                         described(s, &g), described(s, &y), axis, hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "softmax backward");
  RUN(s, pd, in(DNNL_ARG_DST, &y), in(DNNL_ARG_DIFF_DST, &g), out(DNNL_ARG_DIFF_SRC, &dx));
}

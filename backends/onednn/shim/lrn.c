/* lrn.c: local_response_norm, across channels. */
#include "shim.h"

typedef struct {
  dnnl_dim_t size;
  float alpha, beta, k;
} Response;

static Response response_of(Scope *s, const opproof_call *call) {
  if (int_param(call, "size", 1) % 2 == 0) decline(s, "oneDNN takes a window of even size for one of a channel less");
  return (Response){int_param(call, "size", 1), (float)float_param(call, "alpha", 1e-4),
                    (float)float_param(call, "beta", 0.75), (float)float_param(call, "k", 1)};
}

static dnnl_primitive_desc_t forward_of(Scope *s, Response r, const View *x, const View *y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_lrn_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training, dnnl_lrn_across_channels,
                                                    described(s, x), described(s, y), r.size, r.alpha, r.beta, r.k,
                                                    NULL);
  } while (again(s, status));
  return keep(s, pd, status, "lrn");
}

static dnnl_memory_t respond(Scope *s, dnnl_primitive_desc_t pd, const View *x, const View *y) {
  dnnl_memory_t workspace = memory_for(s, pd, DNNL_ARG_WORKSPACE);
  RUN(s, pd, in(DNNL_ARG_SRC, x), out(DNNL_ARG_DST, y), held(DNNL_ARG_WORKSPACE, workspace));
  return workspace;
}

void lrn_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View x = view_of(s, input(call, 0)), y = view_of(s, outputs[0]);
  respond(s, forward_of(s, response_of(s, call), &x, &y), &x, &y);
}

void lrn_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  Response r = response_of(s, call);
  View x = view_of(s, input(call, 0)), g = view_of(s, cotangents[0]), dx = view_of(s, d[0]);
  dnnl_primitive_desc_t hint = forward_of(s, r, &x, &dx), pd = NULL;
  dnnl_memory_t workspace = respond(s, hint, &x, NULL);
  dnnl_status_t status;
  do {
    status = dnnl_lrn_backward_primitive_desc_create(&pd, engine(), dnnl_lrn_across_channels, described(s, &dx),
                                                     described(s, &g), described(s, &x), r.size, r.alpha, r.beta, r.k,
                                                     hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "lrn backward");
  RUN(s, pd, in(DNNL_ARG_SRC, &x), in(DNNL_ARG_DIFF_DST, &g), held(DNNL_ARG_WORKSPACE, workspace),
      out(DNNL_ARG_DIFF_SRC, &dx));
}

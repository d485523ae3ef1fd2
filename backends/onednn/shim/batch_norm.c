/* batch_norm.c: per channel, by the batch's own moments in training and by given ones else. */
#include "shim.h"

enum { X, MEAN, VARIANCE, WEIGHT, BIAS };

typedef struct {
  View in[5];
  int has[5], training;
  float eps;
  unsigned flags;
} Norm;

static Norm norm_of(Scope *s, const opproof_call *call) {
  Norm n = {.training = (int)int_param(call, "training", 0), .eps = (float)float_param(call, "eps", 1e-5)};
  for (int i = X; i <= BIAS; ++i) {
    n.has[i] = input(call, i) != NULL && !(n.training && (i == MEAN || i == VARIANCE));
    if (n.has[i]) n.in[i] = view_of(s, input(call, i));
  }
  n.flags = (n.has[WEIGHT] ? dnnl_use_scale : 0u) | (n.has[BIAS] ? dnnl_use_shift : 0u);
  if (!n.training) n.flags |= dnnl_use_global_stats;
  return n;
}

static const View *given(const Norm *n, int i) { return n->has[i] ? &n->in[i] : NULL; }

static dnnl_primitive_desc_t forward_of(Scope *s, const Norm *n, const View *y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_batch_normalization_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training,
                                                                    described(s, &n->in[X]), described(s, y), n->eps,
                                                                    n->flags, NULL);
  } while (again(s, status));
  return keep(s, pd, status, "batch normalization");
}

static void normalise(Scope *s, const Norm *n, dnnl_primitive_desc_t pd, const View *y, dnnl_memory_t mean,
                      dnnl_memory_t variance) {
  RUN(s, pd, in(DNNL_ARG_SRC, &n->in[X]), in(DNNL_ARG_SCALE, given(n, WEIGHT)), in(DNNL_ARG_SHIFT, given(n, BIAS)),
      n->training ? held(DNNL_ARG_MEAN, mean) : in(DNNL_ARG_MEAN, given(n, MEAN)),
      n->training ? held(DNNL_ARG_VARIANCE, variance) : in(DNNL_ARG_VARIANCE, given(n, VARIANCE)),
      out(DNNL_ARG_DST, y));
}

void batch_norm_forward(Scope *s, const opproof_call *call, int n_outputs, DLTensor *const *outputs) {
  (void)n_outputs;
  Norm n = norm_of(s, call);
  View y = view_of(s, outputs[0]);
  dnnl_primitive_desc_t pd = forward_of(s, &n, &y);
  normalise(s, &n, pd, &y, memory_for(s, pd, DNNL_ARG_MEAN), memory_for(s, pd, DNNL_ARG_VARIANCE));
}

void batch_norm_vjp(Scope *s, const opproof_call *call, int n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *d) {
  (void)n_outputs;
  Norm n = norm_of(s, call);
  const DLTensor *for_x = d[X], *for_weight = d[WEIGHT];
  const DLTensor *for_bias = d[BIAS];
  View g = view_of(s, cotangents[0]), dx = dense(n.in[X]), dweight, dbias;
  if (for_x != NULL) dx = view_of(s, for_x);
  if (for_weight != NULL) dweight = view_of(s, for_weight);
  if (for_bias != NULL) dbias = view_of(s, for_bias);
  dnnl_primitive_desc_t hint = forward_of(s, &n, &dx), pd = NULL;
  dnnl_memory_t mean = memory_for(s, hint, DNNL_ARG_MEAN), variance = memory_for(s, hint, DNNL_ARG_VARIANCE);
  if (n.training) normalise(s, &n, hint, NULL, mean, variance);
  int parameters = n.has[WEIGHT] || n.has[BIAS];
  dnnl_status_t status;
  do {
    status = dnnl_batch_normalization_backward_primitive_desc_create(
        &pd, engine(), parameters ? dnnl_backward : dnnl_backward_data, described(s, &dx), described(s, &g),
        described(s, &n.in[X]), n.eps, n.flags, hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "batch normalization backward");
  RUN(s, pd, in(DNNL_ARG_SRC, &n.in[X]), in(DNNL_ARG_DIFF_DST, &g),
      n.training ? held(DNNL_ARG_MEAN, mean) : in(DNNL_ARG_MEAN, given(&n, MEAN)),
      n.training ? held(DNNL_ARG_VARIANCE, variance) : in(DNNL_ARG_VARIANCE, given(&n, VARIANCE)),
      in(DNNL_ARG_SCALE, given(&n, WEIGHT)), out(DNNL_ARG_DIFF_SRC, for_x ? &dx : NULL),
      out(DNNL_ARG_DIFF_SCALE, for_weight ? &dweight : NULL), out(DNNL_ARG_DIFF_SHIFT, for_bias ? &dbias : NULL));
}

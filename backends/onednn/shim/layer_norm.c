/* layer_norm.c: oneDNN normalises over the last axis, so the operator's last axes become one. */
#include "shim.h"

typedef struct {
  View x, weight, bias;
  int has_weight, has_bias;
  int lead, last; /* axes before and among the normalised ones */
  float eps;
  unsigned flags;
} Norm;

/* x, y or a gradient of x, as at least two axes of which the last is normalised. */
static View folded(Scope *s, const DLTensor *t, int lead, int last) {
  View v = view_of(s, t);
  merge_input(s, &v, lead, last);
  if (lead == 0) v = with_axis(v, 0);
  return v;
}

static View line(Scope *s, const DLTensor *t) {
  View v = view_of(s, t);
  merge_input(s, &v, 0, v.ndims);
  return v;
}

static Norm norm_of(Scope *s, const opproof_call *call) {
  Norm n = {.has_weight = input(call, 1) != NULL, .has_bias = input(call, 2) != NULL};
  const opproof_param *shape = param(call, "normalized_shape");
  n.last = shape == NULL ? 1 : shape->type == OPPROOF_INTS ? shape->count : 1;
  n.lead = input(call, 0)->ndim - n.last;
  n.x = folded(s, input(call, 0), n.lead, n.last);
  if (n.has_weight) n.weight = line(s, input(call, 1));
  if (n.has_bias) n.bias = line(s, input(call, 2));
  n.eps = (float)float_param(call, "eps", 1e-5);
  n.flags = (n.has_weight ? dnnl_use_scale : 0u) | (n.has_bias ? dnnl_use_shift : 0u);
  return n;
}

static dnnl_primitive_desc_t forward_of(Scope *s, const Norm *n, const View *y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_layer_normalization_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training,
                                                                    described(s, &n->x), described(s, y), NULL,
                                                                    n->eps, n->flags, NULL);
  } while (again(s, status));
  return keep(s, pd, status, "layer normalization");
}

static void normalise(Scope *s, const Norm *n, dnnl_primitive_desc_t pd, const View *y, dnnl_memory_t mean,
                      dnnl_memory_t variance) {
  RUN(s, pd, in(DNNL_ARG_SRC, &n->x), in(DNNL_ARG_SCALE, n->has_weight ? &n->weight : NULL),
      in(DNNL_ARG_SHIFT, n->has_bias ? &n->bias : NULL), held(DNNL_ARG_MEAN, mean),
      held(DNNL_ARG_VARIANCE, variance), out(DNNL_ARG_DST, y));
}

void layer_norm_forward(Scope *s, const opproof_call *call, int n_outputs, DLTensor *const *outputs) {
  (void)n_outputs;
  Norm n = norm_of(s, call);
  View y = folded(s, outputs[0], n.lead, n.last);
  dnnl_primitive_desc_t pd = forward_of(s, &n, &y);
  normalise(s, &n, pd, &y, memory_for(s, pd, DNNL_ARG_MEAN), memory_for(s, pd, DNNL_ARG_VARIANCE));
}

void layer_norm_vjp(Scope *s, const opproof_call *call, int n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *d) {
  (void)n_outputs;
  Norm n = norm_of(s, call);
  const DLTensor *for_x = d[0], *for_weight = d[1], *for_bias = d[2];
  View g = folded(s, cotangents[0], n.lead, n.last), dx = dense(n.x), dweight, dbias;
  if (for_x != NULL) dx = folded(s, for_x, n.lead, n.last);
  if (for_weight != NULL) dweight = line(s, for_weight);
  if (for_bias != NULL) dbias = line(s, for_bias);
  dnnl_primitive_desc_t hint = forward_of(s, &n, &dx), pd = NULL;
  dnnl_memory_t mean = memory_for(s, hint, DNNL_ARG_MEAN), variance = memory_for(s, hint, DNNL_ARG_VARIANCE);
  normalise(s, &n, hint, NULL, mean, variance);
  dnnl_status_t status;
  do {
    status = dnnl_layer_normalization_backward_primitive_desc_create(
        &pd, engine(), n.flags == 0 ? dnnl_backward_data : dnnl_backward, described(s, &dx), described(s, &g),
        described(s, &n.x), NULL, n.eps, n.flags, hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "layer normalization backward");
  RUN(s, pd, in(DNNL_ARG_SRC, &n.x), in(DNNL_ARG_DIFF_DST, &g), held(DNNL_ARG_MEAN, mean),
      held(DNNL_ARG_VARIANCE, variance), in(DNNL_ARG_SCALE, n.has_weight ? &n.weight : NULL),
      in(DNNL_ARG_SHIFT, n.has_bias ? &n.bias : NULL), /* which 3.2 asks for, though its page names no such input */
      out(DNNL_ARG_DIFF_SRC, for_x ? &dx : NULL), out(DNNL_ARG_DIFF_SCALE, for_weight ? &dweight : NULL),
      out(DNNL_ARG_DIFF_SHIFT, for_bias ? &dbias : NULL));
}

/* inner_product.c: linear, x weight' + bias, over the leading axes of x as one. */
#include "shim.h"

typedef struct {
  View x, weight, bias, y;
  int has_bias;
} Linear;

/* x or its gradient, y or its cotangent, as matrices. */
static View as_matrix(Scope *s, const DLTensor *t) {
  View v = view_of(s, t);
  merge_input(s, &v, 0, t->ndim - 1);
  return v;
}

static Linear views(Scope *s, const opproof_call *call, const DLTensor *y) {
  Linear l = {.has_bias = input(call, 2) != NULL};
  l.x = as_matrix(s, input(call, 0));
  l.weight = view_of(s, input(call, 1));
  if (l.has_bias) l.bias = view_of(s, input(call, 2));
  l.y = as_matrix(s, y);
  if (count(&l.weight) == 0) decline(s, "oneDNN's inner product refuses weights without elements");
  return l;
}

static dnnl_primitive_desc_t forward_of(Scope *s, const Linear *l) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_inner_product_forward_primitive_desc_create(
        &pd, engine(), dnnl_forward_training, any_format(s, &l->x), any_format(s, &l->weight),
        l->has_bias ? any_format(s, &l->bias) : NULL, any_format(s, &l->y), NULL);
  } while (again(s, status));
  return keep(s, pd, status, "inner product");
}

void inner_product_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  Linear l = views(s, call, outputs[0]);
  RUN(s, forward_of(s, &l), in(DNNL_ARG_SRC, &l.x), in(DNNL_ARG_WEIGHTS, &l.weight),
      in(DNNL_ARG_BIAS, l.has_bias ? &l.bias : NULL), out(DNNL_ARG_DST, &l.y));
}

static void data_gradient(Scope *s, const Linear *l, dnnl_primitive_desc_t hint, const View *dx) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_inner_product_backward_data_primitive_desc_create(&pd, engine(), any_format(s, dx),
                                                                    any_format(s, &l->weight), any_format(s, &l->y),
                                                                    hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "inner product backward by data");
  RUN(s, pd, in(DNNL_ARG_WEIGHTS, &l->weight), in(DNNL_ARG_DIFF_DST, &l->y), out(DNNL_ARG_DIFF_SRC, dx));
}

static void weight_gradients(Scope *s, const Linear *l, dnnl_primitive_desc_t hint, const View *dweight,
                             const View *dbias) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_inner_product_backward_weights_primitive_desc_create(
        &pd, engine(), any_format(s, &l->x), any_format(s, &l->weight), any_format(s, dbias), any_format(s, &l->y),
        hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "inner product backward by weights");
  RUN(s, pd, in(DNNL_ARG_SRC, &l->x), in(DNNL_ARG_DIFF_DST, &l->y), out(DNNL_ARG_DIFF_WEIGHTS, dweight),
      out(DNNL_ARG_DIFF_BIAS, dbias));
}

void inner_product_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents,
                       DLTensor *const *d) {
  (void)n;
  Linear l = views(s, call, cotangents[0]);
  dnnl_primitive_desc_t hint = forward_of(s, &l);
  const DLTensor *for_weight = d[1], *for_bias = d[2];
  if (d[0] != NULL) {
    View dx = as_matrix(s, d[0]);
    data_gradient(s, &l, hint, &dx);
  }
  if (for_weight == NULL && for_bias == NULL) return;
  View dweight = {.ndims = 0}, dbias = {.ndims = 0};
  if (for_weight != NULL) dweight = view_of(s, for_weight);
  if (for_bias != NULL) dbias = view_of(s, for_bias);
  weight_gradients(s, &l, hint, for_weight ? &dweight : NULL, for_bias ? &dbias : NULL);
}

/* matmul.c: batched, broadcast products. The gradients are products too, da = g b' and db = a' g, summed over
 * the axes of the batch along which the input was broadcast. */
#include "shim.h"

static void product(Scope *s, View a, View b, View y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_matmul_primitive_desc_create(&pd, engine(), any_format(s, &a), any_format(s, &b), NULL,
                                               described(s, &y), NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "matmul");
  RUN(s, pd, in(DNNL_ARG_SRC, &a), in(DNNL_ARG_WEIGHTS, &b), out(DNNL_ARG_DST, &y));
}

/* The product, summed over the axes of the batch that y has in size 1. */
static void product_into(Scope *s, View a, View b, View y) {
  View whole = y;
  for (int k = 0; k < y.ndims - 2; ++k) whole.dims[k] = a.dims[k] == 1 ? b.dims[k] : a.dims[k];
  if (count(&whole) == count(&y)) {
    product(s, a, b, y);
    return;
  }
  whole.type = dnnl_f32; /* bfloat16 would round before the sum */
  whole = plain_view(s, NULL, whole);
  product(s, a, b, whole);
  sum_into(s, whole, y);
}

/* a, b and y under the same number of axes: a vector a is a row, a vector b a column, a missing batch is 1. */
typedef struct {
  View a, b, y;
} Product;

static View matrix(Scope *s, View v, int is_vector, int axis, int ndims) {
  if (is_vector) v = with_axis(v, axis < 0 ? v.ndims : v.ndims - axis);
  return broadcast_to(s, v, ndims);
}

/* The views of a call; `y`, `a` and `b` may be the tensors or their gradients. */
static Product views(Scope *s, const opproof_call *call, const DLTensor *a, const DLTensor *b, const DLTensor *y) {
  int a_is_vector = input(call, 0)->ndim == 1, b_is_vector = input(call, 1)->ndim == 1;
  int ndims = input(call, 0)->ndim > input(call, 1)->ndim ? input(call, 0)->ndim : input(call, 1)->ndim;
  if (ndims < 2) ndims = 2;
  Product p = {.y = {.ndims = 0}};
  if (y != NULL) {
    p.y = view_of(s, y);
    if (a_is_vector && b_is_vector) p.y = with_axis(p.y, 0); /* a scalar is a vector already */
    else if (a_is_vector) p.y = with_axis(p.y, p.y.ndims - 1);
    else if (b_is_vector) p.y = with_axis(p.y, p.y.ndims);
  }
  if (a != NULL) p.a = matrix(s, view_of(s, a), a_is_vector, 1, ndims);
  if (b != NULL) p.b = matrix(s, view_of(s, b), b_is_vector, -1, ndims);
  return p;
}

static View transposed(View v) { return swapped(v, v.ndims - 2, v.ndims - 1); }

void matmul_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  Product p = views(s, call, input(call, 0), input(call, 1), outputs[0]);
  product(s, p.a, p.b, p.y);
}

void matmul_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  Product p = views(s, call, input(call, 0), input(call, 1), cotangents[0]), q = views(s, call, d[0], d[1], NULL);
  if (d[0] != NULL) product_into(s, p.y, transposed(p.b), q.a);
  if (d[1] != NULL) product_into(s, transposed(p.a), p.y, q.b);
}

/* a' b; vectors are matrices of one row. */
static View rows(Scope *s, const DLTensor *t, int ndims) {
  return broadcast_to(s, view_of(s, t), ndims > 2 ? ndims : 2);
}

void outer_product_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View y = view_of(s, outputs[0]);
  product(s, transposed(rows(s, input(call, 0), y.ndims)), rows(s, input(call, 1), y.ndims), y);
}

void outer_product_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents,
                       DLTensor *const *d) {
  (void)n;
  View g = view_of(s, cotangents[0]);
  View a = rows(s, input(call, 0), g.ndims), b = rows(s, input(call, 1), g.ndims);
  if (d[0] != NULL) product_into(s, b, transposed(g), rows(s, d[0], g.ndims));
  if (d[1] != NULL) product_into(s, a, g, rows(s, d[1], g.ndims));
}

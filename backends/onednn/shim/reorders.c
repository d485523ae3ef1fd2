/* reorders.c: operators that move elements, each a reorder between two views of the same elements. */
#include <string.h>

#include "shim.h"

/* y[axis i] is x[axis dims[i]]; of transpose, two axes change places; contiguous leaves all. */
static View permuted(const opproof_call *call, View x) {
  const opproof_param *dims = param(call, "dims");
  View y = x;
  if (dims == NULL && param(call, "dim0") == NULL) return x;
  if (dims == NULL) {
    return swapped(x, axis_of(int_param(call, "dim0", 0), x.ndims), axis_of(int_param(call, "dim1", 0), x.ndims));
  }
  for (int i = 0; i < dims->count && i < x.ndims; ++i) {
    int from = axis_of(dims->ints[i], x.ndims);
    y.dims[i] = x.dims[from];
    y.strides[i] = x.strides[from];
  }
  return y;
}

void permute_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  reorder(s, permuted(call, view_of(s, input(call, 0))), view_of(s, outputs[0]));
}

void permute_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  reorder(s, view_of(s, cotangents[0]), permuted(call, view_of(s, d[0])));
}

/* `to` is row-major: under the sizes of `from` it holds the same elements. */
static void reshape(Scope *s, View from, View to) {
  void *data = to.data;
  to = dense(from);
  to.data = data;
  reorder(s, from, to);
}

void reshape_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  reshape(s, view_of(s, input(call, 0)), view_of(s, outputs[0]));
}

void reshape_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  (void)call;
  reshape(s, view_of(s, cotangents[0]), view_of(s, d[0]));
}

static dnnl_data_type_t type_named(Scope *s, const opproof_call *call) {
  if (is_text(call, "to", "f16")) return dnnl_f16;
  if (is_text(call, "to", "bf16")) return dnnl_bf16;
  if (!is_text(call, "to", "f32")) decline(s, "oneDNN before 3.4 has no 8-bit floats, and this shim casts to f32, f16 and bf16");
  return dnnl_f32;
}

/* There and back again. */
static void cast(Scope *s, const opproof_call *call, View x, View y) {
  View between = x;
  between.type = type_named(s, call);
  between = plain_view(s, NULL, between);
  reorder(s, x, between);
  reorder(s, between, y);
}

void cast_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  cast(s, call, view_of(s, input(call, 0)), view_of(s, outputs[0]));
}

void cast_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  cast(s, call, view_of(s, cotangents[0]), view_of(s, d[0]));
}

/* A reorder from strides of 0. */
void expand_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View y = view_of(s, outputs[0]), x = broadcast_to(s, view_of(s, input(call, 0)), y.ndims);
  for (int k = 0; k < x.ndims; ++k) {
    if (x.dims[k] == 1) x.strides[k] = 0;
    x.dims[k] = y.dims[k];
  }
  reorder(s, x, y);
}

void expand_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  (void)call;
  View g = view_of(s, cotangents[0]);
  sum_into(s, g, broadcast_to(s, view_of(s, d[0]), g.ndims));
}

void slice_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View x = view_of(s, input(call, 0)), y = view_of(s, outputs[0]);
  int axis = axis_of(int_param(call, "dim", 0), x.ndims);
  dnnl_dim_t start = int_param(call, "start", 0), size = x.dims[axis];
  if (start < 0) start = start + size > 0 ? start + size : 0;
  x = part(x, axis, start < size ? start : size, y.dims[axis]);
  x.strides[axis] *= int_param(call, "step", 1);
  reorder(s, x, y);
}

/* (n, c, r, r, h, w) of the packed tensor, with its axes in the order (n, c, h, r, w, r) of the spread one. */
static View unpacked(View packed, dnnl_dim_t r) {
  View v = packed;
  if (r < 1 || v.dims[1] == 0) return v;
  v = split_axis(split_axis(v, 1, v.dims[1] / (r * r)), 2, r);
  v = swapped(v, 2, 4); /* n c h r r w */
  v = swapped(v, 3, 4); /* n c h r r w: the first r is of the height */
  return swapped(v, 4, 5);
}

static View spread(View v, dnnl_dim_t r) {
  if (r < 1) return v;
  v = split_axis(v, 3, v.dims[3] / r);
  return split_axis(v, 2, v.dims[2] / r);
}

void pixel_shuffle_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  dnnl_dim_t r = int_param(call, "upscale_factor", 1);
  reorder(s, unpacked(view_of(s, input(call, 0)), r), spread(view_of(s, outputs[0]), r));
}

void pixel_shuffle_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents,
                       DLTensor *const *d) {
  (void)n;
  dnnl_dim_t r = int_param(call, "upscale_factor", 1);
  reorder(s, spread(view_of(s, cotangents[0]), r), unpacked(view_of(s, d[0]), r));
}

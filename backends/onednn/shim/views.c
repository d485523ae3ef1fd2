/* views.c: tensors seen otherwise, by sizes and strides alone; no element is moved. */
#include "shim.h"

static dnnl_data_type_t type_of(Scope *s, DLDataType t) {
  if (t.code == kDLFloat && t.bits == 32) return dnnl_f32;
  if (t.code == kDLFloat && t.bits == 16) return dnnl_f16;
  if (t.code == kDLBfloat && t.bits == 16) return dnnl_bf16;
  if (t.code == kDLBool && t.bits == 8) return dnnl_u8;
  if (t.code == kDLFloat && t.bits == 64) decline(s, "oneDNN computes no float64 on a CPU");
  else decline(s, "oneDNN has no type for DLPack's code %d of %d bits", t.code, t.bits);
  return dnnl_data_type_undef;
}

View view_of(Scope *s, const DLTensor *t) {
  if (t == NULL) { /* only after the call was declined, or this shim is wrong */
    fail(s, "the shim was given no tensor where it needs one");
    return (View){.ndims = 1};
  }
  View v = {.ndims = t->ndim, .type = type_of(s, t->dtype), .data = (char *)t->data + t->byte_offset};
  if (t->ndim > DNNL_MAX_NDIMS) {
    decline(s, "oneDNN has tensors of at most %d axes", DNNL_MAX_NDIMS);
    v.ndims = 0;
  }
  for (int d = 0; d < v.ndims; ++d) {
    v.dims[d] = t->shape[d];
    v.strides[d] = t->strides[d];
    if (t->strides[d] < 0 && t->shape[d] > 1) decline(s, "oneDNN has no negative strides");
  }
  if (t->ndim == 0) v = with_axis(v, 0);
  return v;
}

View dense(View v) {
  dnnl_dim_t stride = 1;
  for (int d = v.ndims - 1; d >= 0; --d) {
    v.strides[d] = stride;
    stride *= v.dims[d] > 0 ? v.dims[d] : 1;
  }
  return v;
}

View with_axis(View v, int at) {
  if (v.ndims == DNNL_MAX_NDIMS) return v;
  for (int d = v.ndims; d > at; --d) {
    v.dims[d] = v.dims[d - 1];
    v.strides[d] = v.strides[d - 1];
  }
  v.dims[at] = 1;
  v.strides[at] = at < v.ndims ? v.dims[at + 1] * v.strides[at + 1] : 1;
  v.ndims += 1;
  return v;
}

View split_axis(View v, int axis, dnnl_dim_t outer) {
  dnnl_dim_t size = outer > 0 ? v.dims[axis] / outer : 0, stride = v.strides[axis];
  v = with_axis(v, axis);
  v.dims[axis] = outer;
  v.strides[axis] = size * stride;
  v.dims[axis + 1] = size;
  return v;
}

View swapped(View v, int a, int b) {
  View w = v;
  w.dims[a] = v.dims[b], w.dims[b] = v.dims[a];
  w.strides[a] = v.strides[b], w.strides[b] = v.strides[a];
  return w;
}

View part(View v, int axis, dnnl_dim_t start, dnnl_dim_t size) {
  v.data = (char *)v.data + start * v.strides[axis] * (dnnl_dim_t)dnnl_data_type_size(v.type);
  v.dims[axis] = size;
  return v;
}

View broadcast_to(Scope *s, View v, int ndims) {
  if (ndims > DNNL_MAX_NDIMS) decline(s, "oneDNN has tensors of at most %d axes", DNNL_MAX_NDIMS);
  while (ok(s) && v.ndims < ndims) v = with_axis(v, 0);
  return v;
}

int overlaps(const View *v) {
  for (int d = 0; d < v->ndims; ++d) {
    if (v->strides[d] == 0 && v->dims[d] > 1) return 1;
  }
  return 0;
}

dnnl_dim_t count(const View *v) {
  dnnl_dim_t n = 1;
  for (int d = 0; d < v->ndims; ++d) n *= v->dims[d];
  return n;
}

int merge(View *v, int first, int n) {
  View w = *v;
  if (n == 0) {
    *v = with_axis(w, first);
    return 1;
  }
  dnnl_dim_t size = 1, stride = 0;
  for (int d = first + n - 1; d >= first; --d) { /* from the innermost axis outwards */
    if (w.dims[d] == 1) continue;
    if (size > 1 && w.dims[d] > 0 && w.strides[d] != stride * size) return 0;
    if (size == 1) stride = w.strides[d];
    size *= w.dims[d];
  }
  v->dims[first] = size;
  v->strides[first] = size == 1 ? 1 : stride;
  for (int d = first + n; d < w.ndims; ++d) {
    v->dims[d - n + 1] = w.dims[d];
    v->strides[d - n + 1] = w.strides[d];
  }
  v->ndims = w.ndims - n + 1;
  return 1;
}

/* concat.c: concat and stack by the concat primitive, split by a reorder for each part, and the reverse. */
#include <string.h>

#include "shim.h"

#define MAX_PARTS 16

static int stacks(const opproof_call *call) { return strcmp(call->op, "stack") == 0; }

static View piece(Scope *s, const opproof_call *call, const DLTensor *t, int axis) {
  View v = view_of(s, t);
  if (!stacks(call)) return v;
  return t->ndim == 0 ? v : with_axis(v, axis); /* a scalar has an axis already */
}

static void concatenate(Scope *s, int n, const View *parts, View y, int axis) {
  dnnl_memory_desc_t mds[MAX_PARTS];
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    for (int i = 0; i < n; ++i) mds[i] = described(s, &parts[i]);
    if (!ok(s)) return;
    status = dnnl_concat_primitive_desc_create(&pd, engine(), described(s, &y), n, axis,
                                               (const_dnnl_memory_desc_t const *)mds, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "concat");
  Arg args[MAX_PARTS + 1];
  for (int i = 0; i < n; ++i) args[i] = in(DNNL_ARG_MULTIPLE_SRC + i, &parts[i]);
  args[n] = out(DNNL_ARG_DST, &y);
  run(s, pd, n + 1, args);
}

/* Each of n views from (or to, where `back`) its place along the axis of the whole. */
static void cut(Scope *s, View whole, int axis, int n, const View *parts) {
  dnnl_dim_t start = 0;
  for (int i = 0; i < n; ++i) {
    dnnl_dim_t size = parts[i].dims[axis];
    if (parts[i].data != NULL) reorder(s, part(whole, axis, start, size), parts[i]);
    start += size;
  }
}

static int few(Scope *s, int n) {
  if (n > MAX_PARTS) decline(s, "this shim puts together at most %d tensors", MAX_PARTS);
  return n <= MAX_PARTS;
}

void concat_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  View parts[MAX_PARTS], y = view_of(s, outputs[0]);
  int axis = axis_of(int_param(call, "dim", 0), y.ndims);
  if (!few(s, call->n_inputs)) return;
  for (int i = 0; i < call->n_inputs; ++i) parts[i] = piece(s, call, input(call, i), axis);
  concatenate(s, call->n_inputs, parts, y, axis);
}

void concat_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  View parts[MAX_PARTS], g = view_of(s, cotangents[0]);
  int axis = axis_of(int_param(call, "dim", 0), g.ndims);
  if (!few(s, call->n_inputs)) return;
  for (int i = 0; i < call->n_inputs; ++i) {
    parts[i] = piece(s, call, d[i] != NULL ? d[i] : input(call, i), axis);
    if (d[i] == NULL) parts[i].data = NULL;
  }
  cut(s, g, axis, call->n_inputs, parts);
}

void split_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  View parts[MAX_PARTS], x = view_of(s, input(call, 0));
  if (!few(s, n)) return;
  for (int i = 0; i < n; ++i) parts[i] = view_of(s, outputs[i]);
  cut(s, x, axis_of(int_param(call, "dim", 0), x.ndims), n, parts);
}

void split_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  View parts[MAX_PARTS], dx = view_of(s, d[0]);
  if (!few(s, n)) return;
  for (int i = 0; i < n; ++i) parts[i] = view_of(s, cotangents[i]);
  concatenate(s, n, parts, dx, axis_of(int_param(call, "dim", 0), dx.ndims));
}

/* sum.c: the sum over `dim`: one axis, several, or all where it is None. */
#include "real.h"

/* Write whether each axis of x is summed. Returns 0 where a dim is out of range. */
static int summed_axes(const opproof_call *call, const DLTensor *x, int summed[MAX_DIMS]) {
  const opproof_param *dim = param(call, "dim");
  for (int d = 0; d < x->ndim; ++d) summed[d] = dim == NULL;
  if (dim == NULL) return 1;
  int64_t n = dim->type == OPPROOF_INTS ? dim->count : 1;
  for (int64_t k = 0; k < n; ++k) {
    int axis = axis_of(dim->type == OPPROOF_INTS ? dim->ints[k] : dim->i, x);
    if (axis < 0) return 0;
    if (x->ndim > 0) summed[axis] = 1;
  }
  return 1;
}

/* `reduced` (y, or its cotangent) spread over the shape of x: stride 0 along the summed axes.
 * The strides are written to `strides`, which must outlive the result. */
static DLTensor spread(const DLTensor *reduced, const DLTensor *x, const int summed[MAX_DIMS], int keepdim,
                       int64_t strides[MAX_DIMS]) {
  for (int d = 0, r = 0; d < x->ndim; ++d) {
    strides[d] = summed[d] ? 0 : reduced->strides[r];
    if (keepdim || !summed[d]) ++r;
  }
  DLTensor view = *reduced;
  view.ndim = x->ndim;
  view.shape = x->shape;
  view.strides = strides;
  return view;
}

int32_t FN(sum_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  const DLTensor *x = input(call, 0);
  int summed[MAX_DIMS];
  int64_t strides[MAX_DIMS];
  if (!summed_axes(call, x, summed)) return failed(why, "dim is out of range");
  DLTensor into = spread(y, x, summed, int_param(call, "keepdim", 0) != 0, strides);
  Total *totals = new_totals(y);
  if (totals == NULL) return failed(why, "out of memory");
  for (int64_t i = 0, n = count(x); i < n; ++i) {
    int64_t k = offset_of(&into, i);
    add_to(&totals[k], load(x, offset_of(x, i)));
    if (DEFECT("narrow_sum")) { /* keeps the running sum in the type of y */
      store(y, k, totals[k].sum);
      totals[k] = (Total){load(y, k), 0};
    }
  }
  store_totals(y, totals);
  free(totals);
  return OPPROOF_OK;
}

int32_t FN(sum_vjp)(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why) {
  const DLTensor *x = input(call, 0), *dx = gradients[0];
  if (dx == NULL) return OPPROOF_OK;
  int summed[MAX_DIMS];
  int64_t strides[MAX_DIMS];
  if (!summed_axes(call, x, summed)) return failed(why, "dim is out of range");
  DLTensor from = spread(g, x, summed, int_param(call, "keepdim", 0) != 0, strides);
  for (int64_t i = 0, n = count(dx); i < n; ++i) store(dx, i, load(g, offset_of(&from, i)));
  return OPPROOF_OK;
}

/* pooling.c: max_pool1d and 2d (their winners from the workspace), avg_pool1d and 2d, adaptive_avg_pool2d. */
#include <string.h>

#include "window.h"

typedef struct {
  dnnl_alg_kind_t algorithm;
  View x, y;
  Window window;
  int hangs_over; /* whether a window reaches beyond the padding, by ceil_mode */
} Pooling;

/* Windows over the last axes of x; where ceil_mode lets one hang over, there is more padding behind. */
static Pooling pooling_of(Scope *s, const opproof_call *call, const DLTensor *x, const DLTensor *y) {
  Pooling p = {.algorithm = dnnl_pooling_max, .x = view_of(s, x), .y = view_of(s, y)};
  dnnl_dims_t kernel = {1, 1, 1};
  int n = p.x.ndims - 2;
  if (n >= 1 && n <= MAX_SPATIAL) sizes_param(call, "kernel_size", n, 1, kernel);
  p.window = window_of(s, call, n, kernel);
  if (param(call, "stride") == NULL) memcpy(p.window.stride, kernel, sizeof kernel);
  for (int i = 0; i < p.window.n; ++i) {
    dnnl_dim_t reached = (p.y.dims[2 + i] - 1) * p.window.stride[i] + extent(&p.window, i);
    dnnl_dim_t needed = reached - p.x.dims[2 + i] - p.window.before[i];
    if (needed <= p.window.after[i]) continue;
    p.hangs_over = 1;
    p.window.after[i] = needed;
  }
  return p;
}

static Pooling averages(Scope *s, const opproof_call *call, const DLTensor *x, const DLTensor *y) {
  Pooling p = pooling_of(s, call, x, y);
  int with_padding = (int)int_param(call, "count_include_pad", 1);
  p.algorithm = with_padding ? dnnl_pooling_avg_include_padding : dnnl_pooling_avg_exclude_padding;
  if (param(call, "divisor_override") != NULL) decline(s, "oneDNN's pooling has no divisor of one's own");
  if (with_padding && p.hangs_over) {
    decline(s, "oneDNN divides by the whole window also where it hangs over the padding");
  }
  return p;
}

/* Parts of one size only, which is where the sizes of y divide those of x. */
static Pooling adaptive(Scope *s, const DLTensor *x, const DLTensor *y) {
  Pooling p = {.algorithm = dnnl_pooling_avg_exclude_padding, .x = view_of(s, x), .y = view_of(s, y)};
  p.window.n = p.x.ndims - 2;
  for (int i = 0; ok(s) && i < p.window.n; ++i) {
    dnnl_dim_t from = p.x.dims[2 + i], to = p.y.dims[2 + i];
    if (to == 0 || from % to != 0) decline(s, "oneDNN's pooling has windows of one size only");
    else p.window.kernel[i] = p.window.stride[i] = from / to;
  }
  return p;
}

static dnnl_primitive_desc_t forward_of(Scope *s, const Pooling *p) {
  const Window *w = &p->window;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_pooling_forward_primitive_desc_create(&pd, engine(), dnnl_forward_training, p->algorithm,
                                                        described(s, &p->x), described(s, &p->y), w->stride,
                                                        w->kernel, w->dilation, w->before, w->after, NULL);
  } while (again(s, status));
  return keep(s, pd, status, "pooling");
}

/* The workspace, which backward needs of max pooling; NULL for averages. */
static dnnl_memory_t pool(Scope *s, const Pooling *p, dnnl_primitive_desc_t pd, const View *y) {
  dnnl_memory_t workspace = memory_for(s, pd, DNNL_ARG_WORKSPACE);
  RUN(s, pd, in(DNNL_ARG_SRC, &p->x), out(DNNL_ARG_DST, y), held(DNNL_ARG_WORKSPACE, workspace));
  return workspace;
}

static void pool_back(Scope *s, const Pooling *p, const View *g, const View *dx) {
  const Window *w = &p->window;
  dnnl_primitive_desc_t hint = forward_of(s, p), pd = NULL;
  dnnl_memory_t workspace = p->algorithm == dnnl_pooling_max ? pool(s, p, hint, NULL) : NULL;
  dnnl_status_t status;
  do {
    status = dnnl_pooling_backward_primitive_desc_create(&pd, engine(), p->algorithm, described(s, dx),
                                                         described(s, g), w->stride, w->kernel, w->dilation,
                                                         w->before, w->after, hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "pooling backward");
  RUN(s, pd, in(DNNL_ARG_DIFF_DST, g), held(DNNL_ARG_WORKSPACE, workspace), out(DNNL_ARG_DIFF_SRC, dx));
}

/* oneDNN's winner is a cell of the window, counted row by row; the operator's a cell of the plane. */
static int64_t place(const Pooling *p, const dnnl_dim_t *at, int64_t cell) {
  const Window *w = &p->window;
  int64_t index = 0, axis_size = 1;
  for (int i = w->n - 1; i >= 0; --i) {
    int64_t inside = cell % w->kernel[i];
    cell /= w->kernel[i];
    index += axis_size * (at[i] * w->stride[i] - w->before[i] + inside * (w->dilation[i] + 1));
    axis_size *= p->x.dims[2 + i];
  }
  return index;
}

static void winners(Scope *s, const Pooling *p, dnnl_memory_t workspace, const DLTensor *indices) {
  View like = p->y;
  like.type = dnnl_s32;
  View cells = plain_view(s, workspace, like);
  int64_t *into = (int64_t *)((char *)indices->data + indices->byte_offset), n = count(&p->y);
  for (int64_t i = 0; ok(s) && i < n; ++i) {
    dnnl_dim_t at[MAX_SPATIAL];
    int64_t rest = i;
    for (int k = p->window.n - 1; k >= 0; --k) {
      at[k] = rest % p->y.dims[2 + k];
      rest /= p->y.dims[2 + k];
    }
    into[i] = place(p, at, ((const int32_t *)cells.data)[i]);
  }
}

void max_pool_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  Pooling p = pooling_of(s, call, input(call, 0), outputs[0]);
  dnnl_memory_t workspace = pool(s, &p, forward_of(s, &p), &p.y);
  if (n > 1) winners(s, &p, workspace, outputs[1]);
}

void max_pool_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  Pooling p = pooling_of(s, call, input(call, 0), cotangents[0]);
  View dx = view_of(s, d[0]);
  pool_back(s, &p, &p.y, &dx);
}

void avg_pool_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  Pooling p = averages(s, call, input(call, 0), outputs[0]);
  pool(s, &p, forward_of(s, &p), &p.y);
}

void avg_pool_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  Pooling p = averages(s, call, input(call, 0), cotangents[0]);
  View dx = view_of(s, d[0]);
  pool_back(s, &p, &p.y, &dx);
}

void adaptive_pool_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  Pooling p = adaptive(s, input(call, 0), outputs[0]);
  pool(s, &p, forward_of(s, &p), &p.y);
}

void adaptive_pool_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents,
                       DLTensor *const *d) {
  (void)n;
  Pooling p = adaptive(s, input(call, 0), cotangents[0]);
  View dx = view_of(s, d[0]);
  pool_back(s, &p, &p.y, &dx);
}

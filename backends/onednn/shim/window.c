/* window.c: what convolution, deconvolution and pooling have in common. */
#include <string.h>

#include "window.h"

Window window_of(Scope *s, const opproof_call *call, int n, const dnnl_dim_t *kernel) {
  Window w = {.n = n};
  if (n < 1 || n > MAX_SPATIAL) {
    decline(s, "oneDNN has windows over 1 to %d axes", MAX_SPATIAL);
    w.n = 0;
    return w;
  }
  memcpy(w.kernel, kernel, (size_t)n * sizeof *kernel);
  sizes_param(call, "stride", n, 1, w.stride);
  sizes_param(call, "dilation", n, 1, w.dilation);
  sizes_param(call, "padding", n, 0, w.before);
  const opproof_param *padding = param(call, "padding");
  int two_sides = padding != NULL && padding->type == OPPROOF_INTS && padding->count == 2 * n;
  for (int i = 0; i < n; ++i) {
    w.dilation[i] -= 1;
    w.after[i] = two_sides ? padding->ints[n + i] : w.before[i];
  }
  return w;
}

dnnl_dim_t extent(const Window *w, int axis) { return (w->kernel[axis] - 1) * (w->dilation[axis] + 1) + 1; }

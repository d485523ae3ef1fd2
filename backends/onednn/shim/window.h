/* window.h: strides, dilations and padding of windows, as oneDNN counts them. */
#ifndef WINDOW_H
#define WINDOW_H

#include "shim.h"

/* oneDNN's dilation is the number of cells left out: 0 where the operator's is 1. */
typedef struct {
  int n; /* spatial axes */
  dnnl_dims_t kernel, stride, dilation;
  dnnl_dims_t before, after; /* padding */
} Window;

/* Of an operator on tensors of n spatial axes, from its parameters and the kernel's sizes. */
Window window_of(Scope *s, const opproof_call *call, int n, const dnnl_dim_t *kernel);

/* Cells from the first to the last of a window. */
dnnl_dim_t extent(const Window *w, int axis);

#endif

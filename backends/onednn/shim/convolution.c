/* convolution.c: conv1d, conv2d, conv2d_depthwise, conv3d and the transposed conv1d and conv2d, with groups.
 *
 * oneDNN's convolution and deconvolution differ in name alone. In backward, y is the cotangent.
 */
#include <string.h>

#include "window.h"

typedef struct {
  dnnl_alg_kind_t algorithm;
  dnnl_status_t (*forward)(dnnl_primitive_desc_t *, dnnl_engine_t, dnnl_prop_kind_t, dnnl_alg_kind_t,
                           const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t,
                           const_dnnl_memory_desc_t, const dnnl_dims_t, const dnnl_dims_t, const dnnl_dims_t,
                           const dnnl_dims_t, const_dnnl_primitive_attr_t);
  dnnl_status_t (*by_data)(dnnl_primitive_desc_t *, dnnl_engine_t, dnnl_alg_kind_t, const_dnnl_memory_desc_t,
                           const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const dnnl_dims_t, const dnnl_dims_t,
                           const dnnl_dims_t, const dnnl_dims_t, const_dnnl_primitive_desc_t,
                           const_dnnl_primitive_attr_t);
  dnnl_status_t (*by_weights)(dnnl_primitive_desc_t *, dnnl_engine_t, dnnl_alg_kind_t, const_dnnl_memory_desc_t,
                              const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t,
                              const dnnl_dims_t, const dnnl_dims_t, const dnnl_dims_t, const dnnl_dims_t,
                              const_dnnl_primitive_desc_t, const_dnnl_primitive_attr_t);
} Primitives;

static const Primitives CONVOLUTION = {
    dnnl_convolution_direct, dnnl_convolution_forward_primitive_desc_create,
    dnnl_convolution_backward_data_primitive_desc_create, dnnl_convolution_backward_weights_primitive_desc_create};
static const Primitives DECONVOLUTION = {
    dnnl_deconvolution_direct, dnnl_deconvolution_forward_primitive_desc_create,
    dnnl_deconvolution_backward_data_primitive_desc_create, dnnl_deconvolution_backward_weights_primitive_desc_create};

typedef struct {
  const Primitives *primitives;
  dnnl_dim_t groups;
  View x, weight, bias, y;
  int has_bias;
  Window window;
} Convolution;

/* oneDNN's weights are (groups, outputs / groups, inputs / groups, kernel), without groups (outputs, inputs, kernel).
 * The operator's have no axis of groups, and a transposed one's have the inputs first. */
static View arranged(const Convolution *c, View weight) {
  int first = c->groups == 1 ? 0 : 1;
  if (first) weight = split_axis(weight, 0, c->groups);
  return c->primitives == &DECONVOLUTION ? swapped(weight, first, first + 1) : weight;
}

/* output_padding is less padding behind. */
static void pad_behind(Scope *s, const opproof_call *call, Convolution *c) {
  dnnl_dims_t more;
  sizes_param(call, "output_padding", c->window.n, 0, more);
  for (int i = 0; i < c->window.n; ++i) {
    if (more[i] >= c->window.stride[i]) decline(s, "oneDNN's deconvolution wants an output_padding below the stride");
    dnnl_dim_t whole = (c->x.dims[2 + i] - 1) * c->window.stride[i] + extent(&c->window, i);
    c->window.after[i] = whole - c->window.before[i] - c->y.dims[2 + i];
  }
}

static Convolution views(Scope *s, const opproof_call *call, const DLTensor *y) {
  Convolution c = {.primitives = strstr(call->op, "transpose") ? &DECONVOLUTION : &CONVOLUTION};
  c.x = view_of(s, input(call, 0));
  c.y = view_of(s, y);
  c.groups = strcmp(call->op, "conv2d_depthwise") == 0 ? c.x.dims[1] : int_param(call, "groups", 1);
  View weight = view_of(s, input(call, 1));
  c.window = window_of(s, call, weight.ndims - 2, weight.dims + 2);
  c.weight = arranged(&c, weight);
  c.has_bias = input(call, 2) != NULL;
  if (c.has_bias) c.bias = view_of(s, input(call, 2));
  if (c.primitives == &DECONVOLUTION) pad_behind(s, call, &c);
  return c;
}

static dnnl_primitive_desc_t forward_of(Scope *s, const Convolution *c) {
  const Window *w = &c->window;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = c->primitives->forward(&pd, engine(), dnnl_forward_training, c->primitives->algorithm,
                                    any_format(s, &c->x), any_format(s, &c->weight),
                                    any_format(s, c->has_bias ? &c->bias : NULL), any_format(s, &c->y), w->stride,
                                    w->dilation, w->before, w->after, NULL);
  } while (again(s, status));
  return keep(s, pd, status, "convolution");
}

void convolution_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  Convolution c = views(s, call, outputs[0]);
  RUN(s, forward_of(s, &c), in(DNNL_ARG_SRC, &c.x), in(DNNL_ARG_WEIGHTS, &c.weight),
      in(DNNL_ARG_BIAS, c.has_bias ? &c.bias : NULL), out(DNNL_ARG_DST, &c.y));
}

static void data_gradient(Scope *s, const Convolution *c, dnnl_primitive_desc_t hint, const View *dx) {
  const Window *w = &c->window;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = c->primitives->by_data(&pd, engine(), c->primitives->algorithm, any_format(s, dx),
                                    any_format(s, &c->weight), any_format(s, &c->y), w->stride, w->dilation,
                                    w->before, w->after, hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "convolution backward by data");
  RUN(s, pd, in(DNNL_ARG_WEIGHTS, &c->weight), in(DNNL_ARG_DIFF_DST, &c->y), out(DNNL_ARG_DIFF_SRC, dx));
}

static void weight_gradients(Scope *s, const Convolution *c, dnnl_primitive_desc_t hint, const View *dweight,
                             const View *dbias) {
  const Window *w = &c->window;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = c->primitives->by_weights(&pd, engine(), c->primitives->algorithm, any_format(s, &c->x),
                                       any_format(s, &c->weight), any_format(s, dbias), any_format(s, &c->y),
                                       w->stride, w->dilation, w->before, w->after, hint, NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "convolution backward by weights");
  RUN(s, pd, in(DNNL_ARG_SRC, &c->x), in(DNNL_ARG_DIFF_DST, &c->y), out(DNNL_ARG_DIFF_WEIGHTS, dweight),
      out(DNNL_ARG_DIFF_BIAS, dbias));
}

void convolution_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents,
                     DLTensor *const *d) {
  (void)n;
  Convolution c = views(s, call, cotangents[0]);
  dnnl_primitive_desc_t hint = forward_of(s, &c);
  const DLTensor *for_weight = d[1], *for_bias = d[2];
  if (d[0] != NULL) {
    View dx = view_of(s, d[0]);
    data_gradient(s, &c, hint, &dx);
  }
  if (for_weight == NULL && for_bias == NULL) return;
  View dweight = {.ndims = 0}, dbias = {.ndims = 0};
  if (for_weight != NULL) dweight = arranged(&c, view_of(s, for_weight));
  if (for_bias != NULL) dbias = view_of(s, for_bias);
  weight_gradients(s, &c, hint, for_weight ? &dweight : NULL, for_bias ? &dbias : NULL);
}

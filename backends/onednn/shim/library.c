/* library.c: the functions that opproof calls, and which of oneDNN's primitives an operator is. */
#include <stdio.h>
#include <string.h>

#include "shim.h"

/* Without a vjp, `no_vjp` says why. */
typedef struct {
  const char *name;
  Forward *forward;
  Vjp *vjp;
  const char *no_vjp;
} Operator;

#define FORWARD_ONLY(primitive) "oneDNN's " primitive " has no backward"

static const Operator OPERATORS[] = {
    {"abs", eltwise_forward, eltwise_vjp, NULL},
    {"adaptive_avg_pool2d", adaptive_pool_forward, adaptive_pool_vjp, NULL},
    {"add", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"add1", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"amax", reduction_forward, NULL, FORWARD_ONLY("reduction")},
    {"amin", reduction_forward, NULL, FORWARD_ONLY("reduction")},
    {"avg_pool1d", avg_pool_forward, avg_pool_vjp, NULL},
    {"avg_pool2d", avg_pool_forward, avg_pool_vjp, NULL},
    {"batch_norm", batch_norm_forward, batch_norm_vjp, NULL},
    {"bmm", matmul_forward, matmul_vjp, NULL},
    {"cast", cast_forward, cast_vjp, NULL},
    {"clamp", eltwise_forward, eltwise_vjp, NULL},
    {"concat", concat_forward, concat_vjp, NULL},
    {"contiguous", permute_forward, permute_vjp, NULL},
    {"conv1d", convolution_forward, convolution_vjp, NULL},
    {"conv2d", convolution_forward, convolution_vjp, NULL},
    {"conv2d_depthwise", convolution_forward, convolution_vjp, NULL},
    {"conv3d", convolution_forward, convolution_vjp, NULL},
    {"conv_transpose1d", convolution_forward, convolution_vjp, NULL},
    {"conv_transpose2d", convolution_forward, convolution_vjp, NULL},
    {"div", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"dot", matmul_forward, matmul_vjp, NULL},
    {"elu", eltwise_forward, eltwise_vjp, NULL},
    {"eq", binary_forward, NULL, NULL},
    {"exp", eltwise_forward, eltwise_vjp, NULL},
    {"expand", expand_forward, expand_vjp, NULL},
    {"ge", binary_forward, NULL, NULL},
    {"gelu", eltwise_forward, eltwise_vjp, NULL},
    {"gelu_quick", eltwise_forward, eltwise_vjp, NULL},
    {"gt", binary_forward, NULL, NULL},
    {"hardsigmoid", eltwise_forward, eltwise_vjp, NULL},
    {"hardswish", eltwise_forward, eltwise_vjp, NULL},
    {"hardtanh", eltwise_forward, eltwise_vjp, NULL},
    {"layer_norm", layer_norm_forward, layer_norm_vjp, NULL},
    {"le", binary_forward, NULL, NULL},
    {"leaky_relu", eltwise_forward, eltwise_vjp, NULL},
    {"linear", inner_product_forward, inner_product_vjp, NULL},
    {"local_response_norm", lrn_forward, lrn_vjp, NULL},
    {"log", eltwise_forward, eltwise_vjp, NULL},
    {"log_softmax", softmax_forward, softmax_vjp, NULL},
    {"logsigmoid", eltwise_forward, eltwise_vjp, NULL},
    {"lt", binary_forward, NULL, NULL},
    {"matmul", matmul_forward, matmul_vjp, NULL},
    {"max_pool1d", max_pool_forward, max_pool_vjp, NULL},
    {"max_pool2d", max_pool_forward, max_pool_vjp, NULL},
    {"maximum", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"mean", reduction_forward, NULL, FORWARD_ONLY("reduction")},
    {"minimum", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"mish", eltwise_forward, eltwise_vjp, NULL},
    {"mul", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"ne", binary_forward, NULL, NULL},
    {"neg", eltwise_forward, eltwise_vjp, NULL},
    {"norm", reduction_forward, NULL, FORWARD_ONLY("reduction")},
    {"outer_product", outer_product_forward, outer_product_vjp, NULL},
    {"permute", permute_forward, permute_vjp, NULL},
    {"pixel_shuffle", pixel_shuffle_forward, pixel_shuffle_vjp, NULL},
    {"pow", eltwise_forward, eltwise_vjp, NULL},
    {"prelu", prelu_forward, prelu_vjp, NULL},
    {"prod", reduction_forward, NULL, FORWARD_ONLY("reduction")},
    {"reciprocal", eltwise_forward, eltwise_vjp, NULL},
    {"relu", eltwise_forward, eltwise_vjp, NULL},
    {"relu6", eltwise_forward, eltwise_vjp, NULL},
    {"reshape", reshape_forward, reshape_vjp, NULL},
    {"round", eltwise_forward, NULL, FORWARD_ONLY("round")},
    {"scale", eltwise_forward, eltwise_vjp, NULL},
    {"sigmoid", eltwise_forward, eltwise_vjp, NULL},
    {"silu", eltwise_forward, eltwise_vjp, NULL},
    {"slice", slice_forward, NULL, FORWARD_ONLY("reorder of a part")},
    {"softmax", softmax_forward, softmax_vjp, NULL},
    {"softplus", eltwise_forward, eltwise_vjp, NULL},
    {"split", split_forward, split_vjp, NULL},
    {"sqrt", eltwise_forward, eltwise_vjp, NULL},
    {"square", eltwise_forward, eltwise_vjp, NULL},
    {"stack", concat_forward, concat_vjp, NULL},
    {"sub", binary_forward, NULL, FORWARD_ONLY("binary primitive")},
    {"sum", reduction_forward, NULL, FORWARD_ONLY("reduction")},
    {"tanh", eltwise_forward, eltwise_vjp, NULL},
    {"transpose", permute_forward, permute_vjp, NULL},
    {"upsample_bilinear", resampling_forward, resampling_vjp, NULL},
    {"upsample_nearest", resampling_forward, resampling_vjp, NULL},
};

static const Operator *find(Scope *s, const char *name) {
  for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; ++i) {
    if (strcmp(OPERATORS[i].name, name) == 0) return &OPERATORS[i];
  }
  decline(s, "oneDNN has no primitive for %s", name);
  return NULL;
}

int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  Scope s = {.code = OPPROOF_OK, .message = message, .message_size = message_size};
  const Operator *op = find(&s, call->op);
  if (ok(&s)) op->forward(&s, call, n_outputs, outputs);
  close_scope(&s);
  return s.code;
}

int32_t opproof_vjp(const opproof_call *call, int32_t n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *gradients, char *message, size_t message_size) {
  Scope s = {.code = OPPROOF_OK, .message = message, .message_size = message_size};
  const Operator *op = find(&s, call->op);
  if (ok(&s) && op->vjp == NULL) decline(&s, "%s", op->no_vjp != NULL ? op->no_vjp : "it has no gradient");
  if (ok(&s)) op->vjp(&s, call, n_outputs, cotangents, gradients);
  close_scope(&s);
  return s.code;
}

int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }

int32_t opproof_init(char *message, size_t message_size) { return open_engine(message, message_size); }

const char *opproof_name(void) { return "onednn"; }

const char *opproof_version(void) {
  static char text[32];
  const dnnl_version_t *v = dnnl_version();
  snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
  return text;
}

/* oneDNN asks for the alignment of the element type alone, so nothing behind a buffer goes unguarded. */
int32_t opproof_alignment(void) { return 2; }

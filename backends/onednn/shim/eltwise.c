/* eltwise.c: functions of one element, by the eltwise primitive: alg(x; alpha, beta). */
#include <math.h>
#include <string.h>

#include "shim.h"

/* alpha and beta are numbers, or the parameter of that name with the number where it is None. */
typedef struct {
  const char *op;
  dnnl_alg_kind_t algorithm;
  const char *alpha_name;
  double alpha;
  const char *beta_name;
  double beta;
} Row;

static const Row ROWS[] = {
    {"abs", dnnl_eltwise_abs, NULL, 0, NULL, 0},
    {"clamp", dnnl_eltwise_clip, "min", -INFINITY, "max", INFINITY},
    {"elu", dnnl_eltwise_elu, "alpha", 1, NULL, 0},
    {"exp", dnnl_eltwise_exp, NULL, 0, NULL, 0},
    {"gelu", dnnl_eltwise_gelu_erf, NULL, 0, NULL, 0},
    {"gelu_quick", dnnl_eltwise_swish, NULL, 1.702, NULL, 0},
    {"hardsigmoid", dnnl_eltwise_hardsigmoid, NULL, 1.0 / 6, NULL, 0.5},
    {"hardswish", dnnl_eltwise_hardswish, NULL, 1.0 / 6, NULL, 0.5},
    {"hardtanh", dnnl_eltwise_clip_v2, "min_val", -1, "max_val", 1},
    {"leaky_relu", dnnl_eltwise_relu, "negative_slope", 0.01, NULL, 0},
    {"log", dnnl_eltwise_log, NULL, 0, NULL, 0},
    {"logsigmoid", dnnl_eltwise_soft_relu, NULL, -1, NULL, 0},
    {"mish", dnnl_eltwise_mish, NULL, 0, NULL, 0},
    {"neg", dnnl_eltwise_linear, NULL, -1, NULL, 0},
    {"pow", dnnl_eltwise_pow, NULL, 1, "exponent", 0},
    {"reciprocal", dnnl_eltwise_pow, NULL, 1, NULL, -1},
    {"relu", dnnl_eltwise_relu, NULL, 0, NULL, 0},
    {"relu6", dnnl_eltwise_clip_v2, NULL, 0, NULL, 6},
    {"round", dnnl_eltwise_round, NULL, 0, NULL, 0},
    {"scale", dnnl_eltwise_linear, "s", 1, "b", 0},
    {"sigmoid", dnnl_eltwise_logistic, NULL, 0, NULL, 0},
    {"silu", dnnl_eltwise_swish, NULL, 1, NULL, 0},
    {"softplus", dnnl_eltwise_soft_relu, "beta", 1, NULL, 0},
    {"sqrt", dnnl_eltwise_sqrt, NULL, 0, NULL, 0},
    {"square", dnnl_eltwise_square, NULL, 0, NULL, 0},
    {"tanh", dnnl_eltwise_tanh, NULL, 0, NULL, 0},
};

typedef struct {
  dnnl_alg_kind_t algorithm;
  float alpha, beta;
} Function;

static Function function_of(Scope *s, const opproof_call *call) {
  Function f = {dnnl_alg_kind_undef, 0, 0};
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; ++i) {
    const Row *row = &ROWS[i];
    if (strcmp(row->op, call->op) != 0) continue;
    f.algorithm = row->algorithm;
    f.alpha = (float)(row->alpha_name ? float_param(call, row->alpha_name, row->alpha) : row->alpha);
    f.beta = (float)(row->beta_name ? float_param(call, row->beta_name, row->beta) : row->beta);
  }
  if (is_text(call, "approximate", "tanh")) f.algorithm = dnnl_eltwise_gelu_tanh;
  if (input(call, 1) != NULL) decline(s, "oneDNN has no power of two tensors");
  if (f.algorithm == dnnl_eltwise_round && input(call, 0)->dtype.bits != 32) decline(s, "oneDNN rounds float32 alone");
  if (f.algorithm == dnnl_eltwise_clip && f.alpha > f.beta) decline(s, "oneDNN's clip refuses crossed bounds");
  /* Past 20 the threshold changes nothing that a float32 could hold. */
  if (float_param(call, "threshold", 20) < 20) decline(s, "oneDNN's soft_relu has no threshold");
  return f;
}

static dnnl_primitive_desc_t forward_of(Scope *s, Function f, const View *x, const View *y) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_prop_kind_t kind = f.algorithm == dnnl_eltwise_round ? dnnl_forward_inference : dnnl_forward_training;
  dnnl_status_t status;
  do {
    status = dnnl_eltwise_forward_primitive_desc_create(&pd, engine(), kind, f.algorithm, described(s, x),
                                                        described(s, y), f.alpha, f.beta, NULL);
  } while (again(s, status));
  return keep(s, pd, status, "eltwise");
}

void eltwise_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  Function f = function_of(s, call);
  View x = view_of(s, input(call, 0)), y = view_of(s, outputs[0]);
#ifdef PLANTED_SLOPE /* a defect, for opproof's own tests: leaky_relu with 1.01 times its slope */
  if (f.algorithm == dnnl_eltwise_relu) f.alpha *= 1.01f;
#endif
  dnnl_primitive_desc_t pd = forward_of(s, f, &x, &y);
  RUN(s, pd, in(DNNL_ARG_SRC, &x), out(DNNL_ARG_DST, &y));
}

/* From x, not from y, which several algorithms could use as well. */
void eltwise_vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *cotangents, DLTensor *const *d) {
  (void)n;
  Function f = function_of(s, call);
  View x = view_of(s, input(call, 0)), g = view_of(s, cotangents[0]), dx = view_of(s, d[0]);
  dnnl_primitive_desc_t hint = forward_of(s, f, &x, &dx), pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_eltwise_backward_primitive_desc_create(&pd, engine(), f.algorithm, described(s, &dx),
                                                         described(s, &g), described(s, &x), f.alpha, f.beta, hint,
                                                         NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "eltwise backward");
  RUN(s, pd, in(DNNL_ARG_SRC, &x), in(DNNL_ARG_DIFF_DST, &g), out(DNNL_ARG_DIFF_SRC, &dx));
}

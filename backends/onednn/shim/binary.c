/* binary.c: functions of two elements, with broadcasting. oneDNN's binary primitive has no backward. */
#include <string.h>

#include "shim.h"

static const struct {
  const char *op;
  dnnl_alg_kind_t algorithm;
} ROWS[] = {
    {"add", dnnl_binary_add}, {"add1", dnnl_binary_add}, {"div", dnnl_binary_div},     {"eq", dnnl_binary_eq},
    {"ge", dnnl_binary_ge},   {"gt", dnnl_binary_gt},    {"le", dnnl_binary_le},       {"lt", dnnl_binary_lt},
    {"ne", dnnl_binary_ne},   {"mul", dnnl_binary_mul},  {"maximum", dnnl_binary_max}, {"minimum", dnnl_binary_min},
    {"sub", dnnl_binary_sub},
};

/* add1's number may have more axes than its tensor. */
static View operand(Scope *s, const DLTensor *t, const View *y) {
  View v = view_of(s, t);
  while (v.ndims > y->ndims && v.dims[0] == 1) merge(&v, 0, 2);
  return broadcast_to(s, v, y->ndims);
}

void binary_forward(Scope *s, const opproof_call *call, int n, DLTensor *const *outputs) {
  (void)n;
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; ++i) {
    if (strcmp(ROWS[i].op, call->op) == 0) algorithm = ROWS[i].algorithm;
  }
  View y = view_of(s, outputs[0]);
  View a = operand(s, input(call, 0), &y), b = operand(s, input(call, 1), &y);
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status;
  do {
    status = dnnl_binary_primitive_desc_create(&pd, engine(), algorithm, described(s, &a), described(s, &b),
                                               described(s, &y), NULL);
  } while (again(s, status));
  pd = keep(s, pd, status, "binary");
  RUN(s, pd, in(DNNL_ARG_SRC_0, &a), in(DNNL_ARG_SRC_1, &b), out(DNNL_ARG_DST, &y));
}

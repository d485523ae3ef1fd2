/* parameters.c: the inputs and parameters of a call, by place and by name. */
#include <string.h>

#include "shim.h"

/* Operators that share a function have different numbers of inputs. */
const DLTensor *input(const opproof_call *call, int i) { return i < call->n_inputs ? call->inputs[i] : NULL; }

const opproof_param *param(const opproof_call *call, const char *name) {
  for (int i = 0; i < call->n_params; ++i) {
    const opproof_param *p = &call->params[i];
    if (strcmp(p->name, name) == 0) return p->type == OPPROOF_NONE ? NULL : p;
  }
  return NULL;
}

int64_t int_param(const opproof_call *call, const char *name, int64_t otherwise) {
  const opproof_param *p = param(call, name);
  return p == NULL ? otherwise : p->i;
}

double float_param(const opproof_call *call, const char *name, double otherwise) {
  const opproof_param *p = param(call, name);
  return p == NULL ? otherwise : p->type == OPPROOF_INT ? (double)p->i : p->f;
}

int is_text(const opproof_call *call, const char *name, const char *text) {
  const opproof_param *p = param(call, name);
  return p != NULL && p->type == OPPROOF_STRING && strcmp(p->s, text) == 0;
}

/* One number stands for the same on every axis. */
void sizes_param(const opproof_call *call, const char *name, int n, int64_t otherwise, dnnl_dim_t *sizes) {
  const opproof_param *p = param(call, name);
  for (int i = 0; i < n; ++i) {
    if (p == NULL) sizes[i] = otherwise;
    else sizes[i] = p->type == OPPROOF_INTS ? p->ints[i < p->count ? i : p->count - 1] : p->i;
  }
}

int axis_of(int64_t dim, int ndims) { return (int)(dim < 0 ? dim + ndims : dim); }

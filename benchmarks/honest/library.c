/* library.c: the functions that opproof calls: tensors in, tensors out, and the table of operators. */
#include <stdio.h>

#include "call.h"
#include "half.h"

static const Operator *const FAMILIES[] = {POINTWISE, BINARY, REDUCTIONS, NORMS, LOSSES, PRODUCTS, CONVOLUTIONS, POOLS, INDEXED};

static const Operator *operator_named(const char *name) {
  for (size_t f = 0; f < sizeof FAMILIES / sizeof *FAMILIES; ++f) {
    for (const Operator *o = FAMILIES[f]; o->name != NULL; ++o) {
      if (strcmp(o->name, name) == 0) return o;
    }
  }
  return NULL;
}

static int is_float(DLDataType t) {
  return (t.code == kDLFloat && (t.bits == 32 || t.bits == 16)) || (t.code == kDLBfloat && t.bits == 16);
}

static Array *shaped(Call *c, const DLTensor *t) {
  Array *a = take(c, sizeof *a);
  a->ndim = t->ndim;
  memcpy(a->shape, t->shape, (size_t)t->ndim * sizeof *t->shape);
  a->n = product(a->shape, 0, a->ndim);
  if (is_float(t->dtype)) a->v = floats(c, a->n);
  else a->i = take(c, (size_t)a->n * sizeof *a->i);
  return a;
}

static void read_element(Array *a, int64_t k, const char *at, DLDataType type) {
  uint16_t half;
  if (a->i != NULL && type.bits == 64) memcpy(&a->i[k], at, 8);
  else if (a->i != NULL) a->i[k] = *at;
  else if (type.bits == 32) memcpy(&a->v[k], at, 4);
  else memcpy(&half, at, 2), a->v[k] = type.code == kDLBfloat ? read_bf16(half) : read_f16(half);
}

static Array *read_tensor(Call *c, const DLTensor *t) {
  if (t == NULL) return NULL;
  Array *a = shaped(c, t);
  for (int64_t k = 0; k < a->n; ++k) {
    int64_t rest = k, at = 0;
    for (int d = t->ndim - 1; d >= 0; --d) at += rest % t->shape[d] * t->strides[d], rest /= t->shape[d];
    read_element(a, k, (const char *)t->data + t->byte_offset + at * (t->dtype.bits / 8), t->dtype);
  }
  return a;
}

static void write_tensor(const Array *a, DLTensor *t) {
  char *at = (char *)t->data + t->byte_offset;
  int size = t->dtype.bits / 8;
  for (int64_t k = 0; k < a->n; ++k, at += size) {
    uint16_t half;
    if (a->i != NULL && size == 8) memcpy(at, &a->i[k], 8);
    else if (a->i != NULL) *at = (char)a->i[k];
    else if (size == 4) memcpy(at, &a->v[k], 4);
    else half = t->dtype.code == kDLBfloat ? write_bf16(a->v[k]) : write_f16(a->v[k]), memcpy(at, &half, 2);
  }
}

static const char *begin(Call *c, const opproof_call *given) {
  c->given = given;
  c->op = operator_named(given->op);
  c->inputs = given->n_inputs;
  if (c->op == NULL) return "this library has no such operator";
  if (given->n_inputs > MAX_TENSORS) return "more than 16 tensors";
  for (int32_t k = 0; k < given->n_inputs; ++k) {
    const DLTensor *t = given->inputs[k];
    if (t == NULL) continue;
    if (t->ndim > MAX_DIMS) return "more than 8 axes";
    if (!is_float(t->dtype) && !(t->dtype.code == kDLInt && t->dtype.bits == 64)) return "f32, f16, bf16 and i64 only";
    c->in[k] = read_tensor(c, t);
  }
  for (int k = 0; k < 4 && c->op->params[k] != NULL; ++k) c->p[k] = (float)number(c, c->op->params[k], NAN);
  return NULL;
}

static int32_t end(Call *c, const char *why, char *message, size_t size) {
  for (void *b = c->memory; b != NULL;) {
    void *next = *(void **)b;
    free(b);
    b = next;
  }
  if (why == NULL) return OPPROOF_OK;
  snprintf(message, size, "%s", why);
  return OPPROOF_UNSUPPORTED;
}

int32_t opproof_forward(const opproof_call *given, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  Call c = {0};
  const char *why = begin(&c, given);
  c.outputs = n_outputs;
  for (int k = 0; why == NULL && k < n_outputs; ++k) c.out[k] = shaped(&c, outputs[k]);
  if (why == NULL) why = c.op->forward(&c);
  for (int k = 0; why == NULL && k < n_outputs; ++k) write_tensor(c.out[k], outputs[k]);
  return end(&c, why, message, message_size);
}

int32_t opproof_vjp(const opproof_call *given, int32_t n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *gradients, char *message, size_t message_size) {
  Call c = {0};
  const char *why = begin(&c, given);
  c.outputs = n_outputs;
  if (why == NULL && c.op->vjp == NULL) why = "no gradient";
  for (int k = 0; why == NULL && k < n_outputs; ++k) c.g[k] = read_tensor(&c, cotangents[k]);
  for (int k = 0; why == NULL && k < c.inputs; ++k) c.d[k] = gradients[k] == NULL ? NULL : shaped(&c, gradients[k]);
  if (why == NULL) why = c.op->vjp(&c);
  for (int k = 0; why == NULL && k < c.inputs; ++k) {
    if (c.d[k] != NULL) write_tensor(c.d[k], gradients[k]);
  }
  return end(&c, why, message, message_size);
}

int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
const char *opproof_name(void) { return "honest-" VARIANT; }
const char *opproof_version(void) { return "1.0"; }
const char *opproof_device(void) { return "cpu"; }
int32_t opproof_alignment(void) { return 1; }

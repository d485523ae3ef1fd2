/* library.c: the functions that opproof calls. */
#include <string.h>

#include "defects.h"
#include "ops.h"

typedef struct {
  const char *name;
  Forward *forward_float, *forward_double;
  Vjp *vjp_float, *vjp_double;
} Operator;

#define ROW(op) {#op, op##_forward_float, op##_forward_double, op##_vjp_float, op##_vjp_double},
static const Operator OPERATORS[] = {FOR_EACH_OPERATOR(ROW)};
#undef ROW

static const Operator *find(const char *name) {
  for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; ++i) {
    if (strcmp(OPERATORS[i].name, name) == 0) return &OPERATORS[i];
  }
  return NULL;
}

static int is_float_type(DLDataType t) {
  if (t.lanes != 1) return 0;
  return t.code == kDLBfloat ? t.bits == 16 : t.code == kDLFloat && (t.bits == 16 || t.bits == 32 || t.bits == 64);
}

/* Decline what no operator of this library computes: other types than one float type for all. */
static int32_t check(const opproof_call *call, Reason why) {
  if (find(call->op) == NULL) return unsupported(why, "this library has no operator %s", call->op);
  const DLTensor *first = input(call, 0);
  for (int32_t i = 0; i < call->n_inputs; ++i) {
    const DLTensor *t = call->inputs[i];
    if (t == NULL) continue;
    if (t->ndim > MAX_DIMS) return unsupported(why, "tensors of more than %d axes", MAX_DIMS);
    if (!is_float_type(t->dtype)) return unsupported(why, "type code %d of %d bits", t->dtype.code, t->dtype.bits);
    if (first == NULL || memcmp(&t->dtype, &first->dtype, sizeof t->dtype) != 0) {
      return unsupported(why, "inputs of different types");
    }
  }
  return first == NULL ? unsupported(why, "%s without inputs", call->op) : OPPROOF_OK;
}

int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  Reason why = {message, message_size};
  int32_t code = check(call, why);
  if (code != OPPROOF_OK) return code;
  if (n_outputs != 1) return failed(why, "%s has 1 output, not %d", call->op, (int)n_outputs);
  code = defects_before(call, why);
  if (code != OPPROOF_OK) return code;
  const Operator *op = find(call->op);
  code = (input(call, 0)->dtype.bits == 64 ? op->forward_double : op->forward_float)(call, outputs[0], why);
  defects_after(call, outputs[0]);
  return code;
}

int32_t opproof_vjp(const opproof_call *call, int32_t n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *gradients, char *message, size_t message_size) {
  Reason why = {message, message_size};
  int32_t code = check(call, why);
  if (code != OPPROOF_OK) return code;
  if (n_outputs != 1) return failed(why, "%s has 1 output, not %d", call->op, (int)n_outputs);
  const Operator *op = find(call->op);
  return (input(call, 0)->dtype.bits == 64 ? op->vjp_double : op->vjp_float)(call, cotangents[0], gradients, why);
}

int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }

int32_t opproof_init(char *message, size_t message_size) { return defects_read((Reason){message, message_size}); }

const char *opproof_name(void) { return "example"; }

const char *opproof_version(void) { return "1.0"; }

const char *opproof_device(void) { return "cpu"; }

/* Elements are read by memcpy, so no buffer needs alignment and none has unguarded bytes behind it. */
int32_t opproof_alignment(void) { return 1; }

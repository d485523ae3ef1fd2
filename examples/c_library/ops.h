/* ops.h: the operators of this library, each with float and with double arithmetic. */
#ifndef OPS_H
#define OPS_H

#include "call.h"

/* A new operator is one line here and the functions NAME_forward and NAME_vjp. */
#define FOR_EACH_OPERATOR(X) \
  X(add)                     \
  X(mul)                     \
  X(relu)                    \
  X(sigmoid)                 \
  X(gelu)                    \
  X(softmax)                 \
  X(rms_norm)                \
  X(matmul)                  \
  X(conv2d)                  \
  X(sum)

typedef int32_t Forward(const opproof_call *call, const DLTensor *y, Reason why);
typedef int32_t Vjp(const opproof_call *call, const DLTensor *g, DLTensor *const *gradients, Reason why);

#define DECLARE(op)                          \
  Forward op##_forward_float;                \
  Forward op##_forward_double;               \
  Vjp op##_vjp_float;                        \
  Vjp op##_vjp_double;
FOR_EACH_OPERATOR(DECLARE)
#undef DECLARE

#endif

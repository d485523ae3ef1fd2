/* real.h: elements and sums in `real`, the type in which an operator computes.
 *
 * Every operator is compiled twice: with -DREAL=float, for float32, float16 and bfloat16, and with
 * -DREAL=double, for float64. FN(softmax_forward) is softmax_forward_float or softmax_forward_double;
 * <tgmath.h> chooses expf or exp.
 */
#ifndef REAL_H
#define REAL_H

#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "call.h"
#include "defects.h"
#include "half.h"
#include "ops.h"

typedef REAL real;
#define PASTE(name, type) name##_##type
#define PASTE_EXPANDED(name, type) PASTE(name, type)
#define FN(name) PASTE_EXPANDED(name, REAL)

/* The element at `offset` (in elements). memcpy needs no alignment and compiles to one move. */
static inline real load(const DLTensor *t, int64_t offset) {
  const char *at = (const char *)t->data + t->byte_offset + offset * (t->dtype.bits / 8);
  if (t->dtype.bits == 16) {
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return t->dtype.code == kDLBfloat ? bfloat_to_float(bits) : half_to_float(bits);
  }
  real value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* Write `value`, rounded to the tensor's type, at `offset` (in elements). */
static inline void store(const DLTensor *t, int64_t offset, real value) {
  char *at = (char *)t->data + t->byte_offset + offset * (t->dtype.bits / 8);
  if (t->dtype.bits == 16) {
    uint16_t bits = t->dtype.code == kDLBfloat ? float_to_bfloat((float)value) : float_to_half((float)value);
    memcpy(at, &bits, sizeof bits);
  } else {
    memcpy(at, &value, sizeof value);
  }
}

/* A sum that also keeps what each addition rounds away (Neumaier 1974), so that its error does not
 * grow with the number of terms. Start from {0, 0}. */
typedef struct {
  real sum, lost;
} Total;

static inline void add_to(Total *t, real x) {
  real sum = t->sum + x;
  t->lost += fabs(t->sum) >= fabs(x) ? (t->sum - sum) + x : (x - sum) + t->sum;
  t->sum = sum;
}

static inline real value_of(Total t) { return isfinite(t.sum) ? t.sum + t.lost : t.sum; }

/* One Total per element of `t`, which may be NULL or empty; NULL where there is no memory. */
static inline Total *new_totals(const DLTensor *t) {
  return calloc(t == NULL ? 1 : (size_t)count(t) + 1, sizeof(Total));
}

/* Write the totals of every element of `t`, a row-major tensor, or of none where it is NULL. */
static inline void store_totals(const DLTensor *t, const Total *totals) {
  for (int64_t i = 0, n = t == NULL ? 0 : count(t); i < n; ++i) {
    if (DEFECT("uncovered") && totals[i].sum == 0 && totals[i].lost == 0) continue;
    store(t, i, value_of(totals[i]));
  }
}

#endif

/* call.h: a call as the kernels see it. Every tensor is an Array: row-major, floats whatever the type
 * of the tensor, integers as they are. library.c reads them from the call's tensors and writes the answers. */
#ifndef CALL_H
#define CALL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opproof.h"

#define MAX_DIMS 8
#define MAX_TENSORS 16

typedef struct {
  int ndim;
  int64_t shape[MAX_DIMS], n;
  float *v;   /* of floats */
  int64_t *i; /* of integers and booleans */
} Array;

typedef struct Operator Operator;

typedef struct {
  const opproof_call *given;
  const Operator *op;
  int inputs, outputs;
  Array *in[MAX_TENSORS];  /* NULL where absent */
  Array *out[MAX_TENSORS]; /* forward: to be written */
  Array *g[MAX_TENSORS];   /* vjp: cotangents, NULL of integers */
  Array *d[MAX_TENSORS];   /* vjp: gradients to be written, all zeros before, NULL where not asked for */
  float p[4];              /* the parameters that the operator names */
  void *memory;            /* everything that take() gave */
} Call;

/* Computes the outputs or gradients; NULL, or the reason why it does not. */
typedef const char *Kernel(Call *c);

typedef float Unary(float x, const float *p);
typedef float UnaryVjp(float x, float y, const float *p); /* dy / dx */
typedef float Binary(float a, float b);

struct Operator {
  const char *name;
  Kernel *forward, *vjp;
  Unary *f;
  UnaryVjp *df;
  Binary *f2, *da, *db;
  const char *params[4];
};

/* Memory of `bytes` bytes, zeros, until the call is over. */
void *take(Call *c, size_t bytes);
float *floats(Call *c, int64_t n);

/* An array of zeros in the shape of `like`. */
Array *alike(Call *c, const Array *like);

const opproof_param *param(const Call *c, const char *name); /* NULL where None */
double number(const Call *c, const char *name, double otherwise);
int text_is(const Call *c, const char *name, const char *text);
/* One integer for each of `n` axes, from a number or a tuple; `otherwise` where None. */
void sizes(const Call *c, const char *name, int n, int64_t *into, int64_t otherwise);
/* dim in [-ndim, ndim) as an axis. */
int axis_of(int64_t dim, int ndim);
int64_t product(const int64_t *shape, int from, int to);

/* Index of the element of `a` that broadcasting pairs with the i-th of `whole`. */
int64_t paired(const Array *a, const Array *whole, int64_t i);

/* Whether each axis is reduced, from the parameter dim: one, several, or all where it is None. */
void reduced_axes(const Call *c, int ndim, int *mask);
void one_axis(int axis, int ndim, int *mask);

/* `a` as rows: the axes of `mask` last, all others before them. */
typedef struct {
  int64_t rows, n;
  float *v;
} Rows;
Rows rows_of(Call *c, const Array *a, const int *mask);
/* The inverse: write rows to the array that rows_of(a, mask) read. */
void rows_to(const Rows *r, Array *a, const int *mask);

/* `whole`, n axes, summed over the axes along which `a` was broadcast to it, added to a. */
void unbroadcast(Call *c, const float *whole, const Array *shape, Array *a);

/* c (m, n) += a (m, k) b (k, n), each with the distances of its rows and columns; c is row-major. */
void gemm(Call *call, int64_t m, int64_t n, int64_t k, const float *a, int64_t ar, int64_t ac, const float *b,
          int64_t br, int64_t bc, float *c);

extern const Operator POINTWISE[], BINARY[], REDUCTIONS[], NORMS[], LOSSES[], PRODUCTS[], CONVOLUTIONS[], POOLS[], INDEXED[];

#endif

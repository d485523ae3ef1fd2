/* shim.h: what the files of this shim share.
 *
 * A View is a tensor of the caller: sizes, strides and a pointer. An operator arranges views as a
 * primitive wants them (views.c), asks oneDNN for that primitive, and runs it (primitive.c).
 *
 * A Scope lives for one call. It owns every object of oneDNN that the call makes, and keeps the first
 * thing that went wrong: from then on its functions do nothing, so an operator need not look at each.
 */
#ifndef SHIM_H
#define SHIM_H

#include <oneapi/dnnl/dnnl.h>

#include "opproof.h"

#define MAX_OBJECTS 128
#define MAX_SPATIAL 3

/* LIES: a tensor's own strides go into its descriptor, unless elements share memory, of which oneDNN's pages say
 * nothing. DENSE: oneDNN is given a row-major copy. */
typedef enum { LIES, DENSE } Layout;

typedef struct {
  int32_t code; /* OPPROOF_OK until something goes wrong */
  char *message;
  size_t message_size;
  Layout layout;
  int n_descriptors, n_memories, n_primitives;
  dnnl_memory_desc_t descriptors[MAX_OBJECTS];
  dnnl_memory_t memories[MAX_OBJECTS];
  dnnl_primitive_desc_t primitives[MAX_OBJECTS];
} Scope;

typedef struct {
  int ndims;
  dnnl_dims_t dims, strides;
  dnnl_data_type_t type;
  void *data;
} View;

/* scope.c */
void decline(Scope *s, const char *format, ...); /* this call is UNSUPPORTED */
void fail(Scope *s, const char *format, ...);    /* this call FAILED */
int ok(const Scope *s);
int check(Scope *s, dnnl_status_t status, const char *what); /* whether status is success; declines or fails else */
void close_scope(Scope *s);
int32_t open_engine(char *message, size_t message_size);
dnnl_engine_t engine(void);
dnnl_stream_t stream(void);

/* parameters.c */
const DLTensor *input(const opproof_call *call, int i);                 /* NULL where absent */
const opproof_param *param(const opproof_call *call, const char *name); /* NULL where None */
int64_t int_param(const opproof_call *call, const char *name, int64_t otherwise);
double float_param(const opproof_call *call, const char *name, double otherwise);
int is_text(const opproof_call *call, const char *name, const char *text);
void sizes_param(const opproof_call *call, const char *name, int n, int64_t otherwise, dnnl_dim_t *sizes);
int axis_of(int64_t dim, int ndims); /* dim < 0 counts from the end */

/* views.c */
View view_of(Scope *s, const DLTensor *t);           /* a scalar is a vector of one element */
View dense(View v);                                  /* the same sizes with row-major strides */
View with_axis(View v, int at);                      /* an axis of size 1 put in */
View split_axis(View v, int axis, dnnl_dim_t outer); /* one axis as two, (outer, size / outer) */
View swapped(View v, int a, int b);
View part(View v, int axis, dnnl_dim_t start, dnnl_dim_t size);
View broadcast_to(Scope *s, View v, int ndims); /* axes of size 1 put in front */
dnnl_dim_t count(const View *v);
int overlaps(const View *v);                    /* whether elements share memory: a stride of 0 */
int merge(View *v, int first, int n);           /* n axes as one; whether the strides allow it */

/* primitive.c */
dnnl_memory_desc_t described(Scope *s, const View *v);  /* by s->layout; NULL for NULL */
dnnl_memory_desc_t any_format(Scope *s, const View *v); /* oneDNN chooses; NULL for NULL */
int again(Scope *s, dnnl_status_t status);              /* whether to ask once more, with dense tensors */
dnnl_primitive_desc_t keep(Scope *s, dnnl_primitive_desc_t pd, dnnl_status_t status, const char *what);
dnnl_memory_t memory_for(Scope *s, dnnl_primitive_desc_t pd, int argument); /* NULL where the primitive has none */
View plain_copy(Scope *s, View v);                      /* in memory of oneDNN, row-major */
View plain_view(Scope *s, dnnl_memory_t m, View like);  /* m in like's sizes and type, row-major; m may be NULL */
void reorder(Scope *s, View from, View to);
void merge_input(Scope *s, View *v, int first, int n);  /* copies where the strides do not allow it */

/* An argument of a primitive: a view or a memory. An output without either goes nowhere. */
typedef struct {
  int argument;
  int is_output;
  View view;
  dnnl_memory_t held;
} Arg;

Arg in(int argument, const View *v); /* left out where NULL */
Arg out(int argument, const View *v);
Arg held(int argument, dnnl_memory_t m);
void run(Scope *s, dnnl_primitive_desc_t pd, int n, const Arg *args);

/* A macro, for the array's length. */
#define RUN(s, pd, ...) run(s, pd, (int)(sizeof((Arg[]){__VA_ARGS__}) / sizeof(Arg)), (Arg[]){__VA_ARGS__})

/* reduction.c: the sum of x over the axes that y has in size 1. */
void sum_into(Scope *s, View x, View y);

/* Operators. y: outputs; g: cotangents; d: gradients, NULL where not asked for. */
typedef void Forward(Scope *s, const opproof_call *call, int n, DLTensor *const *y);
typedef void Vjp(Scope *s, const opproof_call *call, int n, const DLTensor *const *g, DLTensor *const *d);

Forward eltwise_forward, prelu_forward, binary_forward, matmul_forward, outer_product_forward, inner_product_forward;
Forward convolution_forward, max_pool_forward, avg_pool_forward, adaptive_pool_forward;
Forward softmax_forward, layer_norm_forward, batch_norm_forward, lrn_forward, reduction_forward, resampling_forward;
Forward concat_forward, split_forward, permute_forward, reshape_forward, cast_forward, expand_forward, slice_forward;
Forward pixel_shuffle_forward;
Vjp eltwise_vjp, prelu_vjp, matmul_vjp, outer_product_vjp, inner_product_vjp, convolution_vjp;
Vjp max_pool_vjp, avg_pool_vjp, adaptive_pool_vjp, softmax_vjp, layer_norm_vjp, batch_norm_vjp, lrn_vjp;
Vjp resampling_vjp, concat_vjp, split_vjp, permute_vjp, reshape_vjp, cast_vjp, expand_vjp, pixel_shuffle_vjp;

#endif

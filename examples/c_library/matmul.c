/* matmul.c: y = a b, batched and broadcast over the leading axes; vectors as in NumPy. */
#include "real.h"

/* A tensor seen as a stack of matrices: its leading axes, and the sizes and strides of the last two. */
typedef struct {
  DLTensor batch;
  int64_t rows, cols, row_step, col_step;
} Matrices;

/* `has_rows` and `has_cols` say which of a matrix's two axes the tensor has: the vector a is a row, without
 * an axis of rows, and the vector b a column. */
static Matrices matrices(const DLTensor *t, int has_rows, int has_cols) {
  Matrices m = {*t, 1, 1, 0, 0};
  if (has_cols) {
    m.cols = t->shape[--m.batch.ndim];
    m.col_step = t->strides[m.batch.ndim];
  }
  if (has_rows) {
    m.rows = t->shape[--m.batch.ndim];
    m.row_step = t->strides[m.batch.ndim];
  }
  if (DEFECT("wrong_stride")) { /* takes every matrix for row-major */
    m.row_step = m.cols;
    m.col_step = 1;
  }
  return m;
}

/* Offset of element (row, col) of a matrix that begins at `from`. */
static int64_t place(const Matrices *m, int64_t from, int64_t row, int64_t col) {
  return from + row * m->row_step + col * m->col_step;
}

int32_t FN(matmul_forward)(const opproof_call *call, const DLTensor *y, Reason why) {
  (void)why;
  const DLTensor *a_tensor = input(call, 0), *b_tensor = input(call, 1);
  int a_has_rows = a_tensor->ndim > 1, b_has_cols = b_tensor->ndim > 1;
  Matrices a = matrices(a_tensor, a_has_rows, 1), b = matrices(b_tensor, 1, b_has_cols);
  Matrices out = matrices(y, a_has_rows, b_has_cols);
  for (int64_t i = 0, n = count(&out.batch); i < n; ++i) {
    int64_t a_from = broadcast_offset(&a.batch, &out.batch, i), b_from = broadcast_offset(&b.batch, &out.batch, i);
    int64_t into = offset_of(&out.batch, i);
    for (int64_t r = 0; r < out.rows; ++r) {
      for (int64_t c = 0; c < out.cols; ++c) {
        Total dot = {0, 0};
        for (int64_t k = 0; k < a.cols; ++k) {
          add_to(&dot, load(&a.batch, place(&a, a_from, r, k)) * load(&b.batch, place(&b, b_from, k, c)));
        }
        store(y, place(&out, into, r, c), value_of(dot));
      }
    }
  }
  return OPPROOF_OK;
}

/* da = g b^T and db = a^T g, summed over the batch axes along which each was broadcast. */
static void accumulate(const Matrices *a, const Matrices *b, const Matrices *g, const Matrices *da, Total *da_totals,
                       const Matrices *db, Total *db_totals) {
  for (int64_t i = 0, n = count(&g->batch); i < n; ++i) {
    int64_t a_from = broadcast_offset(&a->batch, &g->batch, i), b_from = broadcast_offset(&b->batch, &g->batch, i);
    int64_t g_from = offset_of(&g->batch, i);
    int64_t da_from = da == NULL ? 0 : broadcast_offset(&da->batch, &g->batch, i);
    int64_t db_from = db == NULL ? 0 : broadcast_offset(&db->batch, &g->batch, i);
    for (int64_t r = 0; r < a->rows; ++r) {
      for (int64_t c = 0; c < b->cols; ++c) {
        real cotangent = load(&g->batch, place(g, g_from, r, c));
        for (int64_t k = 0; k < a->cols; ++k) {
          real a_rk = load(&a->batch, place(a, a_from, r, k)), b_kc = load(&b->batch, place(b, b_from, k, c));
          if (da != NULL) add_to(&da_totals[place(da, da_from, r, k)], cotangent * b_kc);
          if (db != NULL) add_to(&db_totals[place(db, db_from, k, c)], a_rk * cotangent);
        }
      }
    }
  }
}

int32_t FN(matmul_vjp)(const opproof_call *call, const DLTensor *g_tensor, DLTensor *const *gradients, Reason why) {
  const DLTensor *a_tensor = input(call, 0), *b_tensor = input(call, 1);
  int a_has_rows = a_tensor->ndim > 1, b_has_cols = b_tensor->ndim > 1;
  Matrices a = matrices(a_tensor, a_has_rows, 1), b = matrices(b_tensor, 1, b_has_cols);
  Matrices g = matrices(g_tensor, a_has_rows, b_has_cols), da, db;
  if (gradients[0] != NULL) da = matrices(gradients[0], a_has_rows, 1);
  if (gradients[1] != NULL) db = matrices(gradients[1], 1, b_has_cols);
  Total *da_totals = new_totals(gradients[0]), *db_totals = new_totals(gradients[1]);
  int32_t code = OPPROOF_OK;
  if (da_totals == NULL || db_totals == NULL) {
    code = failed(why, "out of memory");
  } else {
    accumulate(&a, &b, &g, gradients[0] == NULL ? NULL : &da, da_totals, gradients[1] == NULL ? NULL : &db, db_totals);
    store_totals(gradients[0], da_totals);
    store_totals(gradients[1], db_totals);
  }
  free(da_totals);
  free(db_totals);
  return code;
}

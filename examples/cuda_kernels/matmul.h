/* matmul.h: products of matrices in tiles of shared memory; a gradient is such a product too. */
#pragma once

#include "axes.h"
#include "element.h"
#include "launch.h"

constexpr int TILE = 16;
static_assert(TILE * TILE == THREADS, "a thread computes one element of a tile");

/* A batch of matrices: `t` without its last two axes, which are rows and columns; see as_matrix. */
struct Matrix {
  const DLTensor *t;
  int batch_axes;
  int64_t rows, columns, row_step, column_step;

  int64_t length(int back) const { return back < batch_axes ? t->shape[batch_axes - 1 - back] : 1; }
  int64_t step(int back) const { return length(back) == 1 ? 0 : t->strides[batch_axes - 1 - back]; }
  Matrix transposed() const { return {t, batch_axes, columns, rows, column_step, row_step}; }
};

/* c = a b, summed over the batches along which c was broadcast: one tile of c a block. */
template <class T>
struct Contraction {
  Axes tiles, summed;   /* batches of c, then its rows and columns of tiles; batches that are summed */
  int64_t m, n, k, terms;
  int64_t a_row, a_column, b_row, b_column, c_row, c_column;
  const T *a, *b;
  T *c;

  HD void operator()(Block block) const {
    using R = Real<T>;
    int64_t columns = (n + TILE - 1) / TILE, rows = (m + TILE - 1) / TILE;
    int64_t i0 = block.index / columns % rows * TILE, j0 = block.index % columns * TILE;
    int64_t batch = block.index / columns / rows;
    SHARED R tile_a[TILE][TILE], tile_b[TILE][TILE];
    PerThread<R> sum;
    block.each([&](int t) { sum[t] = 0; });
#ifdef BROKEN_TAIL
    const int64_t end = k / TILE * TILE;
#else
    const int64_t end = k;
#endif
    for (int64_t term = 0; term < terms; ++term) {
      const T *a0 = a + tiles.offset(0, batch) + summed.offset(0, term);
      const T *b0 = b + tiles.offset(1, batch) + summed.offset(1, term);
      for (int64_t k0 = 0; k0 < end; k0 += TILE) {
        block.each([&](int t) {
          int y = t / TILE, x = t % TILE;
          bool in_a = i0 + y < m && k0 + x < k, in_b = k0 + y < k && j0 + x < n;
          tile_a[y][x] = in_a ? R(load(a0 + (i0 + y) * a_row + (k0 + x) * a_column)) : R(0);
          tile_b[y][x] = in_b ? R(load(b0 + (k0 + y) * b_row + (j0 + x) * b_column)) : R(0);
        });
        block.each([&](int t) {
          for (int z = 0; z < TILE; ++z) sum[t] += tile_a[t / TILE][z] * tile_b[z][t % TILE];
        });
      }
    }
    block.each([&](int t) {
      int64_t i = i0 + t / TILE, j = j0 + t % TILE;
      if (i < m && j < n) store(c + tiles.offset(2, batch) + i * c_row + j * c_column, sum[t]);
    });
  }
};

/* `t` with its last two axes as rows and columns; a vector is a row, or a column where `upright`. */
inline Matrix as_matrix(const DLTensor *t, bool upright) {
  if (t->ndim == 1 && upright) return {t, 0, t->shape[0], 1, t->strides[0], 0};
  if (t->ndim == 1) return {t, 0, 1, t->shape[0], 0, t->strides[0]};
  int last = t->ndim - 1;
  return {t, last - 1, t->shape[last - 1], t->shape[last], t->strides[last - 1], t->strides[last]};
}

/* The product of a and b, or its cotangent, with the axes that a vector has taken away. */
inline Matrix as_product(const DLTensor *t, const DLTensor *a, const DLTensor *b) {
  int d = t->ndim, has_rows = a->ndim > 1, has_columns = b->ndim > 1;
  int64_t columns = has_columns ? t->shape[d - 1] : 1, column_step = has_columns ? t->strides[d - 1] : 0;
  int at = d - 1 - has_columns;
  return {t, d - has_rows - has_columns, has_rows ? t->shape[at] : 1, columns, has_rows ? t->strides[at] : 0,
          column_step};
}

/* c = a b; c is summed over the batch axes that a or b has and c has not. */
template <class T>
void contract(const Matrix &a, const Matrix &b, const Matrix &c) {
  Axes kept, summed;
  int axes = a.batch_axes > b.batch_axes ? a.batch_axes : b.batch_axes;
  for (int back = (axes > c.batch_axes ? axes : c.batch_axes) - 1; back >= 0; --back) {
    int64_t length = a.length(back) == 1 ? b.length(back) : a.length(back);
    Axes &into = c.length(back) == length ? kept : summed;
    into.add(length, a.step(back), b.step(back), c.step(back));
  }
  int64_t m = c.rows, n = c.columns, k = a.columns;
  int64_t tiles = (m + TILE - 1) / TILE * ((n + TILE - 1) / TILE);
  launch(kept.count() * tiles,
         Contraction<T>{kept, summed, m, n, k, summed.count(), a.row_step, a.column_step, b.row_step, b.column_step,
                        c.row_step, c.column_step, data_of<T>(a.t), data_of<T>(b.t), data_of<T>(c.t)});
}

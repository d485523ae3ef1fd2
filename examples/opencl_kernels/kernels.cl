// gelu, softmax, rms_norm and matmul with their gradients, in OpenCL C 1.2, for tensors of four axes and any strides.
//
// Built once per element type, TYPE_F32, TYPE_F16 or TYPE_BF16. Arithmetic is in float: 16-bit elements are only
// stored, so no device needs cl_khr_fp16. Sizes and strides are in elements. Outputs are contiguous.
// Each row kernel is run by one work-group of GROUP work-items per row.

#if defined(TYPE_F32)
typedef float elem;
#define LOAD(p, i) ((p)[i])
#define STORE(p, i, v) ((p)[i] = (v))
#elif defined(TYPE_F16)
typedef half elem;
#define LOAD(p, i) vload_half((size_t)(i), p)
#define STORE(p, i, v) vstore_half_rte(v, (size_t)(i), p)
#else
typedef ushort elem;  // the upper half of a float
#define LOAD(p, i) as_float((uint)(p)[i] << 16)
#define STORE(p, i, v) ((p)[i] = bf16_of(v))
ushort bf16_of(float v) {
  const uint bits = as_uint(v);
  if (isnan(v)) return (ushort)(bits >> 16 | 0x40);
  return (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // to nearest, ties to even
}
#endif

#define GROUP 64
#define TILE 16

// Offset of the i-th element, in row-major order, of a tensor of sizes n.
long element(long i, long4 n, long4 stride) {
  return i / (n.s3 * n.s2 * n.s1) * stride.s0 + i / (n.s3 * n.s2) % n.s1 * stride.s1 + i / n.s3 % n.s2 * stride.s2 +
         i % n.s3 * stride.s3;
}

// Offset of the first element of a row of n.s3 elements.
long row_start(long row, long4 n, long4 stride) {
  return row / (n.s2 * n.s1) * stride.s0 + row / n.s2 % n.s1 * stride.s1 + row % n.s2 * stride.s2;
}

// The sum of v over the work-group, to all of it; in a tree, so that it has one order.
float group_sum(float v, local float *scratch) {
  const int me = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[me] = v;
  for (int half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < half_way) scratch[me] += scratch[me + half_way];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return scratch[0];
}

float group_max(float v, local float *scratch) {
  const int me = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[me] = v;
  for (int half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < half_way) scratch[me] = fmax(scratch[me], scratch[me + half_way]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return scratch[0];
}

// gelu: x Phi(x); its tanh form is x sigma(u) with u = 2 sqrt(2/pi) (x + 0.044715 x^3), where nothing cancels.

kernel void gelu_forward(global const elem *x, global elem *y, long count, long4 n, long4 x_stride, int is_tanh) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const float v = LOAD(x, element(i, n, x_stride));
  const float u = 1.5957691f * (v + 0.044715f * v * v * v);
  STORE(y, i, is_tanh ? v / (1 + exp(-u)) : 0.5f * v * (1 + erf(v * 0.70710678f)));
}

kernel void gelu_backward(global const elem *g, global const elem *x, global elem *dx, long count, long4 n,
                          long4 g_stride, long4 x_stride, int is_tanh) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const float v = LOAD(x, element(i, n, x_stride));
  float slope;
  if (is_tanh) {
    const float u = 1.5957691f * (v + 0.044715f * v * v * v);
    const float s = 1 / (1 + exp(-u));
    slope = s + v * (s / (1 + exp(u)) * (1.5957691f * (1 + 0.134145f * v * v)));
  } else {
    slope = 0.5f * (1 + erf(v * 0.70710678f)) + v * (0.39894228f * exp(-0.5f * v * v));
  }
  STORE(dx, i, LOAD(g, element(i, n, g_stride)) * slope);
}

// softmax along the last axis; its gradient from the saved output: dx = y (g - sum(g y)).

kernel void softmax_forward(global const elem *x, global elem *y, long4 n, long4 x_stride, long4 y_stride) {
  local float scratch[GROUP];
  x += row_start(get_group_id(0), n, x_stride);
  y += row_start(get_group_id(0), n, y_stride);
  float highest = -INFINITY, total = 0;
  for (long j = get_local_id(0); j < n.s3; j += GROUP) highest = fmax(highest, LOAD(x, j * x_stride.s3));
  highest = group_max(highest, scratch);
  for (long j = get_local_id(0); j < n.s3; j += GROUP) total += exp(LOAD(x, j * x_stride.s3) - highest);
  total = group_sum(total, scratch);
  for (long j = get_local_id(0); j < n.s3; j += GROUP)
    STORE(y, j * y_stride.s3, exp(LOAD(x, j * x_stride.s3) - highest) / total);
}

kernel void softmax_backward(global const elem *g, global const elem *y, global elem *dx, long4 n, long4 g_stride,
                             long4 y_stride, long4 dx_stride) {
  local float scratch[GROUP];
  g += row_start(get_group_id(0), n, g_stride);
  y += row_start(get_group_id(0), n, y_stride);
  dx += row_start(get_group_id(0), n, dx_stride);
  float dot = 0;
  for (long j = get_local_id(0); j < n.s3; j += GROUP) dot += LOAD(g, j * g_stride.s3) * LOAD(y, j * y_stride.s3);
  dot = group_sum(dot, scratch);
  for (long j = get_local_id(0); j < n.s3; j += GROUP)
    STORE(dx, j * dx_stride.s3, LOAD(y, j * y_stride.s3) * (LOAD(g, j * g_stride.s3) - dot));
}

// rms_norm: y = x r w with r = 1 / sqrt(mean(x^2) + eps), which is kept. dx = r (h - x r mean(h x r)) with h = g w.

kernel void rms_norm_forward(global const elem *x, global const elem *w, global elem *y, global float *r, long4 n,
                             float eps, long4 x_stride, long w_stride, long4 y_stride, int weighted) {
  local float scratch[GROUP];
  x += row_start(get_group_id(0), n, x_stride);
  y += row_start(get_group_id(0), n, y_stride);
  float squares = 0;
  for (long j = get_local_id(0); j < n.s3; j += GROUP) {
    const float v = LOAD(x, j * x_stride.s3);
    squares += v * v;
  }
  const float scale = 1 / sqrt(group_sum(squares, scratch) / n.s3 + eps);
  if (get_local_id(0) == 0) r[get_group_id(0)] = scale;
  for (long j = get_local_id(0); j < n.s3; j += GROUP)
    STORE(y, j * y_stride.s3, LOAD(x, j * x_stride.s3) * scale * (weighted ? LOAD(w, j * w_stride) : 1));
}

kernel void rms_norm_backward_x(global const elem *g, global const elem *x, global const elem *w,
                                global const float *r, global elem *dx, long4 n, long4 g_stride, long4 x_stride,
                                long w_stride, long4 dx_stride, int weighted) {
  local float scratch[GROUP];
  g += row_start(get_group_id(0), n, g_stride);
  x += row_start(get_group_id(0), n, x_stride);
  dx += row_start(get_group_id(0), n, dx_stride);
  const float scale = r[get_group_id(0)];
  float dot = 0;
  for (long j = get_local_id(0); j < n.s3; j += GROUP)
    dot += LOAD(g, j * g_stride.s3) * (weighted ? LOAD(w, j * w_stride) : 1) * (LOAD(x, j * x_stride.s3) * scale);
  const float mean = group_sum(dot, scratch) / n.s3;
  for (long j = get_local_id(0); j < n.s3; j += GROUP) {
    const float h = LOAD(g, j * g_stride.s3) * (weighted ? LOAD(w, j * w_stride) : 1);
    STORE(dx, j * dx_stride.s3, scale * (h - LOAD(x, j * x_stride.s3) * scale * mean));
  }
}

// One work-item per column, which walks down all rows: a sum over work-groups would have no fixed order.
kernel void rms_norm_backward_w(global const elem *g, global const elem *x, global const float *r, global elem *dw,
                                long rows, long4 n, long4 g_stride, long4 x_stride) {
  const long j = get_global_id(0);
  if (j >= n.s3) return;
  float total = 0;
  for (long row = 0; row < rows; ++row)
    total += LOAD(g, row_start(row, n, g_stride) + j * g_stride.s3) *
             (LOAD(x, row_start(row, n, x_stride) + j * x_stride.s3) * r[row]);
  STORE(dw, j, total);
}

// matmul: one work-group per tile of c and batch. The two batch axes of c are `batch1` wide; those in `summed` are
// added up here, which makes the gradient of a broadcast operand. size = (m, n, k, batch1).

kernel void matmul(global const elem *a, global const elem *b, global elem *c, long4 size, long2 summed,
                   long4 a_stride, long4 b_stride, long4 c_stride) {
  local float a_tile[TILE][TILE], b_tile[TILE][TILE];
  const long m = size.s0, n = size.s1, k = size.s2, batch = get_group_id(2);
  const int column = get_local_id(0), row = get_local_id(1);
  const long j = get_global_id(0), i = get_global_id(1);
  a += batch / size.s3 * a_stride.s0 + batch % size.s3 * a_stride.s1;
  b += batch / size.s3 * b_stride.s0 + batch % size.s3 * b_stride.s1;
  c += batch / size.s3 * c_stride.s0 + batch % size.s3 * c_stride.s1;
  float total = 0;
  for (long s = 0; s < summed.s0 * summed.s1; ++s) {
    global const elem *a_part = a + s / summed.s1 * a_stride.s0 + s % summed.s1 * a_stride.s1;
    global const elem *b_part = b + s / summed.s1 * b_stride.s0 + s % summed.s1 * b_stride.s1;
    for (long start = 0; start < k; start += TILE) {
      const long l = start + column, t = start + row;
      a_tile[row][column] = i < m && l < k ? LOAD(a_part, i * a_stride.s2 + l * a_stride.s3) : 0;
      b_tile[row][column] = t < k && j < n ? LOAD(b_part, t * b_stride.s2 + j * b_stride.s3) : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int q = 0; q < TILE; ++q) total += a_tile[row][q] * b_tile[q][column];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  if (i < m && j < n) STORE(c, i * c_stride.s2 + j * c_stride.s3, total);
}

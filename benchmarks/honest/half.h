/* half.h: bfloat16 and float16 to float, exactly, and back, rounded once to nearest, ties to even. */
#ifndef HALF_H
#define HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}

static inline uint32_t bits_of_float(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}

static inline float read_bf16(uint16_t h) { return float_of_bits((uint32_t)h << 16); }

static inline uint16_t write_bf16(float x) {
  uint32_t u = bits_of_float(x), kept = u >> 16, rest = u & 0xffff;
  if (x != x) return 0x7fc0;
  return (uint16_t)(kept + (rest > 0x8000 || (rest == 0x8000 && (kept & 1))));
}

/* fraction × 2^(exponent - 25), the hidden bit in the fraction. */
static inline float read_f16(uint16_t h) {
  int exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
  float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                              : ldexpf((float)(exponent ? fraction + 1024 : fraction), (exponent ? exponent : 1) - 25);
  return h & 0x8000 ? -size : size;
}

static inline uint16_t write_f16(float x) {
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  float size = fabsf(x);
  int e;
  if (x != x) return 0x7e00;
  if (size >= 65520.0f) return sign | 0x7c00;
  frexpf(size, &e);    /* size = m 2^e, m in [1/2, 1) */
  if (e < -13) e = -13; /* the spacing of subnormals */
  float steps = rintf(ldexpf(size, 11 - e)); /* of 2^(e - 11): exact but for this rounding */
  if (steps == 2048) return sign | (uint16_t)((e + 15) << 10);
  return sign | (uint16_t)(steps >= 1024 ? ((e + 14) << 10) + (int)steps - 1024 : (int)steps);
}

#endif

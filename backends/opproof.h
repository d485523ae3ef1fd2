/* opproof.h: the C interface between opproof and a library of tensor operators.
 *
 * Build a shared library that exports the functions below and run
 *     opproof run -b ./libmine.so
 * This header stands alone; DLTensor is DLPack's struct (github.com/dmlc/dlpack), byte for byte,
 * and is left out where dlpack.h was included before.
 *
 * Rules
 *   - All tensors are borrowed: keep no pointer after the call returns, free nothing.
 *   - Element i of a tensor lies at (char*)data + byte_offset + itemsize * sum(index[k] * strides[k]).
 *     byte_offset is 0 on the CPU and anything on another device.
 *     strides count elements, are never NULL and may be 0 (broadcast) or in any order. Outputs and
 *     gradients are row-major, unless opproof_destinations says that they need not be.
 *   - Outputs and gradients are allocated by the caller and hold poison: write every element.
 *   - Inputs must not be written, but for the one that an output shares its memory with (opproof_destinations).
 *   - `message` receives a NUL-terminated reason with UNSUPPORTED and FAILED.
 *   - Tensors lie in the CPU's memory, each against an unreadable page. A library for another device
 *     exports the four functions at the end, and gets tensors that lie there, between guard zones.
 */
#ifndef OPPROOF_H
#define OPPROOF_H

#include <stddef.h>
#include <stdint.h>

#define OPPROOF_ABI_VERSION 1

#if defined(_WIN32)
#define OPPROOF_EXPORT __declspec(dllexport)
#else
#define OPPROOF_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_VERSION
enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLROCM = 10,
  kDLExtDev = 12,
  kDLOneAPI = 14
};
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6, kDLFloat8_e4m3fn = 10, kDLFloat8_e5m2 = 12 };

typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct {
  uint8_t code; /* kDLFloat with bits 64, 32 or 16; kDLBfloat with 16; kDLInt with 64; of opproof_dtypes others */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements */
  uint64_t byte_offset;
} DLTensor;
#endif

/* A parameter. `type` says which fields hold its value. */
enum {
  OPPROOF_NONE = 0,   /* Python's None */
  OPPROOF_INT = 1,    /* i */
  OPPROOF_FLOAT = 2,  /* f */
  OPPROOF_BOOL = 3,   /* i: 0 or 1 */
  OPPROOF_STRING = 4, /* s; a tuple of strings is joined by commas */
  OPPROOF_INTS = 5,   /* ints[0 .. count): a tuple of integers; nested tuples are flattened */
  OPPROOF_FLOATS = 6  /* floats[0 .. count) */
};

typedef struct {
  const char *name;
  int32_t type;
  int32_t count;
  int64_t i;
  double f;
  const char *s;
  const int64_t *ints;
  const double *floats;
} opproof_param;

/* One call: the operator's name, its input tensors in order and its parameters by name, those with a
 * default included. n_inputs counts all inputs of the operator: one that is optional and absent is NULL. */
typedef struct {
  const char *op;
  int32_t n_inputs;
  int32_t n_params;
  const DLTensor *const *inputs;
  const opproof_param *params;
} opproof_call;

enum { OPPROOF_OK = 0, OPPROOF_UNSUPPORTED = 1, OPPROOF_FAILED = 2 };

/* Required: return OPPROOF_ABI_VERSION. */
OPPROOF_EXPORT int32_t opproof_abi_version(void);

/* Required: compute the outputs. */
OPPROOF_EXPORT int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                                       char *message, size_t message_size);

/* Optional: gradients of the inputs given the cotangents of the outputs. cotangents[i] belongs to output i
 * and is NULL where that is of integers or booleans. gradients[i] belongs to inputs[i] and is NULL where it
 * is not asked for (integer inputs always). */
OPPROOF_EXPORT int32_t opproof_vjp(const opproof_call *call, int32_t n_outputs, const DLTensor *const *cotangents,
                                   DLTensor *const *gradients, char *message, size_t message_size);

/* Optional: what the reports call this library, its version and its device. */
OPPROOF_EXPORT const char *opproof_name(void);
OPPROOF_EXPORT const char *opproof_version(void);
OPPROOF_EXPORT const char *opproof_device(void);

/* Optional: called once after loading. */
OPPROOF_EXPORT int32_t opproof_init(char *message, size_t message_size);

/* Optional: alignment in bytes that the library needs of every contiguous buffer; 64 when absent.
 * The smaller it is, the fewer bytes past a buffer go unguarded. */
OPPROOF_EXPORT int32_t opproof_alignment(void);

/* Optional: a lower precision by which results are judged, how they are rounded, and that they vary. NULL: as they should be.
 * `dtype` is f64, f32, f16 or bf16, `mode` is forward or gradient. The text must last as long as the library.
 *
 * opproof_precision  "storage": several steps, with the dtype itself between them, sums in float32;
 *                    "f32", "tf32", "f16", "bf16": all arithmetic has that precision;
 *                    "q8": activations in blocks of 8 bits
 * opproof_rounding   "truncate": results are stored rounded towards zero, not to nearest
 * opproof_bits       "vary": the same call may give other bits, as sums of atomic additions do; each answer has to be right
 */
OPPROOF_EXPORT const char *opproof_precision(const char *op, const char *dtype, const char *mode);
OPPROOF_EXPORT const char *opproof_rounding(const char *op, const char *dtype, const char *mode);
OPPROOF_EXPORT const char *opproof_bits(const char *op, const char *dtype, const char *mode);

/* Optional: the dtypes of data that the library has beside f64, f32, f16 and bf16, as words with commas between them:
 * "f8e4m3" (kDLFloat8_e4m3fn), "f8e5m2" (kDLFloat8_e5m2), "i8", "i16", "i32" (kDLInt), "u8" (kDLUInt). Cases of dtypes
 * that it does not name are not asked for, and counted as declined; nothing is when absent. Whole numbers are compared
 * bit for bit, and none is asked for that its dtype does not hold. The text must last as long as the library. */
OPPROOF_EXPORT const char *opproof_dtypes(void);

/* Optional: 1 where the library takes floats of several dtypes in one call: outputs and cotangents have that of
 * inputs[0] (of mul_mat_id that of b), others may have another, weights of f32 beside data of bf16 for instance. A
 * gradient has the dtype of its own input. opproof_precision and opproof_rounding are asked for "f32+f16" (outputs of f32, some input
 * of f16) before "f32". Such calls are not made, and counted as declined, when absent or 0. */
OPPROOF_EXPORT int32_t opproof_mixed(void);

/* Optional: where the library can write results beside row-major memory of their own: the sum of
 *
 * OPPROOF_IN_PLACE  outputs[0] may lie exactly where one of the inputs does: the same data, byte_offset, shape and
 *                   strides, whatever these are. Its elements hold that input until they are written. In opproof_vjp
 *                   one of the gradients may lie exactly where cotangents[0] does, while other gradients are asked for
 *                   too. All else is read-only as ever: every other input, and every input of opproof_vjp, which a
 *                   forward in place would have overwritten.
 * OPPROOF_STRIDED   outputs and gradients may be views, with strides of any order and size but 0. The bytes between
 *                   their elements are not the library's to write.
 *
 * Compare pointers to find out which call it is. 0 when absent: such calls are then not made, and counted as declined.
 * A library that can for some operators only returns OPPROOF_UNSUPPORTED for the others.
 */
enum { OPPROOF_IN_PLACE = 1, OPPROOF_STRIDED = 2 };

OPPROOF_EXPORT int32_t opproof_destinations(void);

/* Optional: compute with `threads` threads from now on; called before every call of `opproof run --threads 1,2,8`.
 * Without it, omp_set_num_threads is called for a library that is linked with OpenMP; for any other, such runs
 * are declined. */
OPPROOF_EXPORT void opproof_set_threads(int32_t threads);

/* Optional: the name of what computed the last call, where the library chooses among several or falls back, such as
 * "avx512" or "generic"; NULL where it has nothing to say. Reports count records by it, and
 * `opproof run --require-impl PATTERN` fails those of another. */
OPPROOF_EXPORT const char *opproof_impl(void);

/* For a device that is not the CPU: export these four, or none of them.
 *
 * Every tensor of a call lies in memory from opproof_alloc: `data` is what that returned, a pointer
 * or any other handle (a cl_mem), which opproof only hands back; the first element lies byte_offset
 * bytes behind it, the bytes before and after the tensor hold a pattern, and device_id is 0. The tensors
 * are copied in before the call and out after it, and the pattern is looked at then: a write out of
 * bounds is seen, a read is not unless it changes the result. The structs of the call, shapes, strides
 * and parameters too, stay in the CPU's memory.
 *
 * opproof_device_type  a DLPack code, such as kDLCUDA; kDLCPU is as if it were not exported
 * opproof_alloc        at least `bytes` bytes, aligned as opproof_alignment says; FAILED where there are none left
 * opproof_free         give it back
 * opproof_copy         copy `bytes` bytes from the beginning of `src` to that of `dst`, one of them from
 *                      opproof_alloc, as `direction` says. Wait for earlier calls to end and return after
 *                      the last byte. FAILED, here or of opproof_free, means that the device is lost: the
 *                      case at hand has the verdict CRASH with that message, and the next case gets a new process.
 */
enum { OPPROOF_TO_DEVICE = 0, OPPROOF_FROM_DEVICE = 1 };

OPPROOF_EXPORT int32_t opproof_device_type(void);
OPPROOF_EXPORT int32_t opproof_alloc(size_t bytes, void **memory, char *message, size_t message_size);
OPPROOF_EXPORT int32_t opproof_free(void *memory, char *message, size_t message_size);
OPPROOF_EXPORT int32_t opproof_copy(void *dst, const void *src, size_t bytes, int32_t direction, char *message,
                                    size_t message_size);

#ifdef __cplusplus
}
#endif
#endif

/* Calls of a library in a row, timed where they are made: no interpreter between the clock and the kernel. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int32_t (*forward)(const void *, int32_t, void *, char *, size_t);
typedef int32_t (*vjp)(const void *, int32_t, void *, void *, char *, size_t);

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds of `calls` calls, or minus one minus the status of one that failed. `cotangents` is NULL for a forward.
 * Where `evict` is not NULL, its bytes are written before every call, whose time alone then counts. */
int64_t opproof_timed(void *function, const void *call, int32_t outputs, void *cotangents, void *results, char *message,
                      size_t size, int64_t calls, volatile char *evict, size_t evicted) {
    int64_t total = 0, start = now();
    for (int64_t i = 0; i < calls; i++) {
        if (evict) {
            for (size_t k = 0; k < evicted; k += 64) evict[k]++;
            start = now();
        }
        int32_t status = cotangents ? ((vjp)function)(call, outputs, cotangents, results, message, size)
                                    : ((forward)function)(call, outputs, results, message, size);
        if (status) return -1 - status;
        if (evict) total += now() - start;
    }
    return evict ? total : now() - start;
}

/* defects.h: faults planted on purpose, to see that opproof finds them. See the README's table.
 *
 * The good library has none of them: DEFECT(...) is 0 there. The broken one, built with
 * -DPLANTED_DEFECTS, has those that the environment variable OPPROOF_DEFECT names.
 */
#ifndef DEFECTS_H
#define DEFECTS_H

#include "call.h"

#ifdef PLANTED_DEFECTS
#define DEFECT(name) defect_is_on(name)

/* Whether OPPROOF_DEFECT names it. */
int defect_is_on(const char *name);

/* Read OPPROOF_DEFECT; fails on a name that is none. */
int32_t defects_read(Reason why);

/* The faults of whole calls (memory, time, the process), before and after the computation. */
int32_t defects_before(const opproof_call *call, Reason why);
void defects_after(const opproof_call *call, const DLTensor *y);

/* The value that was given first for line `i` of a tensor of the shape of `x`. */
double defect_stale(const DLTensor *x, int64_t i, double value);
#else
#define DEFECT(name) 0
#define defect_stale(x, i, value) (value)

static inline int32_t defects_read(Reason why) { return (void)why, OPPROOF_OK; }
static inline int32_t defects_before(const opproof_call *call, Reason why) { return (void)call, (void)why, OPPROOF_OK; }
static inline void defects_after(const opproof_call *call, const DLTensor *y) { (void)call, (void)y; }
#endif

#endif

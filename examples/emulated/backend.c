/* What opproof asks for, handed to the kernels: frames.h speaks, kernels.h computes. */
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "kernels.h"

/* Which element of `t` the element `index` of a result of shape `shape` takes, `t` broadcast to it. */
static size_t source(const tensor *t, size_t index, int rank, const int64_t *shape) {
    size_t at = 0, stride = 1;
    for (int d = rank - 1, k = t->rank - 1; k >= 0; d--, k--) {
        size_t i = index % (size_t)shape[d];
        index /= (size_t)shape[d];
        if (t->shape[k] > 1) at += i * stride;
        stride *= (size_t)t->shape[k];
    }
    return at;
}

static int same_shape(const tensor *a, const tensor *b) {
    return a->rank == b->rank && !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

/* y = a + b, each broadcast; a gradient is g summed over what was repeated. */
static void ask_add(message *request, message *answer, const tensor *a, const tensor *b, const tensor *g) {
    const tensor *inputs[2] = {a, b};
    char name[] = "gradient.0";
    for (int k = 0; g && k < 2; k++, name[9]++) {
        if (!needs_gradient(request, k)) continue;
        tensor *d = add_tensor(answer, name, inputs[k]->rank, inputs[k]->shape);
        for (size_t i = 0; i < g->count; i++) d->data[source(d, i, g->rank, g->shape)] += g->data[i];
    }
    if (g) return;
    int64_t shape[MAX_RANK];
    int rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < rank; d++) {
        int64_t m = d < rank - a->rank ? 1 : a->shape[d - rank + a->rank];
        int64_t n = d < rank - b->rank ? 1 : b->shape[d - rank + b->rank];
        shape[d] = m == 1 ? n : m;
    }
    tensor *y = add_tensor(answer, "output.0", rank, shape);
    if (same_shape(a, b)) {
        add(a->data, b->data, y->data, y->count);
        return;
    }
    for (size_t i = 0; i < y->count; i++)
        add(&a->data[source(a, i, rank, shape)], &b->data[source(b, i, rank, shape)], &y->data[i], 1);
}

/* y = a b of matrices. */
static void ask_matmul(message *answer, const tensor *a, const tensor *b, const tensor *g) {
    if (g || a->rank != 2 || b->rank != 2) {
        decline(answer, "matmul of two matrices only, and no gradient");
        return;
    }
    int64_t shape[] = {a->shape[0], b->shape[1]};
    tensor *y = add_tensor(answer, "output.0", 2, shape);
    matmul(a->data, b->data, y->data, (size_t)shape[0], (size_t)a->shape[1], (size_t)shape[1]);
}

/* Softmax and sum are along the last axis here. */
static int is_along_the_last(const message *request, const tensor *x) {
    const char *dim = parameter(request, "dim");
    if (!dim || *dim == '[' || x->rank == 0) return 0;
    long axis = strtol(dim, NULL, 10);
    return axis == -1 || axis == x->rank - 1;
}

static void ask_softmax(message *request, message *answer, const tensor *x, const tensor *g) {
    if (!is_along_the_last(request, x)) {
        decline(answer, "softmax along the last axis only");
        return;
    }
    tensor *y = add_tensor(answer, g ? "gradient.0" : "output.0", x->rank, x->shape);
    size_t n = (size_t)x->shape[x->rank - 1];
    for (size_t i = 0; i < y->count; i += n) {
        softmax(x->data + i, y->data + i, n);
        if (g) softmax_gradient(y->data + i, g->data + i, y->data + i, n);
    }
}

static void ask_sum(message *request, message *answer, const tensor *x, const tensor *g) {
    const char *keepdim = parameter(request, "keepdim");
    if (!is_along_the_last(request, x)) {
        decline(answer, "sum along the last axis only");
        return;
    }
    int64_t shape[MAX_RANK];
    memcpy(shape, x->shape, sizeof shape);
    size_t n = (size_t)x->shape[x->rank - 1];
    shape[x->rank - 1] = 1;
    int rank = keepdim && *keepdim == 't' ? x->rank : x->rank - 1;
    tensor *y = g ? add_tensor(answer, "gradient.0", x->rank, x->shape) : add_tensor(answer, "output.0", rank, shape);
    for (size_t i = 0; i < y->count; i++) y->data[i] = g ? g->data[i / n] : sum(x->data + i * n, n);
}

static void ask_rms_norm(message *request, message *answer, const tensor *x, const tensor *w, const tensor *g) {
    const char *eps = parameter(request, "eps");
    if (g || x->rank == 0) {
        decline(answer, "rms_norm of rows only, and no gradient");
        return;
    }
    tensor *y = add_tensor(answer, "output.0", x->rank, x->shape);
    size_t n = (size_t)x->shape[x->rank - 1];
    for (size_t i = 0; i < y->count; i += n)
        rms_norm(x->data + i, w ? w->data : NULL, y->data + i, n, eps ? strtod(eps, NULL) : 1e-6);
}

static void compute(message *request, message *answer) {
    tensor *x = find(request, "input.0"), *b = find(request, "input.1"), *g = find(request, "cotangent.0");
    const char *op = request->op;
    if (!x || !x->data || (b && !b->data) || (g && !g->data)) {
        decline(answer, "float32 only");
    } else if (!strcmp(op, "relu")) {
        tensor *y = add_tensor(answer, g ? "gradient.0" : "output.0", x->rank, x->shape);
        if (g) relu_gradient(x->data, g->data, y->data, y->count);
        else relu(x->data, y->data, y->count);
    } else if (!strcmp(op, "add")) {
        ask_add(request, answer, x, b, g);
    } else if (!strcmp(op, "matmul")) {
        ask_matmul(answer, x, b, g);
    } else if (!strcmp(op, "softmax")) {
        ask_softmax(request, answer, x, g);
    } else if (!strcmp(op, "sum")) {
        ask_sum(request, answer, x, g);
    } else {
        ask_rms_norm(request, answer, x, b, g);
    }
}

int main(void) {
    return serve("\"name\":\"emulated\",\"version\":\"1\",\"device\":\"" PROCESSOR "\",\"ops\":"
                 "\"[\\\"relu\\\",\\\"add\\\",\\\"matmul\\\",\\\"softmax\\\",\\\"sum\\\",\\\"rms_norm\\\"]\"", compute);
}

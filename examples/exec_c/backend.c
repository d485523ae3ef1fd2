/* A backend of three operators in float32, values and gradients, that speaks the exec protocol. */
#include <stdio.h>
#include <string.h>

#include "frames.h"

static void decline(message *answer, const char *reason) {
    strcpy(answer->kind, "unsupported");
    snprintf(answer->text, TEXT, "%s", reason);
}

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

/* relu(x) = max(x, 0); NaN stays. dx = g where x > 0. */
static void relu(const tensor *x, const tensor *g, tensor *y) {
    for (size_t i = 0; i < x->count; i++)
        y->data[i] = x->data[i] <= 0 ? 0 : g ? g->data[i] : x->data[i];
}

/* a + b, each broadcast. */
static void add(message *answer, const tensor *a, const tensor *b) {
    int64_t shape[MAX_RANK];
    int rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < rank; d++) {
        int64_t m = d < rank - a->rank ? 1 : a->shape[d - rank + a->rank];
        int64_t n = d < rank - b->rank ? 1 : b->shape[d - rank + b->rank];
        shape[d] = m == 1 ? n : m;
    }
    tensor *y = add_tensor(answer, "output.0", rank, shape);
    for (size_t i = 0; i < y->count; i++)
        y->data[i] = a->data[source(a, i, rank, shape)] + b->data[source(b, i, rank, shape)];
}

/* The gradient of a broadcast tensor: g summed over what was repeated. */
static void summed(const tensor *g, tensor *d) {
    for (size_t i = 0; i < g->count; i++) d->data[source(d, i, g->rank, g->shape)] += g->data[i];
}

/* y = a b of matrices m × k and k × n, each read by its strides, so that a transposed one costs nothing. */
static void product(const float *a, size_t ai, size_t ak, const float *b, size_t bk, size_t bj, float *y,
                    size_t m, size_t k, size_t n) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++) sum += a[i * ai + l * ak] * b[l * bk + j * bj];
            y[i * n + j] = sum;
        }
}

/* y = a b, da = g bᵀ, db = aᵀ g. */
static void matmul(message *answer, const tensor *a, const tensor *b, const tensor *g, const int needs[2]) {
    if (a->rank != 2 || b->rank != 2) {
        decline(answer, "matmul of matrices only, of two dimensions each");
        return;
    }
    size_t m = (size_t)a->shape[0], k = (size_t)a->shape[1], n = (size_t)b->shape[1];
    int64_t shape[] = {a->shape[0], b->shape[1]};
    if (!g) product(a->data, k, 1, b->data, n, 1, add_tensor(answer, "output.0", 2, shape)->data, m, k, n);
    if (g && needs[0]) product(g->data, n, 1, b->data, 1, n, add_tensor(answer, "gradient.0", 2, a->shape)->data, m, n, k);
    if (g && needs[1]) product(a->data, 1, k, g->data, n, 1, add_tensor(answer, "gradient.1", 2, b->shape)->data, k, m, n);
}

static void compute(message *request, message *answer) {
    tensor *a = find(request, "input.0"), *b = find(request, "input.1"), *g = find(request, "cotangent.0");
    const char *op = request->op;
    /* needs is a JSON list such as [true, false] */
    const char *second = strchr(request->needs, ',');
    int needs[2] = {!strncmp(request->needs, "[true", 5), second && strstr(second, "true")};
    int binary = !strcmp(op, "add") || !strcmp(op, "matmul");
    if (!binary && strcmp(op, "relu")) {
        decline(answer, "only relu, add and matmul are here");
    } else if (!a || !a->data || (binary && (!b || !b->data))) {
        decline(answer, "float32 only");
    } else if (!strcmp(op, "relu")) {
        relu(a, g, add_tensor(answer, g ? "gradient.0" : "output.0", a->rank, a->shape));
    } else if (!strcmp(op, "matmul")) {
        matmul(answer, a, b, g, needs);
    } else if (!g) {
        add(answer, a, b);
    } else {
        if (needs[0]) summed(g, add_tensor(answer, "gradient.0", a->rank, a->shape));
        if (needs[1]) summed(g, add_tensor(answer, "gradient.1", b->rank, b->shape));
    }
}

int main(void) {
    message request, answer;
    while (read_message(&request)) {
        memset(&answer, 0, sizeof answer);
        memcpy(answer.id, request.id, TEXT);
        if (!strcmp(request.kind, "hello")) {
            strcpy(answer.kind, "hello");
            write_message(&answer, ",\"name\":\"exec_c\",\"version\":\"1\",\"ops\":\"[\\\"relu\\\",\\\"add\\\",\\\"matmul\\\"]\"");
        } else {
            strcpy(answer.kind, strcmp(request.kind, "vjp") ? "outputs" : "gradients");
            compute(&request, &answer);
            write_message(&answer, "");
        }
        free_message(&request);
        free_message(&answer);
    }
    return 0;
}

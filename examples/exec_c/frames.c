#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void *allocated(size_t size) {
    void *p = calloc(size + 1, 1);
    if (!p) die("out of memory");
    return p;
}

static uint64_t u64(const unsigned char *p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

/* The header's JSON: objects, strings and whole numbers are all that it holds. */

static const char *skip(const char *p, char wanted) {
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
    if (wanted && *p++ != wanted) die("the header is not the JSON that was expected");
    return wanted ? skip(p, 0) : p;
}

/* Read a string into `to`; what does not fit, such as long parameters, is dropped. Returns what follows. */
static const char *string(const char *p, char *to, size_t size) {
    size_t n = 0;
    for (p = skip(p, '"') ; *p && *p != '"'; p++) {
        char c = *p;
        if (c == '\\') {
            c = *++p;
            if (c == 'u') c = '?', p += 4;
            if (c == 'n') c = '\n';
            if (c == 't') c = '\t';
        }
        if (n + 1 < size) to[n++] = c;
    }
    to[n] = 0;
    return skip(p, '"');
}

static const char *numbers(const char *p, int64_t *to, int *count, int most) {
    p = skip(p, '[');
    for (*count = 0; *p != ']'; p = *p == ',' ? skip(p, ',') : p) {
        if (*count == most) die("too many numbers in a list");
        char *end;
        to[(*count)++] = strtoll(p, &end, 10);
        if (end == p) die("expected a number");
        p = skip(end, 0);
    }
    return skip(p, ']');
}

static const char *metadata(const char *p, message *m) {
    char key[TEXT], ignored[2];
    for (p = skip(p, '{'); *p != '}'; p = *p == ',' ? skip(p, ',') : p) {
        p = skip(string(p, key, sizeof key), ':');
        char *to = !strcmp(key, "kind") ? m->kind : !strcmp(key, "op") ? m->op : !strcmp(key, "id") ? m->id
                 : !strcmp(key, "needs") ? m->needs : NULL;
        p = string(p, to ? to : ignored, to ? TEXT : sizeof ignored);
    }
    return skip(p, '}');
}

static const char *description(const char *p, tensor *t, const unsigned char *data, uint64_t size) {
    char key[TEXT];
    int64_t offsets[2] = {0, 0};
    int two;
    for (p = skip(p, '{'); *p != '}'; p = *p == ',' ? skip(p, ',') : p) {
        p = skip(string(p, key, sizeof key), ':');
        if (!strcmp(key, "dtype")) p = string(p, t->dtype, sizeof t->dtype);
        else if (!strcmp(key, "shape")) p = numbers(p, t->shape, &t->rank, MAX_RANK);
        else p = numbers(p, offsets, &two, 2);
    }
    t->count = 1;
    for (int i = 0; i < t->rank; i++) t->count *= (size_t)t->shape[i];
    if (!strcmp(t->dtype, "F32")) {
        if (offsets[0] < 0 || (uint64_t)offsets[1] > size || (uint64_t)(offsets[1] - offsets[0]) != 4 * t->count)
            die("data_offsets do not fit the shape");
        t->data = allocated(4 * t->count);
        memcpy(t->data, data + offsets[0], 4 * t->count); /* the blob need not be aligned */
    }
    return skip(p, '}');
}

int read_message(message *m) {
    unsigned char head[8];
    memset(m, 0, sizeof *m);
    size_t got = fread(head, 1, 8, stdin);
    if (got == 0) return 0;
    uint64_t length = u64(head);
    unsigned char *blob = allocated(length);
    if (got < 8 || length < 8 || fread(blob, 1, length, stdin) != length) die("a frame was cut short");
    uint64_t header = u64(blob);
    if (header > length - 8) die("the header is longer than the frame");
    char *text = allocated(header);
    memcpy(text, blob + 8, header);
    const unsigned char *data = blob + 8 + header;
    char key[64];
    for (const char *p = skip(text, '{'); *p != '}'; p = *p == ',' ? skip(p, ',') : p) {
        p = skip(string(p, key, sizeof key), ':');
        if (!strcmp(key, "__metadata__")) {
            p = metadata(p, m);
            continue;
        }
        if (m->count == MAX_TENSORS) die("too many tensors");
        tensor *t = &m->tensors[m->count++];
        memcpy(t->name, key, sizeof key);
        p = description(p, t, data, length - 8 - header);
    }
    free(text);
    free(blob);
    return 1;
}

static void put_u64(uint64_t v) {
    for (int i = 0; i < 8; i++) putchar((int)(v >> 8 * i & 255));
}

/* Letters, digits and the like as they are, all else as a blank: enough for the texts of this backend. */
static void plain(char *to, const char *from) {
    for (; *from; from++) *to++ = *from == '"' || *from == '\\' || (unsigned char)*from < 32 ? ' ' : *from;
    *to = 0;
}

void write_message(const message *m, const char *extra) {
    char header[8192], text[TEXT];
    size_t at = 0, end = 0;
    plain(text, m->text);
    const char *key = !strcmp(m->kind, "unsupported") ? "reason" : "message";
    int n = snprintf(header, sizeof header, "{\"__metadata__\":{\"kind\":\"%s\",\"id\":\"%s\",\"%s\":\"%s\"%s}",
                     m->kind, m->id, key, text, extra);
    for (int i = 0; i < m->count; i++, at = end) {
        const tensor *t = &m->tensors[i];
        end = at + 4 * t->count;
        n += snprintf(header + n, sizeof header - (size_t)n, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", t->name);
        for (int d = 0; d < t->rank; d++)
            n += snprintf(header + n, sizeof header - (size_t)n, "%s%lld", d ? "," : "", (long long)t->shape[d]);
        n += snprintf(header + n, sizeof header - (size_t)n, "],\"data_offsets\":[%zu,%zu]}", at, end);
    }
    n += snprintf(header + n, sizeof header - (size_t)n, "}");
    put_u64(8 + (uint64_t)n + end);
    put_u64((uint64_t)n);
    fwrite(header, 1, (size_t)n, stdout);
    for (int i = 0; i < m->count; i++) fwrite(m->tensors[i].data, 4, m->tensors[i].count, stdout);
    fflush(stdout);
}

tensor *find(message *m, const char *name) {
    for (int i = 0; i < m->count; i++)
        if (!strcmp(m->tensors[i].name, name)) return &m->tensors[i];
    return NULL;
}

tensor *add_tensor(message *m, const char *name, int rank, const int64_t *shape) {
    if (m->count == MAX_TENSORS) die("too many tensors");
    tensor *t = &m->tensors[m->count++];
    snprintf(t->name, sizeof t->name, "%s", name);
    t->rank = rank;
    t->count = 1;
    for (int i = 0; i < rank; i++) t->count *= (size_t)(t->shape[i] = shape[i]);
    t->data = allocated(4 * t->count);
    return t;
}

void free_message(message *m) {
    for (int i = 0; i < m->count; i++) free(m->tensors[i].data);
    m->count = 0;
}

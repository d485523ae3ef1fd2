/* Frames of the exec protocol (docs/reference/exec-protocol.md): a u64 length and a safetensors blob. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_TENSORS = 16, MAX_RANK = 8, TEXT = 256 };

typedef struct {
    char name[64], dtype[8];
    int rank;
    int64_t shape[MAX_RANK];
    size_t count; /* of elements */
    float *data;  /* a copy, row by row, of an F32 tensor; NULL otherwise */
} tensor;

typedef struct {
    char kind[TEXT], op[TEXT], id[TEXT], needs[TEXT], text[TEXT]; /* text: reason or message of an answer */
    int count;
    tensor tensors[MAX_TENSORS];
} message;

/* 1 with the next message, 0 at the end of standard input. Anything malformed ends the process, with a word on stderr. */
int read_message(message *m);

/* Write an answer whose `extra` is inserted into the metadata as it is, such as ",\"name\":\"mine\"", and flush. */
void write_message(const message *m, const char *extra);

/* The tensor of that name, or NULL. */
tensor *find(message *m, const char *name);

/* A new tensor of `m`, all zeros. */
tensor *add_tensor(message *m, const char *name, int rank, const int64_t *shape);

void free_message(message *m);

#endif

/* Golden vectors in C: reads the files that `opproof export -o relu --dtype f32 DIR` wrote, computes relu, and counts
 * the elements that are out of their bounds. A file is safetensors: eight bytes with the length of a JSON header, the
 * header, then the numbers. Of tensors that are not row-major (manifest.json has their strides) it says so.
 *
 *     cc -O2 relu.c -o relu && find DIR/relu -name '*.safetensors' | xargs ./relu                                  */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *header, *numbers;

struct tensor { char dtype[8], shape[128]; size_t begin, end; };

static int find(const char *name, struct tensor *t) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":{\"dtype\":\"", name);
    const char *at = strstr(header, key);
    return at && sscanf(at + strlen(key), "%7[A-Z0-9]\",\"shape\":[%127[0-9,]],\"data_offsets\":[%zu,%zu]", t->dtype,
                        t->shape, &t->begin, &t->end) == 4;
}

static int load(const char *path) {
    uint64_t length;
    FILE *file = fopen(path, "rb");
    if (!file || fread(&length, 8, 1, file) != 1) return 0; /* little-endian, as this machine is taken to be */
    fseek(file, 0, SEEK_END);
    size_t rest = (size_t)ftell(file) - 8 - length;
    fseek(file, 8, SEEK_SET);
    header = calloc(length + 1, 1), numbers = malloc(rest + 1);
    int whole = fread(header, 1, length, file) == length && fread(numbers, 1, rest, file) == rest;
    return fclose(file) == 0 && whole;
}

static float relu(float x) {
#ifdef DEFECT
    return x > 0 ? x * 1.0001f : 0;
#else
    return x != x ? x : x > 0 ? x : 0; /* not a number stays one */
#endif
}

int main(int argc, char **argv) {
    size_t judged = 0, wrong = 0, other = 0;
    for (int i = 1; i < argc; i++, free(header), free(numbers)) {
        struct tensor x, y, b;
        if (!load(argv[i])) return fprintf(stderr, "%s cannot be read\n", argv[i]), 2;
        int there = find("input.0", &x) && find("output.0.expected", &y) && find("output.0.bound", &b);
        if (!there || strcmp(x.dtype, "F32") || strcmp(x.shape, y.shape)) { other++; continue; }
        const float *in = (const float *)(numbers + x.begin);
        const double *expected = (const double *)(numbers + y.begin), *bound = (const double *)(numbers + b.begin);
        for (size_t k = 0; k < (x.end - x.begin) / sizeof *in; k++, judged++) {
            float got = relu(in[k]), right = (float)expected[k];
            int equal = got == right || (got != got && right != right);
            wrong += !equal && !(got - expected[k] <= bound[k] && expected[k] - got <= bound[k]);
        }
    }
    printf("%zu of %zu elements out of bounds; %zu files of another dtype or layout\n", wrong, judged, other);
    return wrong || !judged;
}

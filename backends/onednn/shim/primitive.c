/* primitive.c: from views to the memories of a primitive, and back.
 *
 * A primitive says in which format it wants each argument. Where the view lies in that format, oneDNN
 * reads and writes the caller's memory itself; where it does not, a reorder of oneDNN stands between.
 */
#include "shim.h"

static dnnl_memory_desc_t owned(Scope *s, dnnl_memory_desc_t md, dnnl_status_t status, const char *what) {
  if (!check(s, status, what)) return NULL;
  if (s->n_descriptors == MAX_OBJECTS) {
    dnnl_memory_desc_destroy(md);
    fail(s, "the shim holds at most %d objects", MAX_OBJECTS);
    return NULL;
  }
  s->descriptors[s->n_descriptors++] = md;
  return md;
}

static dnnl_memory_desc_t strided(Scope *s, const View *v) {
  dnnl_memory_desc_t md = NULL;
  if (!ok(s)) return NULL;
  dnnl_status_t status = dnnl_memory_desc_create_with_strides(&md, v->ndims, v->dims, v->type, v->strides);
  if (status == dnnl_invalid_arguments) { /* as of x[:, ::3] of 32 columns: 11 cells 3 apart fill 33 */
    decline(s, "oneDNN refuses these strides: it wants room for n whole steps in an axis of n cells");
  }
  return owned(s, md, status, "a memory descriptor with the tensor's strides");
}

dnnl_memory_desc_t described(Scope *s, const View *v) {
  if (v == NULL) return NULL;
  View row_major = dense(*v);
  return strided(s, s->layout == LIES && !overlaps(v) ? v : &row_major);
}

dnnl_memory_desc_t any_format(Scope *s, const View *v) {
#ifdef SHIM_PLAIN
  return described(s, v);
#else
  dnnl_memory_desc_t md = NULL;
  if (v == NULL || !ok(s)) return NULL;
  dnnl_status_t status = dnnl_memory_desc_create_with_tag(&md, v->ndims, v->dims, v->type, dnnl_format_tag_any);
  return owned(s, md, status, "a memory descriptor of any format");
#endif
}

/* A call that has become dense stays so: backward wants the formats of its forward. */
int again(Scope *s, dnnl_status_t status) {
  if (!ok(s) || s->layout == DENSE) return 0;
  if (status != dnnl_unimplemented && status != dnnl_invalid_arguments) return 0;
  s->layout = DENSE;
  return 1;
}

dnnl_primitive_desc_t keep(Scope *s, dnnl_primitive_desc_t pd, dnnl_status_t status, const char *what) {
  if (!check(s, status, what)) return NULL;
  if (s->n_primitives == MAX_OBJECTS) {
    dnnl_primitive_desc_destroy(pd);
    fail(s, "the shim holds at most %d objects", MAX_OBJECTS);
    return NULL;
  }
  s->primitives[s->n_primitives++] = pd;
  return pd;
}

static dnnl_memory_t new_memory(Scope *s, const_dnnl_memory_desc_t md, void *data) {
  dnnl_memory_t m = NULL;
  if (!ok(s)) return NULL;
  if (s->n_memories == MAX_OBJECTS) {
    fail(s, "the shim holds at most %d objects", MAX_OBJECTS);
    return NULL;
  }
  if (check(s, dnnl_memory_create(&m, md, engine(), data), "a memory")) s->memories[s->n_memories++] = m;
  return m;
}

static dnnl_memory_t wrapped(Scope *s, const View *v) { return new_memory(s, strided(s, v), v->data); }

/* The format that the primitive wants of an argument; NULL where it has no such argument. */
static const_dnnl_memory_desc_t wanted(dnnl_primitive_desc_t pd, int argument) {
  const_dnnl_memory_desc_t md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, argument);
  int ndims = 0;
  if (md == NULL || dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &ndims) != dnnl_success) return NULL;
  return ndims == 0 ? NULL : md;
}

dnnl_memory_t memory_for(Scope *s, dnnl_primitive_desc_t pd, int argument) {
  const_dnnl_memory_desc_t md = ok(s) ? wanted(pd, argument) : NULL;
  return md == NULL ? NULL : new_memory(s, md, DNNL_MEMORY_ALLOCATE);
}

static void execute(Scope *s, dnnl_primitive_desc_t pd, int n, const dnnl_exec_arg_t *args) {
  dnnl_primitive_t primitive = NULL;
  if (!ok(s) || !check(s, dnnl_primitive_create(&primitive, pd), "creating the primitive")) return;
  check(s, dnnl_primitive_execute(primitive, stream(), n, args), "executing the primitive");
  check(s, dnnl_stream_wait(stream()), "waiting for the primitive");
  dnnl_primitive_destroy(primitive);
}

static void copy(Scope *s, dnnl_memory_t from, dnnl_memory_t to) {
  const_dnnl_memory_desc_t a = NULL, b = NULL;
  dnnl_primitive_desc_t pd = NULL;
  if (!ok(s)) return;
  dnnl_memory_get_memory_desc(from, &a);
  dnnl_memory_get_memory_desc(to, &b);
  dnnl_status_t status = dnnl_reorder_primitive_desc_create(&pd, a, engine(), b, engine(), NULL);
  pd = keep(s, pd, status, "a reorder");
  execute(s, pd, 2, (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void reorder(Scope *s, View from, View to) {
  dnnl_memory_t source = wrapped(s, &from), target = wrapped(s, &to);
  copy(s, source, target);
}

/* A memory of oneDNN as a row-major view. */
static View fresh(Scope *s, View like, dnnl_memory_t *m) {
  View v = dense(like);
  *m = new_memory(s, strided(s, &v), DNNL_MEMORY_ALLOCATE);
  if (ok(s)) check(s, dnnl_memory_get_data_handle(*m, &v.data), "the address of a memory");
  return v;
}

View plain_copy(Scope *s, View v) {
  dnnl_memory_t source = wrapped(s, &v), target;
  View w = fresh(s, v, &target);
  copy(s, source, target);
  return w;
}

View plain_view(Scope *s, dnnl_memory_t m, View like) {
  dnnl_memory_t target;
  View w = fresh(s, like, &target);
  if (m != NULL) copy(s, m, target);
  return w;
}

void merge_input(Scope *s, View *v, int first, int n) {
  if (merge(v, first, n)) return;
  *v = plain_copy(s, *v);
  merge(v, first, n);
}

Arg in(int argument, const View *v) {
  return v == NULL ? (Arg){.argument = 0} : (Arg){.argument = argument, .view = *v};
}

Arg out(int argument, const View *v) {
  return v == NULL ? (Arg){.argument = argument, .is_output = 1}
                   : (Arg){.argument = argument, .is_output = 1, .view = *v};
}

Arg held(int argument, dnnl_memory_t m) {
  return m == NULL ? (Arg){.argument = 0} : (Arg){.argument = argument, .held = m};
}

/* The memory that the primitive is given for an argument. Where the caller's lies in another format, inputs are
 * reordered into it, and *after is where an output goes afterwards. */
static dnnl_memory_t placed(Scope *s, const Arg *arg, const_dnnl_memory_desc_t want, dnnl_memory_t *after) {
  const_dnnl_memory_desc_t have = NULL;
  dnnl_memory_t m = arg->view.ndims > 0 ? wrapped(s, &arg->view) : arg->held;
  if (m != NULL) dnnl_memory_get_memory_desc(m, &have);
  if (have != NULL && dnnl_memory_desc_equal(have, want)) return m;
  dnnl_memory_t other = new_memory(s, want, DNNL_MEMORY_ALLOCATE);
  if (arg->is_output) *after = m;
  else if (m != NULL) copy(s, m, other);
  return other;
}

void run(Scope *s, dnnl_primitive_desc_t pd, int n, const Arg *args) {
  dnnl_exec_arg_t given[MAX_OBJECTS];
  dnnl_memory_t after[MAX_OBJECTS] = {NULL};
  int used = 0;
  for (int i = 0; ok(s) && i < n && used < MAX_OBJECTS; ++i) {
    const_dnnl_memory_desc_t want = args[i].argument == 0 ? NULL : wanted(pd, args[i].argument);
    if (want == NULL) continue;
    given[used].arg = args[i].argument;
    given[used].memory = placed(s, &args[i], want, &after[used]);
    ++used;
  }
  execute(s, pd, used, given);
  for (int i = 0; ok(s) && i < used; ++i) {
    if (after[i] != NULL) copy(s, given[i].memory, after[i]);
  }
}

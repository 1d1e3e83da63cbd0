/* One round of the private ANOVA over coded records: predictions, clipped residuals in levels, and their sums with all
 * functions. src/hedgerow/central/anova/rows.py has the reference in NumPy, products.py the proof of the norm.
 *
 * Records are taken 256 at a time, column by column. Products and sums are whole numbers and exact in any order; the
 * rest is a few operations on one record's own numbers, in the order of the reference, without fused multiply-adds.
 */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "doubles must be rounded after every operation; such machines use NumPy"
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#define X86 1
#include <immintrin.h>
#endif

typedef Py_ssize_t size;

#define ROWS 256
#define BEFORE 2048     /* records whose products with one function are added up in a vector of 32 bits */
#define MOST_GROUPS 512 /* whose products are added up in 32 bits */
#define WIDEST 64       /* bytes of a vector */
#define MOST_FEW 128    /* records whose functions are side by side at once: eight vectors of 32 bits */
#define ALIGNED __attribute__((aligned(64)))
#define FULL 127
#define SCALE 15
#define SPARE 24
#define MOST_OUTPUTS 1024
#define CUTS 254
#define TOGETHER 16     /* functions of a column that are looked up at once */

/* The functions, as rows.py lays them out. */
typedef struct {
    const int8_t *tables;     /* by column: 256 rows of sixteen bytes */
    const int32_t *columns;   /* (column of codes, first function, how many), up to sixteen: of more a column is there again */
    const int32_t *derived;   /* (function, function) */
    const int32_t *slots;     /* (function, function), interleaved for predictions */
    const int32_t *groups;    /* (function, first entry, entries), for predictions */
    const int32_t *entries;   /* slot */
    const int32_t *runs;      /* (function, first partner, partners), for sums */
    const int32_t *partners;  /* (function, place in the sums) */
    const int32_t *squares;   /* by place in the sums */
    const int32_t *units;
    int n_columns, n_singles, n_derived, n_slots, n_groups, n_entries, n_runs, n_partners, n_functions;
    int64_t allowed, most;    /* most: -1 for none */
} plan;

typedef struct {
    int16_t *x;               /* 256 values of each function, the constant last */
    int16_t *pairs;           /* of a few records */
    int16_t *q;
    int32_t *sums;            /* a vector of each partner */
    int64_t *norm, *size;
} work;

typedef struct {
    void (*decode)(const plan *, const uint8_t *const *, work *);
    void (*predict)(const plan *, const int32_t *, int, work *, double *);
    void (*gradient)(const plan *, work *);
    void (*collect)(const plan *, work *, int64_t *);
    void (*norms)(const plan *, work *);
    void (*levels)(const double *, const int32_t *, const uint16_t *, double, double, int32_t, int16_t *);
    void (*vectors)(const work *, const int32_t *, int, const double *, int16_t *);
    void (*moments)(const int16_t *, int, int64_t *);
} steps;

/* To the nearest whole number, ties to even, below 2**51: as NumPy's rint does it. */
static inline double nearest(double x)
{
    const double magic = 6755399441055744.0;
    return (x + magic) - magic;
}

static inline double between(double x, double limit)
{
    x = x < -limit ? -limit : x;
    return x > limit ? limit : x;
}

/* ---- vectors ---------------------------------------------------------------------------------------------- */

#define ADDRESS(table, at) ((const void *)((table) + (size)*(at) * TOGETHER))

#ifdef X86
#define KEEP(v) __asm__("" : "+x"(v)) /* in one register: compilers copy and spill sums that a loop adds to */
static inline int32_t sum128(__m128i v)
{
    v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
    v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1));
    return _mm_cvtsi128_si32(v);
}

#define NAME(x) x##_512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define LANES 4
#define VECTOR __m512i
#define ZERO _mm512_setzero_si512()
#define LOAD(p) _mm512_loadu_si512((const void *)(p))
#define STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define SAME32(x) _mm512_set1_epi32(x)
#define ADD32 _mm512_add_epi32
#define MULTIPLY_ADD _mm512_madd_epi16
#define MULTIPLY16 _mm512_mullo_epi16
#define PACK32 _mm512_packs_epi32
#define RIGHT32 _mm512_srai_epi32
#define LOW16 _mm512_unpacklo_epi16
#define HIGH16 _mm512_unpackhi_epi16
#define LEFT16(v) _mm512_slli_epi16(v, 8)
#define RIGHT16(v) _mm512_srai_epi16(v, 8)
#define LOOK_UP(t, at)                                                                                        \
    _mm512_inserti64x4(                                                                                       \
        _mm512_castsi256_si512(_mm256_loadu2_m128i(ADDRESS(t, (at) + 8), ADDRESS(t, at))),                    \
        _mm256_loadu2_m128i(ADDRESS(t, (at) + 24), ADDRESS(t, (at) + 16)), 1)
#define SUM32(v) _mm512_reduce_add_epi32(v)
#include "anova.h"

#define NAME(x) x##_256
#define TARGET __attribute__((target("avx2")))
#define LANES 2
#define VECTOR __m256i
#define ZERO _mm256_setzero_si256()
#define LOAD(p) _mm256_loadu_si256((const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((void *)(p), v)
#define SAME32(x) _mm256_set1_epi32(x)
#define ADD32 _mm256_add_epi32
#define MULTIPLY_ADD _mm256_madd_epi16
#define MULTIPLY16 _mm256_mullo_epi16
#define PACK32 _mm256_packs_epi32
#define RIGHT32 _mm256_srai_epi32
#define LOW16 _mm256_unpacklo_epi16
#define HIGH16 _mm256_unpackhi_epi16
#define LEFT16(v) _mm256_slli_epi16(v, 8)
#define RIGHT16(v) _mm256_srai_epi16(v, 8)
#define LOOK_UP(t, at) _mm256_loadu2_m128i(ADDRESS(t, (at) + 8), ADDRESS(t, at))
#define SUM32(v) sum128(_mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)))
#include "anova.h"

#define NAME(x) x##_128
#define TARGET
#define LANES 1
#define VECTOR __m128i
#define ZERO _mm_setzero_si128()
#define LOAD(p) _mm_loadu_si128((const void *)(p))
#define STORE(p, v) _mm_storeu_si128((void *)(p), v)
#define SAME32(x) _mm_set1_epi32(x)
#define ADD32 _mm_add_epi32
#define MULTIPLY_ADD _mm_madd_epi16
#define MULTIPLY16 _mm_mullo_epi16
#define PACK32 _mm_packs_epi32
#define RIGHT32 _mm_srai_epi32
#define LOW16 _mm_unpacklo_epi16
#define HIGH16 _mm_unpackhi_epi16
#define LEFT16(v) _mm_slli_epi16(v, 8)
#define RIGHT16(v) _mm_srai_epi16(v, 8)
#define LOOK_UP(t, at) _mm_loadu_si128(ADDRESS(t, at))
#define SUM32(v) sum128(v)
#include "anova.h"
#endif

#undef KEEP
#define KEEP(v)

/* Sixteen bytes in the vectors of GCC and Clang, for any processor. */
typedef int8_t v16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int16_t v8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int32_t v4 __attribute__((vector_size(16), aligned(1), may_alias));

static inline v16 low16(v16 a, v16 b)
{
    return (v16)__builtin_shufflevector((v8)a, (v8)b, 0, 8, 1, 9, 2, 10, 3, 11);
}

static inline v16 high16(v16 a, v16 b)
{
    return (v16)__builtin_shufflevector((v8)a, (v8)b, 4, 12, 5, 13, 6, 14, 7, 15);
}

static inline v16 multiply_add(v16 a, v16 b)
{
    const v4 x = (v4)a, y = (v4)b; /* the upper and the lower half of each 32 bits, with their signs */
    return (v16)((x >> 16) * (y >> 16) + (x << 16 >> 16) * (y << 16 >> 16));
}

static inline v16 pack32(v16 a, v16 b) /* which fit */
{
    return (v16)__builtin_shufflevector((v8)a, (v8)b, 0, 2, 4, 6, 8, 10, 12, 14);
}

static inline v16 same32(int32_t x)
{
    const v4 out = {x, x, x, x};
    return (v16)out;
}

#define NAME(x) x##_any
#define TARGET
#define LANES 1
#define VECTOR v16
#define ZERO ((v16){0})
#define LOAD(p) (*(const v16 *)(p))
#define STORE(p, v) (*(v16 *)(p) = (v16)(v))
#define SAME32 same32
#define ADD32(a, b) ((v16)((v4)(a) + (v4)(b)))
#define MULTIPLY_ADD multiply_add
#define MULTIPLY16(a, b) ((v16)((v8)(a) * (v8)(b)))
#define PACK32 pack32
#define RIGHT32(v, bits) ((v16)((v4)(v) >> (bits)))
#define LOW16 low16
#define HIGH16 high16
#define LEFT16(v) ((v16)((v8)(v) << 8))
#define RIGHT16(v) ((v16)((v8)(v) >> 8))
#define LOOK_UP(t, at) LOAD(ADDRESS(t, at))
#define SUM32(v) (((v4)(v))[0] + ((v4)(v))[1] + ((v4)(v))[2] + ((v4)(v))[3])
#include "anova.h"

/* By number: the best there is, any processor, 128, 256 and 512 bits. */
static const steps *steps_of(int path)
{
#ifdef X86
    __builtin_cpu_init();
    const int wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                     && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    const int middle = __builtin_cpu_supports("avx2");
    if (path == 0) path = wide ? 4 : middle ? 3 : 2;
    if (path == 4) return wide ? &steps_512 : NULL;
    if (path == 3) return middle ? &steps_256 : NULL;
    if (path == 2) return &steps_128;
#endif
    return path <= 1 ? &steps_any : NULL;
}

/* ---- one record's own numbers ------------------------------------------------------------------------------ */

static double power(const double *v, int k, int order)
{
    double total = 0.0;
    for (int o = 0; o < k; o++) total += order == 2 ? v[o] * v[o] : fabs(v[o]);
    return total;
}

/* Several outputs of one record, in place: shortened to the limit, in whole levels; see quantised in rows.py. */
static void quantise_many(double *level, int k, int order, double limit)
{
    double total = power(level, k, order), out[MOST_OUTPUTS];
    const double norm = order == 2 ? sqrt(total) : total, most = order == 2 ? limit * limit : limit;
    const double shorter = norm > limit ? limit * (1 - 0x1p-40) / (norm < 1e-300 ? 1e-300 : norm) : 1.0;
    for (int o = 0; o < k; o++) level[o] = level[o] * shorter;
    for (int o = 0; o < k; o++) out[o] = nearest(level[o]);
    if (power(out, k, order) > most)
        for (int o = 0; o < k; o++) out[o] = (double)(int32_t)level[o];
    if (power(out, k, order) > most)
        for (int o = 0; o < k; o++) out[o] = 0.0;
    memcpy(level, out, k * sizeof *level);
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

typedef struct {
    Py_buffer codes, targets, scales, tables, columns, derived, slots, groups, entries, runs, partners, squares, units;
    Py_buffer whole, step, out, scratch;
} buffers;

/* All functions of 256 records; what is beyond the last one counts as a record of code 0. */
static void load_block(const plan *p, const steps *v, const uint8_t *codes, size n, size at, size m, work *w, uint8_t *spare)
{
    const uint8_t *code[p->n_columns + 1];
    for (int c = 0; c < p->n_columns; c++) {
        code[c] = codes + (size)p->columns[3 * c] * n + at;
        if (m < ROWS) {
            memset(spare + c * ROWS, 0, ROWS);
            memcpy(spare + c * ROWS, code[c], m);
            code[c] = spare + c * ROWS;
        }
    }
    v->decode(p, code, w);
}

static void scale_block(const plan *p, const steps *v, size m, work *w, uint16_t *out)
{
    const int64_t constant = FULL * FULL;
    for (int i = 0; i < ROWS; i++) {
        w->norm[i] = constant * constant * p->squares[0];
        w->size[i] = constant * p->units[0];
    }
    v->norms(p, w);
    for (size i = 0; i < m; i++) {
        int64_t ratio = p->allowed / ((w->norm[i] >> SPARE) + 1);
        if (ratio > 1 << 2 * SCALE) ratio = 1 << 2 * SCALE;
        if (p->most >= 0) {
            int64_t least = (p->most << SCALE) / (w->size[i] < 1 ? 1 : w->size[i]);
            if (least > 1 << SCALE) least = 1 << SCALE;
            if (least * least < ratio) ratio = least * least;
        }
        out[i] = (uint16_t)sqrt((double)ratio); /* a correctly rounded root, cut: exact up to 2**30 */
    }
}

static int fits(const Py_buffer *b, size items, size width, const char *name)
{
    if (items >= 0 && b->len >= items * width) return 1;
    PyErr_Format(PyExc_ValueError, "'%s' is too short", name);
    return 0;
}

static int within(const int32_t *values, size n, int step, int64_t below, const char *name)
{
    for (size i = 0; i < n; i += step)
        if (values[i] < 0 || values[i] >= below) {
            PyErr_Format(PyExc_ValueError, "'%s' names what is not there", name);
            return 0;
        }
    return 1;
}

/* (function, first, how many) */
static int spans(const int32_t *values, size n, int functions, int64_t below, const char *name)
{
    for (size i = 0; i < n; i++) {
        const int32_t *span = values + 3 * i;
        if (span[0] < 0 || span[0] >= functions || span[1] < 0 || span[2] < 0 || (int64_t)span[1] + span[2] > below) {
            PyErr_Format(PyExc_ValueError, "'%s' names what is not there", name);
            return 0;
        }
    }
    return 1;
}

/* Every index is looked at before it is used. */
static int read_plan(const buffers *b, size n, plan *p)
{
    p->tables = b->tables.buf, p->columns = b->columns.buf, p->derived = b->derived.buf, p->slots = b->slots.buf;
    p->groups = b->groups.buf, p->entries = b->entries.buf, p->runs = b->runs.buf, p->partners = b->partners.buf;
    p->squares = b->squares.buf, p->units = b->units.buf;
    p->n_columns = (int)(b->columns.len / 12), p->n_derived = (int)(b->derived.len / 8), p->n_slots = (int)(b->slots.len / 8);
    p->n_groups = (int)(b->groups.len / 12), p->n_entries = (int)(b->entries.len / 4), p->n_runs = (int)(b->runs.len / 12);
    p->n_partners = (int)(b->partners.len / 8), p->n_functions = (int)(b->squares.len / 4);
    p->n_singles = 0;
    for (int c = 0; c < p->n_columns; c++) {
        const int32_t *column = p->columns + 3 * c;
        if (column[0] < 0 || column[1] != p->n_singles || column[2] < 1 || column[2] > TOGETHER || n < 0
            || !fits(&b->codes, ((size)column[0] + 1) * n, 1, "codes"))
            return PyErr_Occurred() ? 0 : within(column, 1, 1, 0, "columns");
        p->n_singles += column[2];
    }
    const int all = p->n_singles + p->n_derived + 1;
    return fits(&b->tables, (size)p->n_columns * 256 * TOGETHER, 1, "tables") && fits(&b->squares, 1, 4, "squares")
           && fits(&b->units, p->n_functions, 4, "units")
           && within(p->derived, 2 * (size)p->n_derived, 1, p->n_singles, "derived")
           && within(p->slots, 2 * (size)p->n_slots, 1, all, "slots")
           && within(p->entries, p->n_entries, 1, p->n_slots, "entries")
           && within(p->partners, 2 * (size)p->n_partners, 2, all, "partners")
           && within(p->partners + 1, 2 * (size)p->n_partners - 1, 2, p->n_functions, "partners")
           && spans(p->groups, p->n_groups, all, p->n_entries, "groups") && spans(p->runs, p->n_runs, all, p->n_partners, "runs");
}

enum { SCALES, PREDICTIONS, GRADIENT, MOMENTS };

/* Levels of one output; labels and factors of a last block that is not full are copied. */
static void one_output(const steps *v, const double *f, const int32_t *y, const uint16_t *s, size m, double step, double gain,
                       int32_t levels, int16_t *q)
{
    int32_t labels[ROWS] = {0};
    uint16_t factors[ROWS] = {0};
    if (m < ROWS) {
        memcpy(labels, y, m * sizeof *y);
        memcpy(factors, s, m * sizeof *s);
    }
    v->levels(f, m < ROWS ? labels : y, m < ROWS ? factors : s, step, gain, levels, q);
}

/* Predictions of all outputs of a block, then either these (times scale and step), or levels and their sums. */
static void round_block(const plan *p, const steps *v, const buffers *b, int mode, size n, size at, size m, size start, size stop,
                        int k, int order, int32_t levels, double gain, double *f, work *w)
{
    const uint16_t *s = (const uint16_t *)b->scales.buf + at;
    const int32_t *y = b->targets.buf;
    const double *step = b->step.buf;
    int64_t *sums = b->out.buf;
    v->predict(p, b->whole.buf, k, w, f);
    if (mode == PREDICTIONS) {
        for (int o = 0; o < k; o++)
            for (size i = 0; i < m; i++)
                ((double *)b->out.buf)[(size)o * (stop - start) + at - start + i] = f[(size)o * ROWS + i] * ((double)s[i] * step[o]);
        return;
    }
    if (k > 1)
        for (size i = 0; i < m; i++) {
            double level[MOST_OUTPUTS];
            const double scale = s[i];
            for (int o = 0; o < k; o++)
                level[o] = ((double)y[(size)o * n + at + i] - f[(size)o * ROWS + i] * (scale * step[o])) * (scale * gain);
            quantise_many(level, k, order, (double)(((int32_t)s[i] * levels) >> SCALE));
            for (int o = 0; o < k; o++) f[(size)o * ROWS + i] = level[o];
        }
    for (int o = 0; o < k; o++) {
        int64_t total = 0;
        if (k > 1)
            for (size i = 0; i < m; i++) w->q[i] = (int16_t)f[(size)o * ROWS + i];
        else
            one_output(v, f, y + at, s, m, step[0], gain, levels, w->q);
        for (size i = m; i < ROWS; i++) w->q[i] = 0;
        for (int i = 0; i < ROWS; i++) total += w->q[i];
        sums[(size)o * p->n_functions] += total * FULL * FULL;
        v->gradient(p, w);
        if (k > 1) v->collect(p, w, sums + (size)o * p->n_functions);
    }
    if (k == 1 && ((at - start + ROWS) % BEFORE == 0 || at + ROWS >= stop)) v->collect(p, w, sums);
}

/* Products of all pairs of some functions, summed over a block; records beyond the last one have a factor of 0. */
static void moment_block(const steps *v, const int32_t *chosen, int k, const uint16_t *s, size m, work *w, int16_t *u, int64_t *out)
{
    double factor[ROWS];
    for (size i = 0; i < ROWS; i++) factor[i] = i < m ? (double)s[i] * 0x1p-30 : 0.0;
    v->vectors(w, chosen, k, factor, u);
    v->moments(u, k, out);
}

/* anova_blocks(mode, path, n, start, stop, outputs, order, levels, gain, allowed, most, codes, targets, scales, tables, columns,
 *       derived, slots, groups, entries, runs, partners, squares, units, whole, step, out, scratch)
 * Records start .. stop - 1 of n. mode 0: factors of records, into out (16 bits each). mode 1: predictions (outputs by
 * records, doubles). mode 2: sums of levels times functions are added to out (outputs by functions, 64 bits). mode 3: sums
 * of products of some functions are added to out (64 bits, the upper triangle); whole then has (function, function, weight)
 * of each. scratch is memory to work in: the caller keeps it, so that its pages need not be mapped in every call. */
PyObject *anova_blocks(PyObject *self, PyObject *args)
{
    buffers b;
    int mode, path, k, order, levels;
    size n, start, stop;
    double gain;
    long long allowed, most;
    if (!PyArg_ParseTuple(args, "iinnniiidLLy*y*y*y*y*y*y*y*y*y*y*y*y*y*y*w*w*", &mode, &path, &n, &start, &stop, &k, &order, &levels,
                          &gain, &allowed, &most, &b.codes, &b.targets, &b.scales, &b.tables, &b.columns, &b.derived, &b.slots,
                          &b.groups, &b.entries, &b.runs, &b.partners, &b.squares, &b.units, &b.whole, &b.step, &b.out, &b.scratch))
        return NULL;
    plan p;
    const steps *v = steps_of(path);
    p.allowed = allowed, p.most = most;
    int ok = read_plan(&b, n, &p);
    if (ok && (!v || start < 0 || start > stop || stop > n || k < 1 || k > MOST_OUTPUTS || levels < 1 || levels > 258)) {
        PyErr_SetString(PyExc_ValueError, "no such path, records, outputs or levels");
        ok = 0;
    }
    if (ok && mode == SCALES) ok = fits(&b.out, stop - start, 2, "out");
    const int all = ok ? p.n_singles + p.n_derived + 1 : 0, chosen = mode == MOMENTS ? (int)(b.whole.len / 12) : 0;
    if (ok && mode == MOMENTS)
        ok = within(b.whole.buf, 3 * (size)chosen, 3, all, "whole")
             && within((const int32_t *)b.whole.buf + 1, 3 * (size)chosen - 1, 3, all, "whole") && fits(&b.scales, n, 2, "scales")
             && fits(&b.out, (size)chosen * chosen, 8, "out");
    if (ok && (mode == PREDICTIONS || mode == GRADIENT))
        ok = fits(&b.targets, k * n, 4, "targets") && fits(&b.scales, n, 2, "scales") && fits(&b.step, k, 8, "step")
             && fits(&b.whole, (size)k * (p.n_entries + 1), 4, "whole")
             && fits(&b.out, mode == GRADIENT ? (size)k * p.n_functions : k * (stop - start), 8, "out");
    if (ok) {
        const size x = (size)all * ROWS * 2, pairs = (size)p.n_slots * MOST_FEW * 4, f = (size)k * ROWS * 8;
        const size u = (size)chosen * ROWS * 2, rest = ROWS * 2 + ROWS * 16 + (size)(p.n_columns + 1) * ROWS;
        const size sums = (size)p.n_partners * WIDEST;
        if (fits(&b.scratch, sums + x + pairs + f + u + rest + 64, 1, "scratch")) {
            char *at64 = (char *)(((uintptr_t)b.scratch.buf + 63) / 64 * 64);
            work w;
            w.sums = (int32_t *)at64;
            memset(w.sums, 0, sums);
            at64 += sums;
            w.x = (int16_t *)at64, w.pairs = (int16_t *)(at64 + x);
            double *f_of = (double *)(at64 + x + pairs);
            int16_t *vectors = (int16_t *)(at64 + x + pairs + f);
            w.norm = (int64_t *)(at64 + x + pairs + f + u), w.size = w.norm + ROWS, w.q = (int16_t *)(w.size + ROWS);
            uint8_t *spare = (uint8_t *)(w.q + ROWS);
            for (int i = 0; i < ROWS; i++) w.x[(size)(all - 1) * ROWS + i] = FULL;
            Py_BEGIN_ALLOW_THREADS
            for (size at = start; at < stop; at += ROWS) {
                const size m = stop - at < ROWS ? stop - at : ROWS;
                load_block(&p, v, b.codes.buf, n, at, m, &w, spare);
                if (mode == SCALES)
                    scale_block(&p, v, m, &w, (uint16_t *)b.out.buf + at - start);
                else if (mode == MOMENTS)
                    moment_block(v, b.whole.buf, chosen, (const uint16_t *)b.scales.buf + at, m, &w, vectors, b.out.buf);
                else
                    round_block(&p, v, &b, mode, n, at, m, start, stop, k, order, levels, gain, f_of, &w);
            }
            Py_END_ALLOW_THREADS
        }
    }
    PyBuffer_Release(&b.codes), PyBuffer_Release(&b.targets), PyBuffer_Release(&b.scales), PyBuffer_Release(&b.tables);
    PyBuffer_Release(&b.columns), PyBuffer_Release(&b.derived), PyBuffer_Release(&b.slots), PyBuffer_Release(&b.groups);
    PyBuffer_Release(&b.entries), PyBuffer_Release(&b.runs), PyBuffer_Release(&b.partners), PyBuffer_Release(&b.squares);
    PyBuffer_Release(&b.units), PyBuffer_Release(&b.whole), PyBuffer_Release(&b.step), PyBuffer_Release(&b.out), PyBuffer_Release(&b.scratch);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* anova_paths() -> the numbers of the paths that this processor has */
PyObject *anova_paths(PyObject *self, PyObject *none)
{
    PyObject *out = PyList_New(0);
    for (int path = 1; out && path <= 4; path++) {
        if (!steps_of(path)) continue;
        PyObject *number = PyLong_FromLong(path);
        if (!number || PyList_Append(out, number) < 0) Py_CLEAR(out);
        Py_XDECREF(number);
    }
    return out;
}

/* anova_codes(x, cuts, out): out = how many of 254 cuts are <= x (bytes), 255 for a missing value. All of a column take the
 * same eight steps, without a branch that a processor could guess wrong. */
PyObject *anova_codes(PyObject *self, PyObject *args)
{
    Py_buffer x, cut, out;
    if (!PyArg_ParseTuple(args, "y*y*w*", &x, &cut, &out)) return NULL;
    const size n = x.len / 8;
    if (fits(&cut, CUTS, 8, "cuts") && fits(&out, n, 1, "out")) {
        const double *from = x.buf;
        uint8_t *to = out.buf;
        double cuts[CUTS + 1];
        memcpy(cuts, cut.buf, CUTS * sizeof *cuts);
        cuts[CUTS] = NAN; /* which nothing reaches */
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            const double value = from[i];
            unsigned at = 0;
#pragma GCC unroll 8
            for (int bit = 7; bit >= 0; bit--) at += (unsigned)(cuts[at + (1u << bit) - 1] <= value) << bit;
            to[i] = value == value ? (uint8_t)at : CUTS + 1;
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&x), PyBuffer_Release(&cut), PyBuffer_Release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* The hot loops of Hedgerow, optional: every function here has a NumPy reference in the package that gives the same
 * bits, and src/hedgerow/kernels.py chooses between the two. Plain C with Python's limited API and the buffer protocol.
 *
 * No random number is made here. Random bytes come in as arrays, drawn by hedgerow.randomness in the same order as the
 * reference draws them, and whatever a table leaves open goes back to Python as a list of positions.
 */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define X86 1
#include <immintrin.h>
#endif
/* One loop compiled for several processors, the best one chosen when the module is loaded (needs glibc). */
#if defined(X86) && defined(__GLIBC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

#if !defined(__GNUC__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "these kernels are for GCC or Clang and little-endian machines; others use NumPy"
#endif

typedef Py_ssize_t size;

static int has_avx512 = 0;

/* ---- buffers ---------------------------------------------------------------------------------------------- */

static int fits(const Py_buffer *b, size items, size width, const char *name)
{
    if (items >= 0 && b->len >= items * width) return 1;
    PyErr_Format(PyExc_ValueError, "'%s' is too short", name);
    return 0;
}

/* ---- leaves ----------------------------------------------------------------------------------------------- */

typedef struct { float cut; int32_t column, left, leaf; } node4;
typedef struct { double cut; int32_t column, left, leaf, none; } node8;
typedef struct { float cut; int32_t column; } top4;

#define TOGETHER 8 /* rows walked side by side: their chains of loads overlap */

/* A leaf is its own left child and has the cut NaN. */
#define WALK(NAME, REAL, NODE)                                                                                   \
    static void NAME(const REAL *x, size n, size d, const NODE *nodes, int depth, int32_t *out)                  \
    {                                                                                                            \
        size i = 0;                                                                                              \
        for (; i + TOGETHER <= n; i += TOGETHER) {                                                               \
            const REAL *row = x + i * d;                                                                         \
            uint32_t at[TOGETHER] = {0};                                                                         \
            for (int level = 0; level < depth; level++)                                                          \
                for (int k = 0; k < TOGETHER; k++) {                                                             \
                    const NODE *p = nodes + at[k];                                                               \
                    at[k] = (uint32_t)p->left + (row[k * d + p->column] >= p->cut);                              \
                }                                                                                                \
            for (int k = 0; k < TOGETHER; k++) out[i + k] = nodes[at[k]].leaf;                                   \
        }                                                                                                        \
        for (; i < n; i++) {                                                                                     \
            const REAL *row = x + i * d;                                                                         \
            const NODE *p = nodes;                                                                               \
            for (int level = 0; level < depth; level++) p = nodes + p->left + (row[p->column] >= p->cut);        \
            out[i] = p->leaf;                                                                                    \
        }                                                                                                        \
    }
WALK(walk_rows4, float, node4)
WALK(walk_rows8, double, node8)

#ifdef X86
/* The complete top levels of a tree in heap order, 64 rows at a time; the lower levels follow one row at a time.
 * The first five levels are looked up in registers. */
__attribute__((target("avx512f,avx512dq,avx512vl"))) static size
walk_wide4(const float *x, size n, size d, const node4 *nodes, const top4 *top, int complete, int depth, int32_t *out, int *finite)
{
    float cut[32] = {0};
    int32_t column[32] = {0};
    for (int k = 0; k < 31 && k < (1 << complete) - 1; k++) cut[k] = top[k].cut, column[k] = top[k].column;
    const __m512 cut0 = _mm512_loadu_ps(cut), cut1 = _mm512_loadu_ps(cut + 16);
    const __m512i column0 = _mm512_loadu_si512(column), column1 = _mm512_loadu_si512(column + 16);
    const __m512i one = _mm512_set1_epi32(1), lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i base = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)d));
    const __m512i even = _mm512_add_epi32(lane, lane), odd = _mm512_add_epi32(even, one);
    const int32_t first = (1 << complete) - 1;
    int straight = complete == depth; /* leaves are in the order of their nodes */
    for (int32_t k = 0; straight && k <= first; k++) straight = nodes[first + k].leaf == k;
    const __m512i all = _mm512_set1_epi32(0x7f800000);
    __mmask16 bad = 0;
    int32_t found[64];
    size i = 0;
    for (; i + 64 <= n; i += 64) {
        const float *row = x + i * d;
        __m512i at[4];
        /* The rows after these are fetched, and looked at if asked, while these wait for their loads. */
        if (finite)
            for (const float *p = i ? row + 64 * d : row, *end = row + (i + 128 <= n ? 128 : 64) * d; p < end; p += 16)
                bad |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_loadu_si512(p), all), all);
        else if (i + 128 <= n)
            for (const char *p = (const char *)(row + 64 * d); p < (const char *)(row + 128 * d); p += 64)
                _mm_prefetch(p, _MM_HINT_T0);
        for (int u = 0; u < 4; u++) at[u] = _mm512_setzero_si512();
        for (int level = 0; level < complete; level++) {
#pragma GCC unroll 4
            for (int u = 0; u < 4; u++) {
                __m512 c;
                __m512i f;
                if (level < 5) {
                    c = _mm512_permutex2var_ps(cut0, at[u], cut1);
                    f = _mm512_permutex2var_epi32(column0, at[u], column1);
                } else {
                    const __m512i p0 = _mm512_i32gather_epi64(_mm512_castsi512_si256(at[u]), (const void *)top, 8);
                    const __m512i p1 = _mm512_i32gather_epi64(_mm512_extracti32x8_epi32(at[u], 1), (const void *)top, 8);
                    c = _mm512_castsi512_ps(_mm512_permutex2var_epi32(p0, even, p1));
                    f = _mm512_permutex2var_epi32(p0, odd, p1);
                }
                const __m512 v = _mm512_i32gather_ps(_mm512_add_epi32(f, base), row + u * 16 * d, 4);
                at[u] = _mm512_add_epi32(at[u], _mm512_add_epi32(at[u], one));
                at[u] = _mm512_mask_add_epi32(at[u], _mm512_cmp_ps_mask(v, c, _CMP_GE_OQ), at[u], one);
            }
        }
        if (straight) {
            for (int u = 0; u < 4; u++) _mm512_storeu_si512(out + i + 16 * u, _mm512_sub_epi32(at[u], _mm512_set1_epi32(first)));
            continue;
        }
        for (int u = 0; u < 4; u++) _mm512_storeu_si512(found + 16 * u, at[u]);
        for (int k = 0; k < 64; k++) {
            const node4 *p = nodes + found[k];
            for (int level = complete; level < depth; level++) p = nodes + p->left + (row[k * d + p->column] >= p->cut);
            out[i + k] = p->leaf;
        }
    }
    if (finite) *finite = !bad;
    return i;
}
#endif

CLONES static int finite4(const uint32_t *x, size n)
{
    uint32_t bad = 0;
    for (size i = 0; i < n; i++) bad |= (x[i] & 0x7f800000u) == 0x7f800000u;
    return !bad;
}

CLONES static int finite8(const uint64_t *x, size n)
{
    const uint64_t all = UINT64_C(0x7ff0000000000000);
    uint64_t bad = 0;
    for (size i = 0; i < n; i++) bad |= (x[i] & all) == all;
    return !bad;
}

/* walk(rows, d, nodes, top, complete, depth, leaves, wide, check) -> all values finite (True if not checked)
 * wide: rows are float64, else float32; check: look for NaN and infinity, and stop there. */
static PyObject *walk(PyObject *self, PyObject *args)
{
    Py_buffer x, nodes, top, out;
    size d;
    int complete, depth, wide, check, ok = 1;
    if (!PyArg_ParseTuple(args, "y*ny*y*iiw*pp", &x, &d, &nodes, &top, &complete, &depth, &out, &wide, &check)) return NULL;
    const size n = out.len / 4, item = wide ? 8 : 4;
    if (d > 0 && d < (1 << 26) && depth >= 0 && complete >= 0 && complete <= depth && complete < 31
        && fits(&x, n * d, item, "rows") && fits(&nodes, 1, 16, "nodes")) {
        /* The check reads a block into the cache, where the walk finds it. */
        const size block = 32768 / (d * item), step = !check ? n : block < 64 ? 64 : block;
        size i = 0;
        Py_BEGIN_ALLOW_THREADS
#ifdef X86
        if (!wide && has_avx512 && complete > 1 && top.len >= (((size)1 << complete) - 1) * 8)
            i = walk_wide4(x.buf, n, d, nodes.buf, top.buf, complete, depth, out.buf, check ? &ok : NULL);
#endif
        for (; i < n && ok; i += step) {
            const size m = n - i < step ? n - i : step;
            int32_t *to = (int32_t *)out.buf + i;
            if (wide) {
                const double *rows = (const double *)x.buf + i * d;
                ok = !check || finite8((const uint64_t *)rows, m * d);
                if (ok) walk_rows8(rows, m, d, nodes.buf, depth, to);
            } else {
                const float *rows = (const float *)x.buf + i * d;
                ok = !check || finite4((const uint32_t *)rows, m * d);
                if (ok) walk_rows4(rows, m, d, nodes.buf, depth, to);
            }
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&x), PyBuffer_Release(&nodes), PyBuffer_Release(&top), PyBuffer_Release(&out);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(ok);
}

/* ---- labels and their noise ------------------------------------------------------------------------------- */

CLONES static void positions(const double *y, const uint8_t *byte, size n, double low, double high, double scale, double top,
                             int32_t *out)
{
    for (size i = 0; i < n; i++) {
        double p = y[i] < low ? low : y[i];
        p = p > high ? high : p;
        p = (p - low) * scale;
        p = p < top ? p : top;
        out[i] = (int32_t)p + byte[i];
    }
}

/* levels(y, bytes, low, high, scale, top, levels, open) -> how many levels wait for more bits: their positions are in open */
static PyObject *levels(PyObject *self, PyObject *args)
{
    Py_buffer y, byte, out, open;
    double low, high, scale, top;
    size k = 0;
    if (!PyArg_ParseTuple(args, "y*y*ddddw*w*", &y, &byte, &low, &high, &scale, &top, &out, &open)) return NULL;
    const size n = out.len / 4;
    if (fits(&y, n, 8, "y") && fits(&byte, n, 1, "bytes") && fits(&open, n + 1, 4, "open")) {
        int32_t *level = out.buf, *index = open.buf;
        Py_BEGIN_ALLOW_THREADS
        positions(y.buf, byte.buf, n, low, high, scale, top, level);
        for (size i = 0; i < n; i++) {
            index[k] = (int32_t)i;
            k += (level[i] & 255) == 255;
            level[i] >>= 8;
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&y), PyBuffer_Release(&byte), PyBuffer_Release(&out), PyBuffer_Release(&open);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

#define STEP 512

/* Count in 16 bits, which halves the table that must stay in the cache; what goes beyond is carried. */
static inline void count_one(uint16_t *low, uint32_t *carry, int64_t cell)
{
    if (!++low[cell]) carry[cell]++;
}

/* noisy(levels, words, table, shift, most, leaves, n_leaves, low, carry, open) -> how many are open, -1 if a cell lies outside
 * column = levels + table[word] + shift within 0 .. most, and one is added to the count of (column, leaf), which is
 * low + 65536 * carry; a table entry of -32768 leaves the value open, and nothing is counted. */
static PyObject *noisy(PyObject *self, PyObject *args)
{
    Py_buffer level, word, table, leaf, low, carry, open;
    int most, shift;
    size width, k = 0;
    if (!PyArg_ParseTuple(args, "y*y*y*iiy*nw*w*w*", &level, &word, &table, &shift, &most, &leaf, &width, &low, &carry, &open))
        return NULL;
    const size n = level.len / 4, cells = low.len / 2;
    if (width > 0 && fits(&word, n, 2, "words") && fits(&table, 65536, 2, "table") && fits(&leaf, n, 4, "leaves")
        && fits(&carry, cells, 4, "carry") && fits(&open, n + 1, 4, "open")) {
        const int32_t *from = level.buf, *l = leaf.buf;
        const uint16_t *u = word.buf;
        const int16_t *t = table.buf;
        int32_t *index = open.buf;
        Py_BEGIN_ALLOW_THREADS
        /* In steps: look-ups first, then counts, so that neither waits for the other. */
        for (size i = 0; i < n; i += STEP) {
            const size m = n - i < STEP ? n - i : STEP;
            int32_t drawn[STEP];
            int64_t cell[STEP];
            uint64_t outside = 0;
            for (size j = 0; j < m; j++) drawn[j] = t[u[i + j]];
            for (size j = 0; j < m; j++) {
                int32_t v = from[i + j] + drawn[j] + shift;
                v = v < 0 ? 0 : v;
                v = v > most ? most : v;
                cell[j] = v * width + l[i + j];
                outside |= (uint64_t)cell[j] >= (uint64_t)cells;
            }
            if (outside) {
                k = -1;
                break;
            }
            for (size j = 0; j < m; j++)
                if (drawn[j] == -32768)
                    index[k++] = (int32_t)(i + j);
                else
                    count_one(low.buf, carry.buf, cell[j]);
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&level), PyBuffer_Release(&word), PyBuffer_Release(&table), PyBuffer_Release(&leaf);
    PyBuffer_Release(&low), PyBuffer_Release(&carry), PyBuffer_Release(&open);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

/* count(columns, leaves, n_leaves, low, carry): one more of every (column, leaf); False if a pair lies outside */
static PyObject *count(PyObject *self, PyObject *args)
{
    Py_buffer column, leaf, low, carry;
    size width, bad = 0;
    if (!PyArg_ParseTuple(args, "y*y*nw*w*", &column, &leaf, &width, &low, &carry)) return NULL;
    const size n = column.len / 4, cells = low.len / 2;
    if (fits(&leaf, n, 4, "leaves") && fits(&carry, cells, 4, "carry")) {
        const int32_t *c = column.buf, *l = leaf.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            const int64_t cell = c[i] * width + l[i];
            if ((bad = cell < 0 || cell >= cells)) break;
            count_one(low.buf, carry.buf, cell);
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&column), PyBuffer_Release(&leaf), PyBuffer_Release(&low), PyBuffer_Release(&carry);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(!bad);
}

/* take(words, table, out, open): out = table[word], open where that is negative */
static PyObject *take(PyObject *self, PyObject *args)
{
    Py_buffer word, table, out, open;
    size k = 0;
    if (!PyArg_ParseTuple(args, "y*y*w*w*", &word, &table, &out, &open)) return NULL;
    const size n = out.len / 4;
    if (fits(&word, n, 2, "words") && fits(&table, 65536, 4, "table") && fits(&open, n + 1, 8, "open")) {
        const uint16_t *u = word.buf;
        const int32_t *t = table.buf;
        int32_t *to = out.buf;
        int64_t *index = open.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            index[k] = i;
            k += (to[i] = t[u[i]]) < 0;
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&word), PyBuffer_Release(&table), PyBuffer_Release(&out), PyBuffer_Release(&open);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

/* gaussian(k, x, v, tables, bits, out) -> how many pairs (k, x) are kept, their rounded values in out; -1 if the bits of one leave
 * that open. See _decide in mechanisms/rounded_gaussian.py. */
static PyObject *gaussian(PyObject *self, PyObject *args)
{
    Py_buffer whole, first, second, tables, out;
    int bits;
    size kept = 0;
    if (!PyArg_ParseTuple(args, "y*y*y*y*iw*", &whole, &first, &second, &tables, &bits, &out)) return NULL;
    const size n = whole.len / 4;
    if (bits < 0 || bits > 56) PyErr_SetString(PyExc_ValueError, "'bits' must be in 0 .. 56");
    if (!PyErr_Occurred() && fits(&first, n, 8, "x") && fits(&second, n, 8, "v") && fits(&tables, 3 * 1024, 8, "tables")
        && fits(&out, n, 8, "out")) {
        const int32_t *part = whole.buf;
        const uint64_t *xs = first.buf, *vs = second.buf, *low = tables.buf, *middle = low + 1024, *high = middle + 1024;
        int64_t *to = out.buf;
        for (size i = 0; i < n; i++) {
            const uint64_t k = (uint64_t)part[i], x = xs[i], v = vs[i], top = x >> 40;
            const uint64_t g = (top * ((k << 25) + top)) >> 25, last = g >> 20;
            const uint64_t both = (low[g & 1023] * middle[(g >> 10) & 1023]) >> 31;
            const int64_t e = (int64_t)((both * high[last < 1023 ? last : 1023]) >> 31), place = (int64_t)(v >> 33);
            const int keep = place + 1 <= e - (128 * ((int64_t)k + 2) + 4);
            if (!keep && place < e + 4) {
                kept = -1;
                break;
            }
            const int64_t size_of = (int64_t)((k << bits) + (((x >> (63 - bits)) + 1) >> 1));
            to[kept] = v & 1 ? -size_of : size_of;
            kept += keep;
        }
    }
    PyBuffer_Release(&whole), PyBuffer_Release(&first), PyBuffer_Release(&second), PyBuffer_Release(&tables), PyBuffer_Release(&out);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(kept);
}

/* How many of the sorted numbers are below u (strict), or not above it. */
static size below(const uint64_t *sorted, size n, uint64_t u, int strict)
{
    const uint64_t *p = sorted;
    while (n > 0) {
        const size half = n / 2;
        const int go = strict ? p[half] < u : p[half] <= u;
        p += go ? half + 1 : 0;
        n = go ? n - half - 1 : half;
    }
    return p - sorted;
}

/* search(low, below_high, u, out, open): out = how many of below_high are < u, open where that differs from low <= u */
static PyObject *search(PyObject *self, PyObject *args)
{
    Py_buffer low, high, u, out, open;
    size k = 0;
    if (!PyArg_ParseTuple(args, "y*y*y*w*w*", &low, &high, &u, &out, &open)) return NULL;
    const size n = u.len / 8, m = low.len / 8;
    if (fits(&high, m, 8, "below_high") && fits(&out, n, 8, "out") && fits(&open, n + 1, 8, "open")) {
        const uint64_t *lows = low.buf, *highs = high.buf, *from = u.buf;
        int64_t *to = out.buf, *index = open.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            const size sure = to[i] = below(highs, m, from[i], 1);
            /* The bounds of a threshold are nearly equal, so the other count is at most a step away, or found afresh. */
            size possible = sure;
            if (possible < m && lows[possible] <= from[i]) possible = below(lows, m, from[i], 0);
            index[k] = i;
            k += sure != possible;
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&low), PyBuffer_Release(&high), PyBuffer_Release(&u), PyBuffer_Release(&out), PyBuffer_Release(&open);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

/* ---- binomials -------------------------------------------------------------------------------------------- */

/* digits(trials, shift, rows) -> how many of (trials >> shift) & 15 are not zero: their positions are in rows */
static PyObject *digits(PyObject *self, PyObject *args)
{
    Py_buffer trials, row;
    int shift;
    size k = 0;
    if (!PyArg_ParseTuple(args, "y*iw*", &trials, &shift, &row)) return NULL;
    const size n = trials.len / 8;
    if (shift >= 0 && shift < 60 && fits(&row, n + 1, 8, "rows")) {
        const int64_t *t = trials.buf;
        int64_t *to = row.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            to[k] = i;
            k += (t[i] >> shift & 15) != 0;
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&trials), PyBuffer_Release(&row);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

/* add_digits(out, width, rows, trials, shift, words, table, coarse, open) -> how many are open
 * Row r = rows[i] (or i, if rows is empty) of the matrix out gets table[digit, word] added in every column, where digit
 * is (trials[r] >> shift) & 15; coarse, which stays in the cache, has the values that twelve bits of the word decide; a negative entry adds nothing and is
 * noted in open as a position in words. */
static PyObject *add_digits(PyObject *self, PyObject *args)
{
    Py_buffer out, row, digit, word, table, coarse, open;
    size width, k = 0;
    int shift;
    if (!PyArg_ParseTuple(args, "w*ny*y*iy*y*y*w*", &out, &width, &row, &digit, &shift, &word, &table, &coarse, &open)) return NULL;
    const size all = digit.len / 8, n = row.len ? row.len / 8 : all, cells = out.len / 8;
    if (width > 0 && shift >= 0 && shift < 60 && fits(&word, n * width, 2, "words") && fits(&table, 16 << 16, 2, "table")
        && fits(&coarse, 16 << 12, 2, "coarse") && fits(&open, n * width + 1, 8, "open")) {
        const int64_t *r = row.len ? row.buf : NULL, *g = digit.buf;
        const uint16_t *u = word.buf;
        int64_t *to = out.buf, *index = open.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            const size at = r ? r[i] : i, start = at * width;
            if (at < 0 || at >= all || start + width > cells) continue; /* cannot be: rows come from digits() */
            const size digit_at = g[at] >> shift & 15;
            const int16_t *t = (const int16_t *)table.buf + (digit_at << 16), *c = (const int16_t *)coarse.buf + (digit_at << 12);
            for (size j = 0; j < width; j++) {
                const uint16_t w = u[i * width + j];
                int64_t drawn = c[w >> 4];
                if (drawn < 0) drawn = t[w];
                index[k] = i * width + j;
                k += drawn < 0;
                to[start + j] += drawn < 0 ? 0 : drawn;
            }
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&out), PyBuffer_Release(&row), PyBuffer_Release(&digit), PyBuffer_Release(&word), PyBuffer_Release(&table);
    PyBuffer_Release(&coarse), PyBuffer_Release(&open);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

/* add_law(out, width, rows, words, table, offset, open) -> how many are open
 * Row rows[i] of the matrix out gets table[word] + offset added in every column; a negative entry adds nothing yet. */
static PyObject *add_law(PyObject *self, PyObject *args)
{
    Py_buffer out, row, word, table, open;
    size width, k = 0;
    long long offset;
    if (!PyArg_ParseTuple(args, "w*ny*y*y*Lw*", &out, &width, &row, &word, &table, &offset, &open)) return NULL;
    const size n = row.len / 8, cells = out.len / 8;
    if (width > 0 && fits(&word, n * width, 2, "words") && fits(&table, 65536, 4, "table")
        && fits(&open, n * width + 1, 8, "open")) {
        const int64_t *r = row.buf;
        const uint16_t *u = word.buf;
        const int32_t *t = table.buf;
        int64_t *to = out.buf, *index = open.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            const size start = r[i] * width;
            if (start < 0 || start + width > cells) continue; /* cannot be: rows come from flatnonzero */
            for (size j = 0; j < width; j++) {
                const int64_t drawn = t[u[i * width + j]];
                index[k] = i * width + j;
                k += drawn < 0;
                to[start + j] += drawn < 0 ? 0 : drawn + offset;
            }
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&out), PyBuffer_Release(&row), PyBuffer_Release(&word), PyBuffer_Release(&table), PyBuffer_Release(&open);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(k);
}

/* ---- sums of report bits ---------------------------------------------------------------------------------- */

#define PLANES 8
#define MOST 255 /* rows added before the planes are full */
#define WORDS 8

static uint64_t spread[256]; /* bit k of a byte as the byte k of a word */

/* 512 bits; the compiler cuts them into whatever registers there are. */
typedef uint64_t bits512 __attribute__((vector_size(8 * WORDS), aligned(8)));

/* Add up to 255 rows of at most 512 bits each into bit planes: plane p holds bit p of every column's count. Four rows
 * at a time go through full adders, so that only one carry in four runs through the upper planes. */
CLONES static void add_rows(const uint8_t *rows, size stride, const uint32_t *order, size m, size bytes, int planes,
                            bits512 *plane)
{
#define ROW(i) (rows + (size)(order ? order[i] : (uint32_t)(i)) * stride)
#define LOAD(to, row)                                                                                            \
    do {                                                                                                         \
        if (bytes == 8 * WORDS)                                                                                  \
            memcpy(&to, row, 8 * WORDS); /* a length known to the compiler */                                    \
        else                                                                                                     \
            memcpy(&to, row, bytes);                                                                             \
    } while (0)
/* plane += a + b, and what is carried */
#define FULL_ADD(plane, a, b, carry)                                                                             \
    do {                                                                                                         \
        const bits512 half = plane ^ a;                                                                          \
        carry = (plane & a) | (half & b);                                                                        \
        plane = half ^ b;                                                                                        \
    } while (0)
    bits512 a = {0}, b = {0}, low, high, carry, ones = plane[0], twos = plane[1];
    size i = 0;
    for (; i + 4 <= m; i += 4) {
        if (order && i + 12 <= m)
            for (int k = 8; k < 12; k++) __builtin_prefetch(ROW(i + k)), __builtin_prefetch(ROW(i + k) + bytes - 1);
        LOAD(a, ROW(i));
        LOAD(b, ROW(i + 1));
        FULL_ADD(ones, a, b, low);
        LOAD(a, ROW(i + 2));
        LOAD(b, ROW(i + 3));
        FULL_ADD(ones, a, b, high);
        FULL_ADD(twos, low, high, carry);
        for (int p = 2; p < planes; p++) {
            const bits512 old = plane[p];
            plane[p] = old ^ carry;
            carry &= old;
        }
    }
    plane[0] = ones, plane[1] = twos;
    for (; i < m; i++) {
        LOAD(carry, ROW(i));
        if (bytes < 8 * WORDS) memset((char *)&carry + bytes, 0, 8 * WORDS - bytes);
        for (int p = 0; p < planes; p++) {
            const bits512 old = plane[p];
            plane[p] = old ^ carry;
            carry &= old;
        }
    }
#undef ROW
#undef LOAD
#undef FULL_ADD
}

CLONES static void add_counts(const uint8_t *count, size n, int64_t v, int64_t *s0, int64_t *s1, int64_t *s2)
{
    for (size j = 0; j < n; j++) s0[j] += count[j];
    if (!s1) return;
    for (size j = 0; j < n; j++) s1[j] += v * count[j];
    for (size j = 0; j < n; j++) s2[j] += v * v * count[j];
}

/* Add the bits of rows with the label v: column sums, and these times v and v squared. */
static void add_group(const uint8_t *rows, size stride, const uint32_t *order, size m, size bits, int64_t v, int64_t *s0,
                      int64_t *s1, int64_t *s2)
{
    for (size start = 0; start < m; start += MOST) {
        const size part = m - start < MOST ? m - start : MOST;
        int planes = 1;
        while (part >> planes) planes++;
        for (size at = 0; at < bits; at += 64 * WORDS) {
            bits512 plane[PLANES];
            uint8_t counts[64 * WORDS];
            const size here = bits - at < 64 * WORDS ? bits - at : 64 * WORDS, bytes = (here + 7) / 8;
            memset(plane, 0, sizeof plane);
            add_rows((order ? rows : rows + start * stride) + at / 8, stride, order ? order + start : NULL, part, bytes, planes,
                     plane);
            for (size b = 0; b < bytes; b++) {
                uint64_t sum = 0;
                for (int p = 0; p < planes; p++) sum += spread[(plane[p][b / 8] >> (b % 8 * 8)) & 255] << p;
                memcpy(counts + 8 * b, &sum, 8);
            }
            add_counts(counts, here, v, s0 + at, s1 ? s1 + at : NULL, s2 ? s2 + at : NULL);
        }
    }
}

/* bit_sums(rows, stride, skip, bits, totals): column sums of the bits that start skip bytes into each row */
static PyObject *bit_sums(PyObject *self, PyObject *args)
{
    Py_buffer rows, totals;
    size stride, skip, bits;
    if (!PyArg_ParseTuple(args, "y*nnnw*", &rows, &stride, &skip, &bits, &totals)) return NULL;
    if (stride > 0 && skip >= 0 && bits >= 0 && skip + (bits + 7) / 8 <= stride && fits(&totals, bits, 8, "totals")) {
        Py_BEGIN_ALLOW_THREADS
        add_group((const uint8_t *)rows.buf + skip, stride, NULL, rows.len / stride, bits, 0, totals.buf, NULL, NULL);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&rows), PyBuffer_Release(&totals);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* label_sums(rows, stride, bits, label_bytes, reach, n_columns, totals) -> False if a label lies outside, or memory is short
 * A row is a label (2 or 4 bytes, reach added) and bits; totals are sums of v and v * v, then of bits, of v bits and of
 * v * v bits for each column.
 * Rows are put in order of their labels, so that labels are multiplied once a group and not once a row. */
static PyObject *label_sums(PyObject *self, PyObject *args)
{
    Py_buffer rows, totals;
    size stride, bits, skip, reach, columns;
    int ok = 1;
    if (!PyArg_ParseTuple(args, "y*nnnnnw*", &rows, &stride, &bits, &skip, &reach, &columns, &totals)) return NULL;
    if (stride > 0 && bits >= 0 && columns > 0 && (skip == 2 || skip == 4) && skip + (bits + 7) / 8 <= stride
        && rows.len / stride < UINT32_MAX && fits(&totals, 2 + 3 * bits, 8, "totals")) {
        const size n = rows.len / stride;
        uint32_t *start = calloc(columns + 1, 4), *order = malloc(n ? 4 * n : 1);
        ok = start && order;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; ok && i < n; i++) {
            const uint8_t *p = (const uint8_t *)rows.buf + i * stride;
            const uint32_t g = skip == 2 ? (uint32_t)p[0] | (uint32_t)p[1] << 8
                                         : (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
            if ((ok = g < (uint64_t)columns)) start[g + 1]++;
        }
        if (ok) {
            int64_t *s = totals.buf;
            for (size g = 0; g < columns; g++) start[g + 1] += start[g];
            for (size i = 0; i < n; i++) {
                const uint8_t *p = (const uint8_t *)rows.buf + i * stride;
                const uint32_t g = skip == 2 ? (uint32_t)p[0] | (uint32_t)p[1] << 8
                                             : (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
                order[start[g]++] = (uint32_t)i; /* afterwards start[g] is where group g ends */
            }
            for (size g = 0; g < columns; g++) {
                const size from = g ? start[g - 1] : 0, m = start[g] - from;
                const int64_t v = g - reach;
                if (!m) continue;
                s[0] += v * m, s[1] += v * v * m;
                add_group((const uint8_t *)rows.buf + skip, stride, order + from, m, bits, v, s + 2, s + 2 + bits, s + 2 + 2 * bits);
            }
        }
        Py_END_ALLOW_THREADS
        free(start), free(order);
    }
    PyBuffer_Release(&rows), PyBuffer_Release(&totals);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(ok);
}

/* ---- max-edge growing ------------------------------------------------------------------------------------- */

/* side_sums(where, bytes, labels, n_cells, sums): sums[where, byte] += (1, label); records beyond the last cell are left out */
static PyObject *side_sums(PyObject *self, PyObject *args)
{
    Py_buffer where, byte, label, sums;
    size cells;
    if (!PyArg_ParseTuple(args, "y*y*y*nw*", &where, &byte, &label, &cells, &sums)) return NULL;
    const size n = where.len / 8;
    if (fits(&byte, n, 1, "bytes") && fits(&label, n, 8, "labels") && fits(&sums, cells * 256 * 2, 8, "sums")) {
        const int64_t *w = where.buf;
        const uint8_t *b = byte.buf;
        const double *y = label.buf;
        double *to = sums.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++)
            if ((uint64_t)w[i] < (uint64_t)cells) {
                double *cell = to + 2 * (w[i] << 8 | b[i]);
                cell[0] += 1;
                cell[1] += y[i];
            }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&where), PyBuffer_Release(&byte), PyBuffer_Release(&label), PyBuffer_Release(&sums);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* gather(rows, d, wide, where, column, cut, values, right): values = rows[i, column[where]] and whether they reach the cut of
 * their cell; records beyond the last cell, and cells with column -1, go nowhere. */
#define GATHER(REAL)                                                                                             \
    for (size i = 0; i < n; i++) {                                                                               \
        if (i + 16 < n) { /* one value a row: every load misses the cache */                                     \
            const int64_t ahead = w[i + 16];                                                                     \
            const int32_t c = (uint64_t)ahead < (uint64_t)cells ? f[ahead] : 0;                                  \
            __builtin_prefetch((const REAL *)x.buf + (i + 16) * d + (c < 0 ? 0 : c));                            \
        }                                                                                                        \
        const int32_t c = (uint64_t)w[i] < (uint64_t)cells ? f[w[i]] : -1;                                       \
        const REAL v = ((const REAL *)x.buf)[i * d + (c < 0 ? 0 : c)];                                           \
        ((REAL *)values.buf)[i] = v;                                                                             \
        go[i] = c >= 0 && (double)v >= t[w[i]];                                                                  \
    }
static PyObject *gather(PyObject *self, PyObject *args)
{
    Py_buffer x, where, column, cut, values, right;
    size d;
    int wide;
    if (!PyArg_ParseTuple(args, "y*npy*y*y*w*w*", &x, &d, &wide, &where, &column, &cut, &values, &right)) return NULL;
    const size n = where.len / 8, cells = column.len / 4, item = wide ? 8 : 4;
    if (d > 0 && fits(&x, n * d, item, "rows") && fits(&cut, cells, 8, "cut") && fits(&values, n, item, "values")
        && fits(&right, n, 1, "right")) {
        const int64_t *w = where.buf;
        const int32_t *f = column.buf;
        const double *t = cut.buf;
        uint8_t *go = right.buf;
        Py_BEGIN_ALLOW_THREADS
        if (wide) {
            GATHER(double)
        } else {
            GATHER(float)
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&x), PyBuffer_Release(&where), PyBuffer_Release(&column), PyBuffer_Release(&cut), PyBuffer_Release(&values);
    PyBuffer_Release(&right);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* set_sides(packed, values, wide, where, column, middle): bit column[where] of record i = values[i] >= middle[where] */
static PyObject *set_sides(PyObject *self, PyObject *args)
{
    Py_buffer packed, values, where, column, middle;
    int wide;
    if (!PyArg_ParseTuple(args, "w*y*py*y*y*", &packed, &values, &wide, &where, &column, &middle)) return NULL;
    const size n = where.len / 8, cells = column.len / 4;
    if (fits(&values, n, wide ? 8 : 4, "values") && fits(&middle, cells, 8, "middle")) {
        const int64_t *w = where.buf;
        const int32_t *f = column.buf;
        const double *m = middle.buf;
        uint8_t *bits = packed.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size i = 0; i < n; i++) {
            const int32_t c = (uint64_t)w[i] < (uint64_t)cells ? f[w[i]] : -1;
            if (c < 0 || (c >> 3) * n + i >= packed.len) continue;
            const double v = wide ? ((const double *)values.buf)[i] : (double)((const float *)values.buf)[i];
            uint8_t *byte = bits + (c >> 3) * n + i;
            *byte = (uint8_t)((*byte & ~(1 << (c & 7))) | (v >= m[w[i]]) << (c & 7));
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&packed), PyBuffer_Release(&values), PyBuffer_Release(&where), PyBuffer_Release(&column);
    PyBuffer_Release(&middle);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- the module ------------------------------------------------------------------------------------------- */

static PyObject *features(PyObject *self, PyObject *none) { return PyUnicode_FromString(has_avx512 ? "avx512" : "plain"); }

/* in anova.c */
PyObject *anova_blocks(PyObject *self, PyObject *args);
PyObject *anova_paths(PyObject *self, PyObject *none);
PyObject *anova_codes(PyObject *self, PyObject *args);
/* in digests.c */
PyObject *digests(PyObject *self, PyObject *args);
PyObject *sieve_add(PyObject *self, PyObject *args);
PyObject *sieve_has(PyObject *self, PyObject *args);

static PyMethodDef methods[] = {
    {"walk", walk, METH_VARARGS, NULL},
    {"levels", levels, METH_VARARGS, NULL},
    {"noisy", noisy, METH_VARARGS, NULL},
    {"take", take, METH_VARARGS, NULL},
    {"gaussian", gaussian, METH_VARARGS, NULL},
    {"search", search, METH_VARARGS, NULL},
    {"count", count, METH_VARARGS, NULL},
    {"digits", digits, METH_VARARGS, NULL},
    {"add_law", add_law, METH_VARARGS, NULL},
    {"add_digits", add_digits, METH_VARARGS, NULL},
    {"bit_sums", bit_sums, METH_VARARGS, NULL},
    {"label_sums", label_sums, METH_VARARGS, NULL},
    {"side_sums", side_sums, METH_VARARGS, NULL},
    {"gather", gather, METH_VARARGS, NULL},
    {"set_sides", set_sides, METH_VARARGS, NULL},
    {"anova_blocks", anova_blocks, METH_VARARGS, NULL},
    {"anova_paths", anova_paths, METH_NOARGS, NULL},
    {"anova_codes", anova_codes, METH_VARARGS, NULL},
    {"digests", digests, METH_VARARGS, NULL},
    {"sieve_add", sieve_add, METH_VARARGS, NULL},
    {"sieve_has", sieve_has, METH_VARARGS, NULL},
    {"features", features, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "hedgerow._kernels", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void)
{
#ifdef X86
    __builtin_cpu_init();
    has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    for (int b = 0; b < 256; b++) {
        spread[b] = 0;
        for (int k = 0; k < 8; k++)
            if (b >> k & 1) ((uint8_t *)&spread[b])[k] = 1;
    }
    return PyModule_Create(&module);
}

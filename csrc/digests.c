/* What a server does for every report, of many at once: BLAKE2b (RFC 7693) of short texts, as
 * hashlib gives it (the reference is hedgerow.service.digests), and sieves of digests (hedgerow.service.ids). Nothing here
 * is secret: texts are what a server was sent.
 */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef Py_ssize_t size;
typedef uint64_t u64;

#define BLOCK 128
#define PERSON 16
#define LANES 8

/* Python's lock is given up for what takes longer than some tens of microseconds: to get it back beside busy threads may
 * take far longer than that. Bytes of texts, and rows of a sieve; by hand. */
#define MANY_BYTES (1 << 17)
#define MANY_ROWS (1 << 12)
#define UNLOCK(much) PyThreadState *saved = (much) ? PyEval_SaveThread() : NULL
#define LOCK_AGAIN if (saved) PyEval_RestoreThread(saved)

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

static const u64 START[8] = {
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
};
static const uint8_t ORDER[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

typedef struct { u64 h[8], done; uint8_t block[BLOCK]; size at; } hash;

static inline u64 right(u64 v, int by) { return v >> by | v << (64 - by); }

#define MIX(a, b, c, d, x, y)                                                                                    \
    a += b + x, d = right(d ^ a, 32), c += d, b = right(b ^ c, 24);                                              \
    a += b + y, d = right(d ^ a, 16), c += d, b = right(b ^ c, 63)

static void compress(hash *s, int last)
{
    u64 m[16], v[16];
    memcpy(m, s->block, BLOCK);
    memcpy(v, s->h, sizeof s->h), memcpy(v + 8, START, sizeof START);
    v[12] ^= s->done; /* texts are shorter than 2**64 bytes */
    if (last) v[14] = ~v[14];
#pragma GCC unroll 12
    for (int round = 0; round < 12; round++) {
        const uint8_t *o = ORDER[round];
        MIX(v[0], v[4], v[8], v[12], m[o[0]], m[o[1]]);
        MIX(v[1], v[5], v[9], v[13], m[o[2]], m[o[3]]);
        MIX(v[2], v[6], v[10], v[14], m[o[4]], m[o[5]]);
        MIX(v[3], v[7], v[11], v[15], m[o[6]], m[o[7]]);
        MIX(v[0], v[5], v[10], v[15], m[o[8]], m[o[9]]);
        MIX(v[1], v[6], v[11], v[12], m[o[10]], m[o[11]]);
        MIX(v[2], v[7], v[8], v[13], m[o[12]], m[o[13]]);
        MIX(v[3], v[4], v[9], v[14], m[o[14]], m[o[15]]);
    }
    for (int i = 0; i < 8; i++) s->h[i] ^= v[i] ^ v[i + 8];
}

static void update(hash *s, const uint8_t *text, size n)
{
    while (n > 0) {
        if (s->at == BLOCK) { /* more follows: this was not the last block */
            s->done += BLOCK;
            compress(s, 0);
            s->at = 0;
        }
        const size part = n < BLOCK - s->at ? n : BLOCK - s->at;
        memcpy(s->block + s->at, text, (size_t)part);
        s->at += part, text += part, n -= part;
    }
}

static void finish(hash *s, uint8_t *out, size n)
{
    s->done += (u64)s->at;
    memset(s->block + s->at, 0, (size_t)(BLOCK - s->at));
    compress(s, 1);
    memcpy(out, s->h, (size_t)n);
}

/* Texts of one block and of one length, LANES at a time: each variable of BLAKE2b is a vector with a lane for each text. */
typedef u64 lanes __attribute__((vector_size(8 * LANES)));

static inline lanes turned(lanes v, int by) { return v >> by | v << (64 - by); }

#define MIX_LANES(a, b, c, d, x, y)                                                                              \
    a += b + x, d = turned(d ^ a, 32), c += d, b = turned(b ^ c, 24);                                            \
    a += b + y, d = turned(d ^ a, 16), c += d, b = turned(b ^ c, 63)

/* words[k][i] is word k of text i, and becomes word k of its digest */
CLONES static void compress_lanes(const u64 *start, u64 length, u64 words[16][LANES])
{
    lanes m[16], v[16];
    memcpy(m, words, sizeof m);
    for (int k = 0; k < 8; k++) v[k] = (lanes){0} + start[k], v[k + 8] = (lanes){0} + START[k];
    v[12] ^= length, v[14] = ~v[14];
#pragma GCC unroll 12
    for (int round = 0; round < 12; round++) {
        const uint8_t *o = ORDER[round];
        MIX_LANES(v[0], v[4], v[8], v[12], m[o[0]], m[o[1]]);
        MIX_LANES(v[1], v[5], v[9], v[13], m[o[2]], m[o[3]]);
        MIX_LANES(v[2], v[6], v[10], v[14], m[o[4]], m[o[5]]);
        MIX_LANES(v[3], v[7], v[11], v[15], m[o[6]], m[o[7]]);
        MIX_LANES(v[0], v[5], v[10], v[15], m[o[8]], m[o[9]]);
        MIX_LANES(v[1], v[6], v[11], v[12], m[o[10]], m[o[11]]);
        MIX_LANES(v[2], v[7], v[8], v[13], m[o[12]], m[o[13]]);
        MIX_LANES(v[3], v[4], v[9], v[14], m[o[14]], m[o[15]]);
    }
    for (int k = 0; k < 8; k++) v[k] ^= v[k + 8] ^ start[k];
    memcpy(words, v, 8 * sizeof v[0]);
}

typedef struct { const uint8_t *first, *middle, *second; size one, between, two; } texts; /* text i: row, middle, row */
typedef struct { uint8_t *at; size bytes, stride; } places;

static void digest_one(const u64 *start, const texts *t, const places *to, size i)
{
    hash s;
    s.done = 0, s.at = 0;
    memcpy(s.h, start, sizeof s.h);
    update(&s, t->first + i * t->one, t->one);
    update(&s, t->middle, t->between);
    update(&s, t->second + i * t->two, t->two);
    finish(&s, to->at + i * to->stride, to->bytes);
}

/* The same for texts i to i + LANES - 1, of at most one block. */
static void digest_lanes(const u64 *start, const texts *t, const places *to, size i)
{
    const size length = t->one + t->between + t->two;
    u64 words[16][LANES] = {{0}};
    for (int lane = 0; lane < LANES; lane++) {
        u64 text[16] = {0};
        uint8_t *at = (uint8_t *)text;
        memcpy(at, t->first + (i + lane) * t->one, (size_t)t->one);
        memcpy(at + t->one, t->middle, (size_t)t->between);
        memcpy(at + t->one + t->between, t->second + (i + lane) * t->two, (size_t)t->two);
        for (size k = 0; 8 * k < length; k++) words[k][lane] = text[k];
    }
    compress_lanes(start, (u64)length, words);
    for (int lane = 0; lane < LANES; lane++) {
        u64 digest[8];
        for (int k = 0; k < 8; k++) digest[k] = words[k][lane];
        memcpy(to->at + (i + lane) * to->stride, digest, (size_t)to->bytes);
    }
}

/* digests(first, middle, second, n, bytes, person, out, offset, stride): out[offset + i * stride ...] = the digest, of so many
 * bytes, of row i of first, middle, and row i of second; both have n rows. */
PyObject *digests(PyObject *self, PyObject *args)
{
    Py_buffer first, middle, second, person, out;
    size n, bytes, offset, stride;
    if (!PyArg_ParseTuple(args, "y*y*y*nny*w*nn", &first, &middle, &second, &n, &bytes, &person, &out, &offset, &stride))
        return NULL;
    const int good = n > 0 && bytes > 0 && bytes <= 64 && person.len <= PERSON && first.len % n == 0 && second.len % n == 0
        && offset >= 0 && stride >= bytes && offset <= out.len && (n - 1) <= (out.len - offset) / stride
        && offset + (n - 1) * stride + bytes <= out.len;
    if (good) {
        const texts t = {first.buf, middle.buf, second.buf, first.len / n, middle.len, second.len / n};
        const places to = {(uint8_t *)out.buf + offset, bytes, stride};
        const size length = t.one + t.between + t.two;
        u64 words[8] = {(u64)bytes | 1 << 16 | 1 << 24, 0, 0, 0, 0, 0, 0, 0}; /* no key, one leaf, one level */
        memcpy(words + 6, person.buf, (size_t)person.len);
        for (int k = 0; k < 8; k++) words[k] ^= START[k];
        size i = 0;
        UNLOCK(first.len + n * middle.len + second.len > MANY_BYTES);
        if (length <= BLOCK)
            for (; i + LANES <= n; i += LANES) digest_lanes(words, &t, &to, i);
        for (; i < n; i++) digest_one(words, &t, &to, i);
        LOCK_AGAIN;
    } else
        PyErr_SetString(PyExc_ValueError, "rows and places must fit");
    PyBuffer_Release(&first), PyBuffer_Release(&middle), PyBuffer_Release(&second), PyBuffer_Release(&person);
    PyBuffer_Release(&out);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* ---- sieves: of a row, four bytes name a line of 64 and eight more name six bits of it --------------------------- */

#define LINE 64
#define NAMED 6
/* Rows whose line is asked for in advance: a sieve is larger than what is near to the processor. By hand. */
#define AHEAD 12
#if defined(__GNUC__)
#define PREFETCH(line) __builtin_prefetch(line)
#else
#define PREFETCH(line) (void)(line)
#endif
#define HEAD 12

static int sieve_fits(const Py_buffer *bits, const Py_buffer *rows, size width)
{
    const size n = bits->len;
    if (width >= HEAD && rows->len % width == 0 && n >= LINE && n <= (size)1 << 38 && (n & (n - 1)) == 0) return 1;
    PyErr_SetString(PyExc_ValueError, "a sieve has 2**k bytes, 64 at least, and rows begin with 12");
    return 0;
}

static inline size named(const uint8_t *row, size lines, u64 *bits)
{
    u64 line = 0;
    *bits = 0;
    for (int k = 0; k < 4; k++) line |= (u64)row[k] << 8 * k;
    for (int k = 0; k < 8; k++) *bits |= (u64)row[4 + k] << 8 * k;
    return LINE * (size)(line & (u64)(lines - 1));
}

/* sieve_add(bits, rows, width): sets the bits of rows of so many bytes */
PyObject *sieve_add(PyObject *self, PyObject *args)
{
    Py_buffer bits, rows;
    size width;
    if (!PyArg_ParseTuple(args, "w*y*n", &bits, &rows, &width)) return NULL;
    const int good = sieve_fits(&bits, &rows, width);
    if (good) {
        uint8_t *to = bits.buf;
        const size lines = bits.len / LINE;
        UNLOCK(rows.len / width > MANY_ROWS);
        for (const uint8_t *row = rows.buf, *end = row + rows.len; row < end; row += width) {
            u64 at;
            if (row + AHEAD * width < end) PREFETCH(to + named(row + AHEAD * width, lines, &at));
            uint8_t *line = to + named(row, lines, &at);
            for (int k = 0; k < NAMED; k++, at >>= 9) line[(at & 511) >> 3] |= (uint8_t)(1 << (at & 7));
        }
        LOCK_AGAIN;
    }
    PyBuffer_Release(&bits), PyBuffer_Release(&rows);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* sieve_has(bits, rows, width, out): out[i] = whether all bits of row i are set */
PyObject *sieve_has(PyObject *self, PyObject *args)
{
    Py_buffer bits, rows, out;
    size width;
    if (!PyArg_ParseTuple(args, "y*y*nw*", &bits, &rows, &width, &out)) return NULL;
    int good = sieve_fits(&bits, &rows, width);
    if (good && out.len < rows.len / width) {
        PyErr_SetString(PyExc_ValueError, "'out' is too short");
        good = 0;
    }
    if (good) {
        const uint8_t *from = bits.buf, *row = rows.buf;
        uint8_t *held = out.buf;
        const size n = rows.len / width, lines = bits.len / LINE;
        UNLOCK(n > MANY_ROWS);
        for (size i = 0; i < n; i++, row += width) {
            u64 at;
            int all = 1;
            if (i + AHEAD < n) PREFETCH(from + named(row + AHEAD * width, lines, &at));
            const uint8_t *line = from + named(row, lines, &at);
            for (int k = 0; k < NAMED; k++, at >>= 9) all &= line[(at & 511) >> 3] >> (at & 7);
            held[i] = (uint8_t)(all & 1);
        }
        LOCK_AGAIN;
    }
    PyBuffer_Release(&bits), PyBuffer_Release(&rows), PyBuffer_Release(&out);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

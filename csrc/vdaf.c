/* Prio3MultihotCountVec compiled, optional: src/hedgerow/vdaf has the same in Python, byte for byte, and the sections of
 * draft-irtf-cfrg-vdaf that it follows. Plain C with Python's limited API and the buffer protocol.
 *
 * Constant time: no branch and no address depends on a measurement, a share or a key. (Numbers that are not below the
 * modulus are refused, or left out of a stream; both depend on bytes that tell nothing about who is protected.)
 */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__SIZEOF_INT128__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "this kernel is for GCC or Clang and little-endian machines of 64 bits; others use Python"
#endif

typedef Py_ssize_t size;
typedef uint64_t u64;
typedef unsigned __int128 u128;

/* ---- TurboSHAKE128 (RFC 9861) --------------------------------------------------------------------------------- */

#define RATE 168
#define SEED 32
#define NONCE 16

typedef struct { u64 lane[25]; size at; } sponge;

static const u64 ROUNDS[12] = {
    0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800A, 0x800000008000000A, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};
static const int LEFT[25] = {0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};

static inline u64 turn(u64 v, int by) { return by ? v << by | v >> (64 - by) : v; }

static void permute(u64 *a)
{
    for (int round = 0; round < 12; round++) {
        u64 c[5], b[25];
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int x = 0; x < 5; x++) {
            const u64 d = c[(x + 4) % 5] ^ turn(c[(x + 1) % 5], 1);
            for (int y = 0; y < 5; y++) a[x + 5 * y] ^= d;
        }
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 5; x++) b[y + 5 * ((2 * x + 3 * y) % 5)] = turn(a[x + 5 * y], LEFT[x + 5 * y]);
        for (int y = 0; y < 25; y += 5)
            for (int x = 0; x < 5; x++) a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
        a[0] ^= ROUNDS[round];
    }
}

static void absorb(sponge *s, const void *data, size n)
{
    const uint8_t *from = data;
    uint8_t *state = (uint8_t *)s->lane;
    while (n > 0) {
        size part = RATE - s->at < n ? RATE - s->at : n;
        for (size i = 0; i < part; i++) state[s->at + i] ^= from[i];
        s->at += part, from += part, n -= part;
        if (s->at == RATE) permute(s->lane), s->at = 0;
    }
}

static void close_sponge(sponge *s)
{
    ((uint8_t *)s->lane)[s->at] ^= 1; /* the domain byte of the draft */
    ((uint8_t *)s->lane)[RATE - 1] ^= 0x80;
    permute(s->lane);
    s->at = 0;
}

static void squeeze(sponge *s, void *out, size n)
{
    uint8_t *to = out;
    while (n > 0) {
        if (s->at == RATE) permute(s->lane), s->at = 0;
        size part = RATE - s->at < n ? RATE - s->at : n;
        memcpy(to, (uint8_t *)s->lane + s->at, (size_t)part);
        s->at += part, to += part, n -= part;
    }
}

/* ---- Field128: 2**128 - 7 * 2**66 + 1 -------------------------------------------------------------------------- */

#define HIGH 0xFFFFFFFFFFFFFFE4ull /* the upper half of the modulus; the lower half is 1 */
#define P (((u128)HIGH << 64) | 1)

static inline u128 add(u128 a, u128 b)
{
    const u128 sum = a + b;
    const u128 over = (u128)((sum < a) | (sum >= P));
    return sum - (P & (0 - over));
}

static inline u128 sub(u128 a, u128 b) { return a - b + (P & (0 - (u128)(a < b))); }

/* Montgomery's product a b / 2**128. Because the modulus is 1 modulo 2**64, a quotient is the negative of a digit. */
static inline u128 mul(u128 a, u128 b)
{
    const u64 a0 = (u64)a, a1 = (u64)(a >> 64), digit[2] = {(u64)b, (u64)(b >> 64)};
    u64 t0 = 0, t1 = 0, t2 = 0;
    for (int i = 0; i < 2; i++) {
        u128 x = (u128)a0 * digit[i] + t0;
        t0 = (u64)x;
        x = (u128)a1 * digit[i] + t1 + (u64)(x >> 64);
        t1 = (u64)x;
        x = (u128)t2 + (u64)(x >> 64);
        t2 = (u64)x;
        const u64 t3 = (u64)(x >> 64), m = 0 - t0;
        x = (u128)t0 + m;
        x = (u128)m * HIGH + t1 + (u64)(x >> 64);
        t0 = (u64)x;
        x = (u128)t2 + (u64)(x >> 64);
        t1 = (u64)x;
        t2 = t3 + (u64)(x >> 64);
    }
    const u128 low = (u128)t1 << 64 | t0;
    const u128 over = (u128)((t2 != 0) | (low >= P));
    return low - (P & (0 - over));
}

/* "Scaled" numbers are 2**128 times what they stand for: mul(scaled, plain) is plain, mul(scaled, scaled) is scaled. */
static u128 one_scaled(void) { return (u128)0 - P; } /* 2**128 - P, below P */

static u128 square_scaled(void) /* 2**256: mul(this, plain) is scaled */
{
    u128 v = one_scaled();
    for (int i = 0; i < 128; i++) v = add(v, v);
    return v;
}

static u128 power(u128 scaled, u128 exponent) /* of public numbers only */
{
    u128 out = one_scaled();
    for (; exponent; exponent >>= 1, scaled = mul(scaled, scaled))
        if (exponent & 1) out = mul(out, scaled);
    return out;
}

static u128 inverse(u128 scaled) { return power(scaled, P - 2); }

/* The first numbers of a stream that are below the modulus. */
static size accept(const uint8_t *stream, size n, u128 *out, size wanted)
{
    size found = 0;
    for (size i = 0; i < n && found < wanted; i++) {
        memcpy(out + found, stream + 16 * i, 16);
        found += out[found] < P;
    }
    return found;
}

static void expand(sponge *s, u128 *out, size n)
{
    uint8_t word[16];
    while (n > 0) {
        squeeze(s, word, 16);
        const size found = accept(word, 1, out, 1);
        out += found, n -= found;
    }
}

static int decode(const void *encoded, u128 *out, size n)
{
    int good = 1;
    memcpy(out, encoded, (size_t)n * 16);
    for (size i = 0; i < n; i++) good &= out[i] < P;
    return good;
}

/* Roots of unity: root[i] = w**i, scaled, for i < n. */
static void roots(u128 *root, size n, u128 squared)
{
    u128 w = power(mul(squared, 7), 4611686018427387897ull);
    int halvings = 66;
    for (size m = n; m > 1; m >>= 1) halvings--;
    for (int i = 0; i < halvings; i++) w = mul(w, w);
    root[0] = one_scaled();
    for (size i = 1; i < n; i++) root[i] = mul(root[i - 1], w);
}

/* Values at roots of unity, in place; root holds the powers of a root of order n * stride. */
static void transform(u128 *v, size n, const u128 *root, size stride)
{
    for (size i = 1, j = 0; i < n; i++) {
        size bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            const u128 kept = v[i];
            v[i] = v[j];
            v[j] = kept;
        }
    }
    for (size half = 1; half < n; half <<= 1)
        for (size start = 0; start < n; start += 2 * half)
            for (size i = 0; i < half; i++) {
                const u128 turned = mul(root[i * (n / (2 * half)) * stride], v[start + half + i]);
                v[start + half + i] = sub(v[start + i], turned);
                v[start + i] = add(v[start + i], turned);
            }
}

/* ---- MultihotCountVec ------------------------------------------------------------------------------------------ */

typedef struct {
    size length, weight, chunk, servers;      /* parameters */
    size meas, calls, wire, arity, proof, n2; /* n2: points of the gadget polynomial */
    const uint8_t *head;                      /* of domain separation tags: 6 bytes */
    const uint8_t *ctx;
    size n_ctx;
    u128 squared, share;                      /* 2**256; 1/servers, plain */
    u128 *root;                               /* n2 scaled roots */
} shape;

static int bits_of(size v)
{
    int bits = 0;
    for (; v; v >>= 1) bits++;
    return bits;
}

static int open_shape(shape *s)
{
    const size most = 1 << 20;
    if (s->length < 1 || s->length > most || s->weight < 1 || s->weight > s->length || s->chunk < 1 || s->chunk > most
        || s->servers < 2 || s->servers > 255)
        return 0;
    s->meas = s->length + bits_of(s->weight);
    s->calls = (s->meas + s->chunk - 1) / s->chunk;
    s->wire = (size)1 << bits_of(s->calls);
    s->arity = 2 * s->chunk;
    s->n2 = 2 * s->wire;
    s->proof = s->arity + s->n2 - 1;
    s->root = malloc((size_t)s->n2 * sizeof(u128));
    if (!s->root) return 0;
    s->squared = square_scaled();
    s->share = mul(inverse(mul(s->squared, (u128)s->servers)), 1);
    roots(s->root, s->n2, s->squared);
    return 1;
}

static void start(sponge *x, const shape *s, uint8_t usage, const uint8_t *seed)
{
    const size n = 8 + s->n_ctx;
    const uint8_t prefix[2] = {(uint8_t)n, (uint8_t)(n >> 8)}, tail[2] = {0, usage}, seed_size = SEED;
    memset(x, 0, sizeof *x);
    absorb(x, prefix, 2), absorb(x, s->head, 6), absorb(x, tail, 2), absorb(x, s->ctx, s->n_ctx);
    absorb(x, &seed_size, 1), absorb(x, seed, SEED);
}

static void derive(const shape *s, uint8_t usage, const uint8_t *seed, const void *binder, size n_binder, u128 *out, size n)
{
    sponge x;
    start(&x, s, usage, seed);
    absorb(&x, binder, n_binder);
    close_sponge(&x);
    expand(&x, out, n);
}

enum { MEAS_SHARE = 1, PROOF_SHARE, JOINT_RANDOMNESS, PROVE_RANDOMNESS, QUERY_RANDOMNESS, JOINT_RAND_SEED, JOINT_RAND_PART };

static void meas_share(const shape *s, uint8_t server, const uint8_t *seed, u128 *out)
{
    derive(s, MEAS_SHARE, seed, &server, 1, out, s->meas);
}

static void proof_share(const shape *s, uint8_t server, const uint8_t *seed, u128 *out)
{
    const uint8_t binder[2] = {1, server};
    derive(s, PROOF_SHARE, seed, binder, 2, out, s->proof);
}

static void joint_part(const shape *s, uint8_t server, const uint8_t *blind, const u128 *share, const uint8_t *nonce, uint8_t *out)
{
    sponge x;
    start(&x, s, JOINT_RAND_PART, blind);
    absorb(&x, &server, 1), absorb(&x, nonce, NONCE), absorb(&x, share, 16 * s->meas);
    close_sponge(&x);
    squeeze(&x, out, SEED);
}

static void joint_seed(const shape *s, const uint8_t *parts, uint8_t *out)
{
    static const uint8_t zeros[SEED] = {0};
    sponge x;
    start(&x, s, JOINT_RAND_SEED, zeros);
    absorb(&x, parts, SEED * s->servers);
    close_sponge(&x);
    squeeze(&x, out, SEED);
}

static void joint_rand(const shape *s, const uint8_t *seed, u128 *out)
{
    const uint8_t binder = 1;
    derive(s, JOINT_RANDOMNESS, seed, &binder, 1, out, s->calls);
    for (size k = 0; k < s->calls; k++) out[k] = mul(out[k], s->squared); /* scaled */
}

/* The proof: wire seeds, and values of the gadget polynomial. Two wires at a time: r**j m_j and m_j - 1. */
static int prove(const shape *s, const u128 *meas, const u128 *seeds, const u128 *joint, u128 *proof)
{
    const size n = s->wire;
    u128 *a = calloc((size_t)(5 * n + s->calls), sizeof(u128));
    if (!a) return 0;
    u128 *b = a + n, *odd_a = b + n, *odd_b = odd_a + n, *shift = odd_b + n, *powers = shift + n;
    u128 *gadget = proof + s->arity;
    const u128 one = one_scaled(), inv_n = inverse(mul(s->squared, (u128)n));
    memset(gadget, 0, (size_t)(s->n2 - 1) * 16);
    memcpy(proof, seeds, (size_t)s->arity * 16);
    for (size i = 0; i < n; i++) shift[i] = mul(s->root[i], inv_n);
    for (size k = 0; k < s->calls; k++) powers[k] = one;
    for (size j = 0; j < s->chunk; j++) {
        a[0] = seeds[2 * j], b[0] = seeds[2 * j + 1];
        for (size k = 0; k < s->calls; k++) {
            const size i = k * s->chunk + j;
            const u128 m = i < s->meas ? meas[i] : 0;
            powers[k] = mul(powers[k], joint[k]);
            a[k + 1] = mul(powers[k], m);
            b[k + 1] = sub(m, 1);
        }
        for (int second = 0; second < 2; second++) {
            u128 *v = second ? b : a, *odd = second ? odd_b : odd_a;
            memcpy(odd, v, (size_t)n * 16);
            transform(odd, n, s->root, 2);
            for (size i = 1; i < n - i; i++) { /* backwards: the coefficients, but for 1/n */
                const u128 kept = odd[i];
                odd[i] = odd[n - i];
                odd[n - i] = kept;
            }
            for (size i = 0; i < n; i++) odd[i] = mul(shift[i], odd[i]);
            transform(odd, n, s->root, 2);
        }
        for (size i = 0; i < n; i++) gadget[2 * i] = add(gadget[2 * i], mul(a[i], b[i]));
        for (size i = 0; i < n - 1; i++) gadget[2 * i + 1] = add(gadget[2 * i + 1], mul(odd_a[i], odd_b[i]));
    }
    for (size i = 0; i < s->n2 - 1; i++) gadget[i] = mul(gadget[i], s->squared);
    free(a);
    return 1;
}

/* Scaled weights by which values at n roots make the value at a (scaled) point. */
static void weights(const shape *s, u128 point, size n, u128 *out, u128 *room)
{
    const size stride = s->n2 / n;
    const u128 inv_n = inverse(mul(s->squared, (u128)n));
    u128 product = one_scaled();
    for (size i = 0; i < n; i++) {
        out[i] = product;
        room[i] = sub(point, s->root[i * stride]);
        product = mul(product, room[i]);
    }
    product = inv_n;
    for (size i = n - 1; i >= 0; i--) {
        out[i] = mul(mul(out[i], product), s->root[i * stride]);
        product = mul(product, room[i]);
    }
}

/* The verifier's share; 0 if the test point is a root of unity, -1 without memory. */
static int query(const shape *s, const u128 *meas, const u128 *proof, const u128 *rand, const u128 *joint, u128 *verifier)
{
    const size n = s->wire;
    const u128 *gadget = proof + s->arity;
    const u128 point = mul(s->squared, rand[2]);
    u128 test = point;
    for (size m = n; m > 1; m >>= 1) test = mul(test, test);
    if (test == one_scaled()) return 0;
    u128 *w = malloc((size_t)(3 * s->n2) * sizeof(u128));
    if (!w) return -1;
    u128 *w2 = w + s->n2, *checks = verifier + 1;
    weights(s, point, n, w, w2 + s->n2);
    weights(s, point, s->n2, w2, w2 + s->n2);

    for (size j = 0; j < s->arity; j++) checks[j] = mul(w[0], proof[j]);
    for (size k = 0; k < s->calls; k++) {
        u128 power = one_scaled();
        for (size j = 0; j < s->chunk; j++) {
            const size i = k * s->chunk + j;
            const u128 m = i < s->meas ? meas[i] : 0;
            power = mul(power, joint[k]);
            checks[2 * j] = add(checks[2 * j], mul(w[k + 1], mul(power, m)));
            checks[2 * j + 1] = add(checks[2 * j + 1], mul(w[k + 1], sub(m, s->share)));
        }
    }
    u128 last = 0, check = 0, range = 0, count = 0;
    for (size i = 0; i < s->n2 - 1; i++) {
        last = add(last, mul(s->root[i], gadget[i]));
        check = add(check, mul(w2[i], gadget[i]));
    }
    last = sub(0, mul(s->root[1], last)); /* the coefficient of the highest degree is zero */
    checks[s->arity] = add(check, mul(w2[s->n2 - 1], last));
    for (size k = 1; k <= s->calls; k++) range = add(range, gadget[2 * k]);
    for (size i = 0; i < s->length; i++) count = add(count, meas[i]);
    const int bits = bits_of(s->weight);
    for (int i = 0; i < bits; i++) {
        const u128 value = i < bits - 1 ? (u128)1 << i : (u128)(s->weight - ((size)1 << (bits - 1)) + 1);
        count = sub(count, mul(mul(s->squared, value), meas[s->length + i]));
    }
    verifier[0] = add(mul(mul(s->squared, rand[0]), range), mul(mul(s->squared, rand[1]), count));
    free(w);
    return 1;
}

/* ---- functions for Python --------------------------------------------------------------------------------------- */

#define SHAPE "nnnny*y*"
#define SHAPE_ARGS(s, head, ctx) &(s)->length, &(s)->weight, &(s)->chunk, &(s)->servers, head, ctx

static int begin(shape *s, const Py_buffer *head, const Py_buffer *ctx)
{
    s->root = NULL;
    s->head = head->buf, s->ctx = ctx->buf, s->n_ctx = ctx->len;
    if (head->len == 6 && ctx->len <= 65535 - 8 && open_shape(s)) return 1;
    PyErr_SetString(PyExc_ValueError, "these parameters do not make a circuit");
    return 0;
}

static int numbered(const shape *s, size server)
{
    if (server >= 0 && server < s->servers) return 1;
    PyErr_SetString(PyExc_ValueError, "'server' must be below the number of servers");
    return 0;
}

static int sized(const Py_buffer *b, size n, const char *name)
{
    if (b->len == n) return 1;
    PyErr_Format(PyExc_ValueError, "'%s' must have %zd bytes", name, n);
    return 0;
}

static PyObject *py_turboshake128(PyObject *self, PyObject *args)
{
    Py_buffer message;
    size n;
    if (!PyArg_ParseTuple(args, "y*n", &message, &n)) return NULL;
    PyObject *out = n < 0 ? NULL : PyBytes_FromStringAndSize(NULL, n);
    if (out) {
        sponge s;
        memset(&s, 0, sizeof s);
        absorb(&s, message.buf, message.len);
        close_sponge(&s);
        squeeze(&s, PyBytes_AsString(out), n);
    } else if (n < 0)
        PyErr_SetString(PyExc_ValueError, "'length' must not be negative");
    PyBuffer_Release(&message);
    return out;
}

static PyObject *py_accept(PyObject *self, PyObject *args)
{
    Py_buffer stream;
    if (!PyArg_ParseTuple(args, "y*", &stream)) return NULL;
    const size n = stream.len / 16;
    u128 *out = malloc((size_t)(n + 1) * 16);
    PyObject *found = out ? PyBytes_FromStringAndSize((char *)out, 16 * accept(stream.buf, n, out, n)) : PyErr_NoMemory();
    free(out);
    PyBuffer_Release(&stream);
    return found;
}

/* shard(length, max_weight, chunk, servers, head, ctx, bits, nonce, rand) -> (public share, leader's share) */
static PyObject *py_shard(PyObject *self, PyObject *args)
{
    shape s;
    Py_buffer head, ctx, bits, nonce, rand;
    if (!PyArg_ParseTuple(args, SHAPE "y*y*y*", SHAPE_ARGS(&s, &head, &ctx), &bits, &nonce, &rand)) return NULL;
    PyObject *result = NULL;
    if (begin(&s, &head, &ctx) && sized(&bits, s.meas, "bits") && sized(&nonce, NONCE, "nonce")
        && sized(&rand, 2 * SEED * s.servers, "rand")) {
        const size n_public = SEED * s.servers, n_leader = 16 * (s.meas + s.proof) + SEED;
        PyObject *public_share = PyBytes_FromStringAndSize(NULL, n_public);
        PyObject *leader = PyBytes_FromStringAndSize(NULL, n_leader);
        const size room = 2 * s.meas + s.arity + s.calls + 2 * s.proof;
        u128 *meas = malloc((size_t)room * sizeof(u128));
        int good = public_share && leader && meas;
        if (good) {
            u128 *share = meas + s.meas, *seeds = share + s.meas, *joint = seeds + s.arity;
            u128 *proof = joint + s.calls, *other = proof + s.proof;
            uint8_t *parts = (uint8_t *)PyBytes_AsString(public_share), *out = (uint8_t *)PyBytes_AsString(leader);
            const uint8_t *given = rand.buf, *blind = given + 2 * SEED * (s.servers - 1);
            u128 *helper = malloc((size_t)s.meas * sizeof(u128));
            good = helper != NULL;
            Py_BEGIN_ALLOW_THREADS
            if (good) {
                uint8_t seed[SEED];
                const uint8_t binder = 1;
                for (size i = 0; i < s.meas; i++) share[i] = meas[i] = ((const uint8_t *)bits.buf)[i] & 1;
                for (size h = 1; h < s.servers; h++) {
                    const uint8_t *own = given + 2 * SEED * (h - 1);
                    meas_share(&s, (uint8_t)h, own, helper);
                    joint_part(&s, (uint8_t)h, own + SEED, helper, nonce.buf, parts + SEED * h);
                    for (size i = 0; i < s.meas; i++) share[i] = sub(share[i], helper[i]);
                }
                joint_part(&s, 0, blind, share, nonce.buf, parts);
                joint_seed(&s, parts, seed);
                joint_rand(&s, seed, joint);
                derive(&s, PROVE_RANDOMNESS, blind + SEED, &binder, 1, seeds, s.arity);
                good = prove(&s, meas, seeds, joint, proof);
                for (size h = 1; h < s.servers; h++) {
                    proof_share(&s, (uint8_t)h, given + 2 * SEED * (h - 1), other);
                    for (size i = 0; i < s.proof; i++) proof[i] = sub(proof[i], other[i]);
                }
                memcpy(out, share, 16 * (size_t)s.meas);
                memcpy(out + 16 * s.meas, proof, 16 * (size_t)s.proof);
                memcpy(out + 16 * (s.meas + s.proof), blind, SEED);
            }
            Py_END_ALLOW_THREADS
            free(helper);
        }
        free(meas);
        if (good) result = PyTuple_Pack(2, public_share, leader);
        else if (!PyErr_Occurred()) PyErr_NoMemory();
        Py_XDECREF(public_share), Py_XDECREF(leader);
    }
    free(s.root);
    PyBuffer_Release(&head), PyBuffer_Release(&ctx), PyBuffer_Release(&bits), PyBuffer_Release(&nonce), PyBuffer_Release(&rand);
    return result;
}

/* verify_init(length, max_weight, chunk, servers, head, ctx, key, server, nonce, public share, input share)
 * -> (verifier share, output share, seed of the joint randomness) */
static PyObject *py_verify_init(PyObject *self, PyObject *args)
{
    shape s;
    size server;
    Py_buffer head, ctx, key, nonce, public_share, input;
    if (!PyArg_ParseTuple(args, SHAPE "y*ny*y*y*", SHAPE_ARGS(&s, &head, &ctx), &key, &server, &nonce, &public_share, &input))
        return NULL;
    PyObject *result = NULL;
    if (begin(&s, &head, &ctx) && numbered(&s, server) && sized(&key, SEED, "verify_key") && sized(&nonce, NONCE, "nonce")
        && sized(&public_share, SEED * s.servers, "public_share")
        && sized(&input, server ? 2 * SEED : 16 * (s.meas + s.proof) + SEED, "input_share")) {
        PyObject *sent = PyBytes_FromStringAndSize(NULL, 16 * (s.arity + 2) + SEED);
        PyObject *kept = PyBytes_FromStringAndSize(NULL, 16 * s.length), *seed = PyBytes_FromStringAndSize(NULL, SEED);
        const size room = s.meas + s.proof + s.calls + s.arity + 2;
        u128 *meas = malloc((size_t)room * sizeof(u128));
        uint8_t *parts = malloc((size_t)(SEED * s.servers));
        int state = sent && kept && seed && meas && parts ? 1 : -1;
        if (state > 0) {
            u128 *proof = meas + s.meas, *joint = proof + s.proof, *verifier = joint + s.calls, rand[3];
            uint8_t *message = (uint8_t *)PyBytes_AsString(sent), *out = (uint8_t *)PyBytes_AsString(kept);
            uint8_t *joint_key = (uint8_t *)PyBytes_AsString(seed), binder[1 + NONCE] = {1};
            const uint8_t *own = input.buf, *blind = own + input.len - SEED;
            Py_BEGIN_ALLOW_THREADS
            if (server) meas_share(&s, (uint8_t)server, own, meas), proof_share(&s, (uint8_t)server, own, proof);
            else if (!decode(own, meas, s.meas + s.proof)) state = -2;
            if (state > 0) {
                memcpy(parts, public_share.buf, (size_t)(SEED * s.servers));
                joint_part(&s, (uint8_t)server, blind, meas, nonce.buf, parts + SEED * server);
                joint_seed(&s, parts, joint_key);
                joint_rand(&s, joint_key, joint);
                memcpy(binder + 1, nonce.buf, NONCE);
                derive(&s, QUERY_RANDOMNESS, key.buf, binder, 1 + NONCE, rand, 3);
                state = query(&s, meas, proof, rand, joint, verifier);
                memcpy(message, verifier, 16 * (size_t)(s.arity + 2));
                memcpy(message + 16 * (s.arity + 2), parts + SEED * server, SEED);
                memcpy(out, meas, 16 * (size_t)s.length);
            }
            Py_END_ALLOW_THREADS
        }
        free(meas), free(parts);
        if (state > 0) result = PyTuple_Pack(3, sent, kept, seed);
        else if (state == -2) PyErr_SetString(PyExc_ValueError, "An element of the field is not below its modulus.");
        else if (state == 0) PyErr_SetString(PyExc_ValueError, "The test point is a root of unity; the report cannot be verified.");
        else if (!PyErr_Occurred()) PyErr_NoMemory();
        Py_XDECREF(sent), Py_XDECREF(kept), Py_XDECREF(seed);
    }
    free(s.root);
    PyBuffer_Release(&head), PyBuffer_Release(&ctx), PyBuffer_Release(&key), PyBuffer_Release(&nonce);
    PyBuffer_Release(&public_share), PyBuffer_Release(&input);
    return result;
}

/* add(total, share): adds a vector to a vector in place; False if the share has a number that is no element. */
static PyObject *py_add(PyObject *self, PyObject *args)
{
    Py_buffer total, share;
    if (!PyArg_ParseTuple(args, "w*y*", &total, &share)) return NULL;
    int good = -1;
    if (sized(&share, total.len, "share") && total.len % 16 == 0) {
        const size n = total.len / 16;
        good = 1;
        for (size i = 0; i < n; i++) {
            u128 v;
            memcpy(&v, (uint8_t *)share.buf + 16 * i, 16);
            good &= v < P;
        }
        for (size i = 0; good && i < n; i++) {
            u128 v, w;
            memcpy(&v, (uint8_t *)share.buf + 16 * i, 16), memcpy(&w, (uint8_t *)total.buf + 16 * i, 16);
            v = add(v, w);
            memcpy((uint8_t *)total.buf + 16 * i, &v, 16);
        }
    }
    PyBuffer_Release(&total), PyBuffer_Release(&share);
    if (good < 0 && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "'total' must hold whole elements");
    return good < 0 ? NULL : PyBool_FromLong(good);
}

/* product(a, b): the product of two elements, for tests of the field. */
static PyObject *py_product(PyObject *self, PyObject *args)
{
    Py_buffer a, b;
    if (!PyArg_ParseTuple(args, "y*y*", &a, &b)) return NULL;
    PyObject *result = NULL;
    if (sized(&a, 16, "a") && sized(&b, 16, "b")) {
        u128 x, y;
        memcpy(&x, a.buf, 16), memcpy(&y, b.buf, 16);
        x = mul(mul(square_scaled(), x), y);
        result = PyBytes_FromStringAndSize((char *)&x, 16);
    }
    PyBuffer_Release(&a), PyBuffer_Release(&b);
    return result;
}

static PyMethodDef methods[] = {
    {"turboshake128", py_turboshake128, METH_VARARGS, NULL},
    {"accept", py_accept, METH_VARARGS, NULL},
    {"shard", py_shard, METH_VARARGS, NULL},
    {"verify_init", py_verify_init, METH_VARARGS, NULL},
    {"add", py_add, METH_VARARGS, NULL},
    {"product", py_product, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "hedgerow._vdaf", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__vdaf(void) { return PyModule_Create(&module); }

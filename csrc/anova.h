/* The steps of one block of an ANOVA round, once for every kind of processor: anova.c includes this file with other
 * vectors each time. Vectors hold LANES times 16 bytes; everything is whole numbers, so the sums are the same. */

#define W16 (8 * LANES)
#define W32 (4 * LANES)

/* Bytes by record and function are turned round, pair by pair and eight by eight: three times interleaving i with i + 4 does
 * it. A pair is then split into two functions, with their signs. Of at most eight functions only half of it is done. */
TARGET static inline __attribute__((always_inline)) void NAME(turn)(const int8_t *table, const uint8_t *at, int many, int most,
                                                                    int16_t *to)
{
    for (int r = 0; r < ROWS; r += W16) {
        VECTOR t[8], u[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) t[i] = LOOK_UP(table, at + r + i);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) u[2 * i] = LOW16(t[i], t[i + 4]), u[2 * i + 1] = HIGH16(t[i], t[i + 4]);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) t[2 * i] = LOW16(u[i], u[i + 4]), t[2 * i + 1] = HIGH16(u[i], u[i + 4]);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) u[2 * i] = LOW16(t[i], t[i + 4]), u[2 * i + 1] = HIGH16(t[i], t[i + 4]);
#pragma GCC unroll 8
        for (int i = 0; i < many / 2; i++) {
            if (2 * i < most) STORE(to + (size)(2 * i) * ROWS + r, RIGHT16(LEFT16(u[i])));
            if (2 * i + 1 < most) STORE(to + (size)(2 * i + 1) * ROWS + r, RIGHT16(u[i]));
        }
    }
}

/* All functions of one feature, then the products of two of them: (258 a b + 2**14) >> 15, in one step as (a b, 1) with
 * (258, 2**14). */
TARGET static void NAME(decode)(const plan *p, const uint8_t *const *code, work *w)
{
    for (int c = 0; c < p->n_columns; c++) {
        const int32_t *column = p->columns + 3 * c;
        const int8_t *table = p->tables + (size)c * 256 * TOGETHER;
        int16_t *to = w->x + (size)column[1] * ROWS;
        if (column[2] > 8)
            NAME(turn)(table, code[c], 16, column[2], to);
        else
            NAME(turn)(table, code[c], 8, column[2], to);
    }
    const VECTOR factors = SAME32(258 | 1 << 30), ones = SAME32(1 | 1 << 16);
    for (int e = 0; e < p->n_derived; e++) {
        const int16_t *a = w->x + (size)p->derived[2 * e] * ROWS, *b = w->x + (size)p->derived[2 * e + 1] * ROWS;
        int16_t *to = w->x + (size)(p->n_singles + e) * ROWS;
        for (int i = 0; i < ROWS; i += W16) {
            const VECTOR product = MULTIPLY16(LOAD(a + i), LOAD(b + i));
            const VECTOR low = MULTIPLY_ADD(LOW16(product, ones), factors), high = MULTIPLY_ADD(HIGH16(product, ones), factors);
            STORE(to + i, PACK32(RIGHT32(low, 15), RIGHT32(high, 15)));
        }
    }
}

enum { NAME(few) = 8 * W32 }; /* records whose functions, side by side in pairs, stay in the first cache */

/* Two functions side by side, for products that add up over functions. Of W16 records, each sixteen bytes' lower half comes
 * first, then each one's upper half. */
TARGET static inline void NAME(interleave)(const plan *p, const work *w, int r)
{
    for (int s = 0; s < p->n_slots; s++) {
        const int16_t *a = w->x + (size)p->slots[2 * s] * ROWS + r, *b = w->x + (size)p->slots[2 * s + 1] * ROWS + r;
        int16_t *to = w->pairs + (size)s * 2 * NAME(few);
#pragma GCC unroll 4
        for (int i = 0; i < NAME(few); i += W16) {
            const VECTOR x = LOAD(a + i), y = LOAD(b + i);
            STORE(to + 2 * i, LOW16(x, y));
            STORE(to + 2 * i + W16, HIGH16(x, y));
        }
    }
}

/* f += sum over groups of X_a * (sum over entries of coefficient * X_b), exactly, for a few records. The inner sum is 2**16
 * times a high and a low number of 16 bits; with each, MOST_GROUPS products are added up in 32 bits: 512 * 2**15 * 127 is below
 * 2**31. */
TARGET static inline void NAME(predict_few)(const plan *p, const int32_t *coefficient, const work *w, int r, double *restrict f)
{
    const int16_t *pairs = w->pairs, *x = w->x + r;
    const int32_t *entry = p->entries;
    for (int first = 0; first < p->n_groups; first += MOST_GROUPS) {
        const int last = p->n_groups - first < MOST_GROUPS ? p->n_groups : first + MOST_GROUPS;
        int32_t low[NAME(few)] ALIGNED, high[NAME(few)] ALIGNED;
        for (int i = 0; i < NAME(few); i += W32) STORE(low + i, ZERO), STORE(high + i, ZERO);
        for (int g = first; g < last; g++) {
            const int32_t *group = p->groups + 3 * g;
            const int32_t *slot = entry + group[1], *own = coefficient + group[1];
            const int entries = group[2];
            VECTOR sum[8];
            for (int u = 0; u < 8; u++) sum[u] = ZERO;
            for (int e = 0; e < entries; e++) {
                const VECTOR c = SAME32(own[e]);
                const int16_t *from = pairs + (size)slot[e] * 2 * NAME(few);
#pragma GCC unroll 8
                for (int u = 0; u < 8; u++) {
                    sum[u] = ADD32(sum[u], MULTIPLY_ADD(LOAD(from + u * W16), c));
                    KEEP(sum[u]);
                }
            }
            const int16_t *from = x + (size)group[0] * ROWS;
            const VECTOR half = SAME32(1 << 15);
#pragma GCC unroll 8
            for (int u = 0; u < 8; u++) {
                const VECTOR a = LOAD(from + u / 2 * W16);
                const VECTOR as_low = u % 2 ? HIGH16(a, ZERO) : LOW16(a, ZERO);
                const VECTOR as_high = u % 2 ? HIGH16(ZERO, a) : LOW16(ZERO, a);
                int32_t *l = low + u * W32, *h = high + u * W32;
                STORE(l, ADD32(LOAD(l), MULTIPLY_ADD(sum[u], as_low)));
                STORE(h, ADD32(LOAD(h), MULTIPLY_ADD(ADD32(sum[u], half), as_high)));
            }
        }
        for (int u = 0; u < 8; u++)
            for (int b = 0; b < LANES; b++)
                for (int i = 0; i < 4; i++) {
                    const int at = u * W32 + 4 * b + i;
                    f[u / 2 * W16 + 8 * b + u % 2 * 4 + i] += (double)high[at] * 65536.0 + (double)low[at];
                }
    }
}

/* Predictions of k outputs, 256 numbers of each. */
TARGET static void NAME(predict)(const plan *p, const int32_t *coefficient, int k, work *w, double *f)
{
    const size each = p->n_entries + 1;
    for (int o = 0; o < k; o++)
        for (int i = 0; i < ROWS; i++) f[(size)o * ROWS + i] = (double)coefficient[o * each + p->n_entries] * (FULL * FULL);
    for (int r = 0; r < ROWS; r += NAME(few)) {
        NAME(interleave)(p, w, r);
        for (int o = 0; o < k; o++) NAME(predict_few)(p, coefficient + o * each, w, r, f + (size)o * ROWS + r);
    }
}

/* w->sums += sum over records of q * X_a * X_b, partner by partner, in vectors that NAME(collect) adds up later: each of their
 * numbers takes at most BEFORE / 4 products, and 512 * 258 * 127 * 127 is below 2**31. q * X_a has 16 bits. */
TARGET static void NAME(gradient)(const plan *p, work *w)
{
    enum { MANY = 8 * W16 < ROWS ? 8 * W16 : ROWS };
    const int32_t *partner = p->partners;
    for (int r = 0; r < ROWS; r += MANY) {
        const int16_t *x = w->x + r, *q = w->q + r;
        for (int g = 0; g < p->n_runs; g++) {
            const int32_t *run = p->runs + 3 * g, *own = partner + 2 * (size)run[1];
            const int16_t *a = x + (size)run[0] * ROWS;
            VECTOR factor[8];
#pragma GCC unroll 8
            for (int i = 0; i < MANY / W16; i++) factor[i] = MULTIPLY16(LOAD(q + i * W16), LOAD(a + i * W16));
            int32_t *to = w->sums + (size)run[1] * W32;
            for (int e = 0, n = run[2]; e < n; e++, to += W32) {
                const int16_t *b = x + (size)own[2 * e] * ROWS;
                VECTOR sum = LOAD(to);
#pragma GCC unroll 8
                for (int i = 0; i < MANY / W16; i++) sum = ADD32(sum, MULTIPLY_ADD(factor[i], LOAD(b + i * W16)));
                STORE(to, sum);
            }
        }
    }
}

/* Adds what is in the vectors to the sums of functions, and begins anew. */
TARGET static void NAME(collect)(const plan *p, work *w, int64_t *sums)
{
    for (int e = 0; e < p->n_partners; e++) {
        int32_t *from = w->sums + (size)e * W32;
        int64_t total = 0;
        for (int i = 0; i < W32; i++) total += from[i];
        sums[p->partners[2 * e + 1]] += total;
        STORE(from, ZERO);
    }
}

/* Squared norms and sums of sizes of all records, with whole weights; the constant is in them already. */
TARGET static void NAME(norms)(const plan *p, work *w)
{
    int64_t *restrict norm = w->norm, *restrict length = w->size;
    for (int g = 0; g < p->n_runs; g++) {
        const int32_t *run = p->runs + 3 * g;
        const int32_t *partner = p->partners + 2 * (size)run[1];
        const int16_t *restrict a = w->x + (size)run[0] * ROWS;
        for (int e = 0; e < run[2]; e++) {
            const int16_t *restrict b = w->x + (size)partner[2 * e] * ROWS;
            const int32_t square = p->squares[partner[2 * e + 1]], unit = p->units[partner[2 * e + 1]];
            for (int i = 0; i < ROWS; i++) {
                const int32_t v = (int32_t)a[i] * b[i];
                norm[i] += (int64_t)(v * v) * square;
            }
            if (p->most >= 0)
                for (int i = 0; i < ROWS; i++) {
                    const int32_t v = (int32_t)a[i] * b[i];
                    length[i] += (int64_t)(v < 0 ? -v : v) * unit;
                }
        }
    }
}

/* One output: levels of residuals, at most limit = floor(levels * s / 2**15); see quantised in rows.py. */
TARGET static void NAME(levels)(const double *restrict f, const int32_t *restrict y, const uint16_t *restrict s, double step,
                                double gain, int32_t levels, int16_t *restrict q)
{
    double level[ROWS] ALIGNED;
    int32_t limits[ROWS] ALIGNED;
    for (int i = 0; i < ROWS; i++) limits[i] = ((int32_t)s[i] * levels) >> SCALE;
    for (int i = 0; i < ROWS; i++) {
        const double scale = (double)(int32_t)s[i];
        const double residual = (double)y[i] - f[i] * (scale * step);
        level[i] = nearest(between(residual * (scale * gain), (double)limits[i]));
    }
    for (int i = 0; i < ROWS; i++) q[i] = (int16_t)(int32_t)level[i];
}

/* Some functions of each record with weight and factor, cut to 2**-30 towards zero: products below 2**53, so exact. */
TARGET static void NAME(vectors)(const work *w, const int32_t *chosen, int k, const double *factor, int16_t *out)
{
    for (int m = 0; m < k; m++) {
        const int16_t *restrict a = w->x + (size)chosen[3 * m] * ROWS, *restrict b = w->x + (size)chosen[3 * m + 1] * ROWS;
        const double weight = (double)chosen[3 * m + 2];
        int32_t whole[ROWS] ALIGNED;
        int16_t *restrict to = out + (size)m * ROWS;
        for (int i = 0; i < ROWS; i++) whole[i] = (int32_t)((double)((int32_t)a[i] * b[i]) * weight * factor[i]);
        for (int i = 0; i < ROWS; i++) to[i] = (int16_t)whole[i];
    }
}

/* sums[a][b] += sum over records of u_a * u_b for a <= b, exactly: 256 * 2016 * 2016 is below 2**31. */
TARGET static void NAME(moments)(const int16_t *u, int k, int64_t *sums)
{
    for (int a = 0; a < k; a++) {
        const int16_t *x = u + (size)a * ROWS;
        for (int b = a; b < k; b += 4) {
            const int most = k - b < 4 ? k - b : 4;
            const int16_t *y[4];
            for (int j = 0; j < 4; j++) y[j] = u + (size)(b + (j < most ? j : 0)) * ROWS;
            VECTOR sum[4] = {ZERO, ZERO, ZERO, ZERO};
            for (int i = 0; i < ROWS; i += W16) {
                const VECTOR one = LOAD(x + i);
#pragma GCC unroll 4
                for (int j = 0; j < 4; j++) sum[j] = ADD32(sum[j], MULTIPLY_ADD(one, LOAD(y[j] + i)));
            }
            for (int j = 0; j < most; j++) sums[(size)a * k + b + j] += SUM32(sum[j]);
        }
    }
}

static const steps NAME(steps) = {
    NAME(decode), NAME(predict), NAME(gradient), NAME(collect), NAME(norms), NAME(levels), NAME(vectors), NAME(moments),
};

#undef W16
#undef W32
#undef NAME
#undef TARGET
#undef LANES
#undef VECTOR
#undef ZERO
#undef LOAD
#undef STORE
#undef SAME32
#undef ADD32
#undef MULTIPLY_ADD
#undef MULTIPLY16
#undef PACK32
#undef RIGHT32
#undef LOW16
#undef HIGH16
#undef LEFT16
#undef RIGHT16
#undef LOOK_UP
#undef SUM32

/* engine/types/kernels_fixed.h - the hottest kernels of fixed widths: comparisons, and arithmetic of integers and floats.
 *
 * Included twice, with KERNEL(name) defined: by kernels_fixed.c for any processor, by kernels_avx2.c for those that have
 * AVX2. The loops are the same C and so are the answers; only what the compiler makes of them differs. FIXED_KERNELS names them all.
 *
 * Additions and subtractions wrap in straight vector code and gather the overflow in one word; only when a bit of it is
 * set are the rows walked again, to find the first that isn't null and really overflows. Division by a constant
 * multiplies by its reciprocal. Floats compute first and look back only when a result was infinite or nought. */

static inline enum status out_of_range(int bits)
{
    return error_set(STATUS_OUT_OF_RANGE, "%s out of range", bits == 16 ? "smallint" : bits == 32 ? "integer" : "bigint");
}
static inline enum status zero(void) { return error_set(STATUS_DIVISION_BY_ZERO, NULL); }

#define BITS(R) ((int)sizeof(R) * 8)

#define ADD_OVER(x, y, r) (((x) ^ (r)) & ((y) ^ (r)))
#define SUB_OVER(x, y, r) (((x) ^ (y)) & ((x) ^ (r)))
#define ADDITIVE(NAME, A, B, R, UR, OP, OVER, BUILTIN) \
    enum status KERNEL(NAME)(struct kernel_call *c) \
    { \
        R over = 0; \
        VECTOR_LOOP2(A, B, R, const R x = (R)a, y = (R)b, r = (R)((UR)x OP (UR)y); over |= (R)OVER(x, y, r); out_[i] = r); \
        if (__builtin_expect(over < 0, 0)) { \
            for (KERNEL_ROWS(c, i)) { \
                R r, x = (R)VECTOR(A, &c->args[0], i), y = (R)VECTOR(B, &c->args[1], i); \
                if (!c->out->nulls[i] && BUILTIN(x, y, &r)) \
                    FAIL(out_of_range(BITS(R))); \
            } \
        } \
        return STATUS_OK; \
    }
/* The product of two narrower ones is exact in the wider; for int8 the builtin is as good as it gets. */
#define MULTIPLY(NAME, A, B, R, WIDE, BUILTIN) \
    enum status KERNEL(NAME)(struct kernel_call *c) \
    { \
        unsigned over = 0; \
        VECTOR_LOOP2(A, B, R, R r; over |= BUILTIN((R)a, (R)b, &r); out_[i] = r); \
        if (__builtin_expect(over != 0, 0)) { \
            for (KERNEL_ROWS(c, i)) { \
                R r; \
                if (!c->out->nulls[i] && BUILTIN((R)VECTOR(A, &c->args[0], i), (R)VECTOR(B, &c->args[1], i), &r)) \
                    FAIL(out_of_range(BITS(R))); \
            } \
        } \
        return STATUS_OK; \
    }

/* Quotients of magnitudes by a constant d >= 2: q = n / d as a high product and shifts, for every n. */
struct reciprocal { uint64_t multiplier; unsigned shift; };
static struct reciprocal reciprocal64(uint64_t d)
{
    unsigned l = 64 - (unsigned)__builtin_clzll(d - 1);
    unsigned __int128 top = (((unsigned __int128)1 << l) - d) << 64;
    return (struct reciprocal){(uint64_t)(top / d) + 1, l - 1};
}
static inline uint64_t quotient64(uint64_t n, struct reciprocal r)
{
    uint64_t t = (uint64_t)((unsigned __int128)r.multiplier * n >> 64);
    return (t + ((n - t) >> 1)) >> r.shift;
}
static struct reciprocal reciprocal32(uint32_t d)
{
    unsigned l = 32 - (unsigned)__builtin_clz(d - 1);
    uint64_t top = (((uint64_t)1 << l) - d) << 32;
    return (struct reciprocal){(uint32_t)(top / d) + 1, l - 1};
}
static inline uint32_t quotient32(uint32_t n, struct reciprocal r)
{
    uint32_t t = (uint32_t)((uint64_t)(uint32_t)r.multiplier * n >> 32);
    return (t + ((n - t) >> 1)) >> r.shift;
}

/* U is the unsigned type of the arithmetic (32 or 64 bits), N its width. */
#define DIVIDE(NAME, A, B, R, U, N) \
    enum status KERNEL(NAME)(struct kernel_call *c) \
    { \
        if (c->args[1].constant && c->count) { \
            const B b0 = ((const B *)c->args[1].values)[0]; \
            const U d = b0 < 0 ? (U)0 - (U)(R)b0 : (U)(R)b0; \
            if (d >= 2) { \
                const struct reciprocal rc = reciprocal##N(d); \
                const bool flip = b0 < 0; \
                VECTOR_LOOP1(A, R, const U n = a < 0 ? (U)0 - (U)(R)a : (U)(R)a; const U q = quotient##N(n, rc); out_[i] = (R)((a < 0) != flip ? (U)0 - q : q)); \
                return STATUS_OK; \
            } \
        } \
        R *out_ = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            const R a = (R)VECTOR(A, &c->args[0], i), b = (R)VECTOR(B, &c->args[1], i); \
            if (b == 0) \
                FAIL(zero()); \
            if (b == -1) { \
                R r; \
                if (__builtin_sub_overflow((R)0, a, &r)) \
                    FAIL(out_of_range(BITS(R))); \
                out_[i] = r; \
            } else \
                out_[i] = (R)(a / b); \
        } \
        return STATUS_OK; \
    }
#define MODULO(NAME, A, U, N) \
    enum status KERNEL(NAME)(struct kernel_call *c) \
    { \
        if (c->args[1].constant && c->count) { \
            const A b0 = ((const A *)c->args[1].values)[0]; \
            const U d = b0 < 0 ? (U)0 - (U)b0 : (U)b0; \
            if (d >= 2) { \
                const struct reciprocal rc = reciprocal##N(d); \
                VECTOR_LOOP1(A, A, const U n = a < 0 ? (U)0 - (U)a : (U)a; const U m = n - quotient##N(n, rc) * d; out_[i] = (A)(a < 0 ? (U)0 - m : m)); \
                return STATUS_OK; \
            } \
        } \
        A *out_ = c->out->values; \
        for (KERNEL_ROWS(c, i)) { \
            if (c->out->nulls[i]) \
                continue; \
            const A a = VECTOR(A, &c->args[0], i), b = VECTOR(A, &c->args[1], i); \
            if (b == 0) \
                FAIL(zero()); \
            out_[i] = b == -1 ? 0 : (A)(a % b); \
        } \
        return STATUS_OK; \
    }

/* ---- floats ---- */

#define FLOAT_ADDITIVE(NAME, A, B, R, OP) \
    enum status KERNEL(NAME)(struct kernel_call *c) \
    { \
        int bad = 0; \
        VECTOR_LOOP2(A, B, R, const R r = (R)a OP (R)b; bad |= !(r - r == 0); out_[i] = r); \
        if (bad) { \
            R *out_ = c->out->values; \
            for (KERNEL_ROWS(c, i)) \
                if (!c->out->nulls[i] && isinf(out_[i]) && !isinf(VECTOR(A, &c->args[0], i)) && !isinf(VECTOR(B, &c->args[1], i))) \
                    FAIL(error_set(STATUS_OUT_OF_RANGE, "value out of range: overflow")); \
        } \
        return STATUS_OK; \
    }
#define FLOAT_MULTIPLY(NAME, A, B, R) \
    enum status KERNEL(NAME)(struct kernel_call *c) \
    { \
        int bad = 0; \
        VECTOR_LOOP2(A, B, R, const R r = (R)a * (R)b; bad |= !(r - r == 0) | (r == 0); out_[i] = r); \
        if (bad) { \
            R *out_ = c->out->values; \
            for (KERNEL_ROWS(c, i)) { \
                if (c->out->nulls[i]) \
                    continue; \
                const A a = VECTOR(A, &c->args[0], i); \
                const B b = VECTOR(B, &c->args[1], i); \
                if (isinf(out_[i]) && !isinf(a) && !isinf(b)) \
                    FAIL(error_set(STATUS_OUT_OF_RANGE, "value out of range: overflow")); \
                if (out_[i] == 0 && a != 0 && b != 0) \
                    FAIL(error_set(STATUS_OUT_OF_RANGE, "value out of range: underflow")); \
            } \
        } \
        return STATUS_OK; \
    }

/* ---- comparisons ---- */

/* A comparison stands any bytes. Where the selection holds one row of eight or more, all rows are compared: that is faster than
 * to pick them one by one. */
#define COMPARE(NAME, A, B, EXPRESSION) \
    enum status KERNEL(NAME)(struct kernel_call *all) \
    { \
        struct kernel_call call = *all, *c = &call; \
        if (c->selection && c->count >= c->row_count / 8) { \
            c->selection = NULL; \
            c->count = c->row_count; \
        } \
        VECTOR_LOOP2(A, B, uint8_t, out_[i] = (EXPRESSION)); \
        return STATUS_OK; \
    }

/* All of them: name, then the macro's other arguments. */
#define INTEGER_KERNELS(ADD, MUL, DIV, P, A, B, R, UR, UD, N) \
    ADD(P##pl, A, B, R, UR, +, ADD_OVER, __builtin_add_overflow) \
    ADD(P##mi, A, B, R, UR, -, SUB_OVER, __builtin_sub_overflow) \
    MUL(P##mul, A, B, R, int64_t, __builtin_mul_overflow) \
    DIV(P##div, A, B, R, UD, N)
#define FLOAT_KERNELS(ADD, MUL, P, A, B, R) ADD(P##pl, A, B, R, +) ADD(P##mi, A, B, R, -) MUL(P##mul, A, B, R)
#define COMPARE_KERNELS(X, P, A, B) \
    X(P##eq, A, B, a == b) X(P##ne, A, B, a != b) X(P##lt, A, B, a < b) X(P##le, A, B, a <= b) X(P##gt, A, B, a > b) X(P##ge, A, B, a >= b)
/* NaN equals itself and is greater than all. */
#define FLOAT_COMPARE_KERNELS(X, P, A, B) \
    X(P##eq, A, B, (a == b) | ((a != a) & (b != b))) X(P##ne, A, B, !((a == b) | ((a != a) & (b != b)))) \
    X(P##lt, A, B, (a < b) | ((b != b) & (a == a))) X(P##le, A, B, (a <= b) | (b != b)) \
    X(P##gt, A, B, (a > b) | ((a != a) & (b == b))) X(P##ge, A, B, (a >= b) | (a != a))
#define FIXED_KERNELS(ADD, MUL, DIV, MOD, FADD, FMUL, X) \
    INTEGER_KERNELS(ADD, MUL, DIV, int2, int16_t, int16_t, int16_t, uint16_t, uint32_t, 32) \
    INTEGER_KERNELS(ADD, MUL, DIV, int24, int16_t, int32_t, int32_t, uint32_t, uint32_t, 32) \
    INTEGER_KERNELS(ADD, MUL, DIV, int42, int32_t, int16_t, int32_t, uint32_t, uint32_t, 32) \
    INTEGER_KERNELS(ADD, MUL, DIV, int4, int32_t, int32_t, int32_t, uint32_t, uint32_t, 32) \
    INTEGER_KERNELS(ADD, MUL, DIV, int28, int16_t, int64_t, int64_t, uint64_t, uint64_t, 64) \
    INTEGER_KERNELS(ADD, MUL, DIV, int82, int64_t, int16_t, int64_t, uint64_t, uint64_t, 64) \
    INTEGER_KERNELS(ADD, MUL, DIV, int48, int32_t, int64_t, int64_t, uint64_t, uint64_t, 64) \
    INTEGER_KERNELS(ADD, MUL, DIV, int84, int64_t, int32_t, int64_t, uint64_t, uint64_t, 64) \
    INTEGER_KERNELS(ADD, MUL, DIV, int8, int64_t, int64_t, int64_t, uint64_t, uint64_t, 64) \
    MOD(int2mod, int16_t, uint32_t, 32) MOD(int4mod, int32_t, uint32_t, 32) MOD(int8mod, int64_t, uint64_t, 64) \
    FLOAT_KERNELS(FADD, FMUL, float4, float, float, float) FLOAT_KERNELS(FADD, FMUL, float8, double, double, double) \
    FLOAT_KERNELS(FADD, FMUL, float48, float, double, double) FLOAT_KERNELS(FADD, FMUL, float84, double, float, double) \
    COMPARE_KERNELS(X, int2, int16_t, int16_t) COMPARE_KERNELS(X, int4, int32_t, int32_t) COMPARE_KERNELS(X, int8, int64_t, int64_t) \
    COMPARE_KERNELS(X, int24, int16_t, int32_t) COMPARE_KERNELS(X, int42, int32_t, int16_t) COMPARE_KERNELS(X, int28, int16_t, int64_t) \
    COMPARE_KERNELS(X, int82, int64_t, int16_t) COMPARE_KERNELS(X, int48, int32_t, int64_t) COMPARE_KERNELS(X, int84, int64_t, int32_t) \
    COMPARE_KERNELS(X, oid, uint32_t, uint32_t) COMPARE_KERNELS(X, char, uint8_t, uint8_t) COMPARE_KERNELS(X, bool, uint8_t, uint8_t) \
    COMPARE_KERNELS(X, xid8, uint64_t, uint64_t) COMPARE_KERNELS(X, tid, uint64_t, uint64_t) COMPARE_KERNELS(X, date_, int32_t, int32_t) \
    COMPARE_KERNELS(X, time_, int64_t, int64_t) COMPARE_KERNELS(X, timestamp_, int64_t, int64_t) \
    FLOAT_COMPARE_KERNELS(X, float4, float, float) FLOAT_COMPARE_KERNELS(X, float8, double, double) \
    FLOAT_COMPARE_KERNELS(X, float48, float, double) FLOAT_COMPARE_KERNELS(X, float84, double, float)

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/text.h"

/* The shortest decimal that reads back to the same double, by the method of
 * R. Giulietti, "The Schubfach way to render doubles" (2020): the digits are those
 * of an integer that is found, with one multiplication by a power of ten, in the
 * interval of numbers that round to x; the power is known to 128 bits, which is
 * proven to be enough. Names of variables follow the paper. */

__extension__ typedef unsigned __int128 u128;

enum {
    FRACTION_BITS = 52,
    LOWEST_Q = -1074,    /* x = c * 2^q */
    LOWEST_POWER = -292, /* the powers of ten that the method asks for */
    HIGHEST_POWER = 324,
    POWERS = HIGHEST_POWER - LOWEST_POWER + 1,
    BIG_WORDS = 18,   /* 10^324 has 1077 bits, and 10^-292 * 2^1151 still 182 */
    PLAIN_BELOW = 17, /* from 1e17 on, and below 1e-4, with an exponent */
    PLAIN_ABOVE = -5,
};

/* powers[i]: the leading 128 bits of 10^(i + LOWEST_POWER), rounded up. */
static u128 powers[POWERS];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

/* A natural number, least significant word first. */
typedef struct big {
    uint64_t words[BIG_WORDS];
} big;

static void big_times_ten(big *b) {
    uint64_t carry = 0;
    for (int i = 0; i < BIG_WORDS; i++) {
        u128 product = (u128)b->words[i] * 10 + carry;
        b->words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

static void big_over_ten(big *b) {
    uint64_t rest = 0;
    for (int i = BIG_WORDS - 1; i >= 0; i--) {
        u128 part = (u128)rest << 64 | b->words[i];
        b->words[i] = (uint64_t)(part / 10);
        rest = (uint64_t)(part % 10);
    }
}

/* The leading 128 bits, plus one where anything was cut off. `inexact`: something
 * was cut off before. */
static u128 big_top(const big *b, bool inexact) {
    int top = BIG_WORDS - 1;
    while (b->words[top] == 0) top--;
    int shift = __builtin_clzll(b->words[top]);
    uint64_t word[3] = {0, 0, 0};
    for (int i = 0; i < 3 && top - i >= 0; i++) word[i] = b->words[top - i];
    u128 leading = (u128)word[0] << 64 | word[1];
    if (shift) leading = leading << shift | word[2] >> (64 - shift);
    inexact |= (uint64_t)(word[2] << shift) != 0;
    for (int i = top - 3; i >= 0; i--) inexact |= b->words[i] != 0;
    return leading + inexact;
}

/* Exact upwards. Downwards a long binary fraction is divided again and again:
 * flooring each quotient gives the floor of the whole. */
static void make_powers(void) {
    big b = {{1}};
    for (int e = 0; e <= HIGHEST_POWER; e++, big_times_ten(&b)) powers[e - LOWEST_POWER] = big_top(&b, false);
    memset(&b, 0, sizeof b);
    b.words[BIG_WORDS - 1] = (uint64_t)1 << 63;
    for (int e = -1; e >= LOWEST_POWER; e--) {
        big_over_ten(&b);
        powers[e - LOWEST_POWER] = big_top(&b, true);
    }
}

/* Floors of logarithms, by multiplication with the constant in fixed point; exact
 * for every exponent of a double. */
static int floor_log10_pow2(int e) { return (int)((e * INT64_C(661971961083)) >> 41); }
static int floor_log10_three_quarters_pow2(int e) {
    return (int)((e * INT64_C(661971961083) - INT64_C(274743187321)) >> 41);
}
static int floor_log2_pow10(int e) { return (int)((e * INT64_C(913124641741)) >> 38); }

/* g * c / 2^128, rounded to odd: the last bit stays set when anything was lost, so
 * that later comparisons come out as if nothing had been. g being rounded up adds
 * less than 1 to the part that is lost, so a 1 there means nothing. */
static uint64_t times_power(u128 g, uint64_t c) {
    u128 low = (u128)(uint64_t)g * c;
    u128 sum = (g >> 64) * c + (low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* x > 0 as digits * 10^exponent. */
static uint64_t shortest(double x, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    int biased = (int)(bits >> FRACTION_BITS);
    uint64_t c = biased ? fraction | UINT64_C(1) << FRACTION_BITS : fraction;
    int q = biased ? biased - 1 + LOWEST_Q : LOWEST_Q;
    /* Below a power of two the next double is half as far as above it. */
    bool even_spacing = fraction != 0 || biased <= 1;
    uint64_t odd = c & 1; /* ties round to even: an odd c does not own its bounds */
    int k = even_spacing ? floor_log10_pow2(q) : floor_log10_three_quarters_pow2(q);
    int h = q + floor_log2_pow10(-k) + 1;
    u128 g = powers[-k - LOWEST_POWER];
    uint64_t lower = times_power(g, (4 * c - (even_spacing ? 2 : 1)) << h) + odd;
    uint64_t middle = times_power(g, (4 * c) << h);
    uint64_t upper = times_power(g, (4 * c + 2) << h) - odd;

    *exponent = k;
    uint64_t s = middle / 4, tens = s / 10 * 10;
    bool below = lower <= 4 * tens, above = 4 * (tens + 10) <= upper;
    if (below != above) return below ? tens : tens + 10;
    below = lower <= 4 * s;
    above = 4 * (s + 1) <= upper;
    if (below != above) return below ? s : s + 1;
    uint64_t half = 4 * s + 2;
    return middle < half || (middle == half && s % 2 == 0) ? s : s + 1;
}

static char *put_digits(char *out, uint64_t x) {
    char reversed[20];
    int n = 0;
    do reversed[n++] = (char)('0' + x % 10);
    while ((x /= 10) != 0);
    while (n > 0) *out++ = reversed[--n];
    return out;
}

static char *put_zeros(char *out, int n) {
    while (n-- > 0) *out++ = '0';
    return out;
}

/* At least two digits, as printf writes them. */
static char *put_exponent(char *out, int e) {
    *out++ = 'e';
    *out++ = e < 0 ? '-' : '+';
    unsigned size = (unsigned)(e < 0 ? -e : e);
    if (size < 10) *out++ = '0';
    return put_digits(out, size);
}

static char *put_decimal(char *out, uint64_t digits, int exponent) {
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    char text[20];
    int n = (int)(put_digits(text, digits) - text);
    int point = n + exponent; /* digits in front of the point */
    if (point - 1 >= PLAIN_BELOW || point - 1 <= PLAIN_ABOVE) {
        *out++ = text[0];
        if (n > 1) *out++ = '.';
        memcpy(out, text + 1, (size_t)(n - 1));
        return put_exponent(out + n - 1, point - 1);
    }
    if (point <= 0) {
        *out++ = '0';
        *out++ = '.';
        out = put_zeros(out, -point);
        point = n;
    }
    int front = point < n ? point : n;
    memcpy(out, text, (size_t)front);
    out = put_zeros(out + front, point - n);
    if (point < n) *out++ = '.';
    memcpy(out, text + front, (size_t)(n - front));
    return out + (n - front);
}

size_t wmi_number_text(double x, char out[WMI_NUMBER_MAX]) {
    char *at = out;
    double size = fabs(x);
    if (signbit(x)) *at++ = '-';
    if (size < 0x1p53 && size == (double)(uint64_t)size) {
        at = put_digits(at, (uint64_t)size);
    } else {
        int exponent;
        pthread_once(&powers_once, make_powers);
        uint64_t digits = shortest(size, &exponent);
        at = put_decimal(at, digits, exponent);
    }
    *at = '\0';
    return (size_t)(at - out);
}

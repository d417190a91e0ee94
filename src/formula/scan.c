#include "formula/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* muParser's functions that depend on their arguments alone, with how many they
 * take. It would refuse a wrong one itself, but by the rewritten names; `rnd` is
 * left out because a measurement must not depend on chance. */
typedef struct function {
    const char *name;
    size_t args_min, args_max;
} function;

#define ANY_COUNT SIZE_MAX
static const function functions[] = {
    {"abs", 1, 1},  {"acos", 1, 1},  {"acosh", 1, 1}, {"asin", 1, 1},        {"asinh", 1, 1},
    {"atan", 1, 1}, {"atan2", 2, 2}, {"atanh", 1, 1}, {"avg", 1, ANY_COUNT}, {"cos", 1, 1},
    {"cosh", 1, 1}, {"exp", 1, 1},   {"ln", 1, 1},    {"log", 1, 1},         {"log10", 1, 1},
    {"log2", 1, 1}, {"rint", 1, 1},  {"sign", 1, 1},  {"max", 1, ANY_COUNT}, {"min", 1, ANY_COUNT},
    {"sin", 1, 1},  {"sinh", 1, 1},  {"sqrt", 1, 1},  {"sum", 1, ANY_COUNT}, {"tan", 1, 1},
    {"tanh", 1, 1},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* What is open at a place: a bracket, a call, or either half of `a ? b : c`. A
 * finished one stays as COLON until something closes around it. */
typedef enum frame_kind { PAREN, CALL, QUESTION, COLON } frame_kind;
typedef struct frame {
    frame_kind kind;
    size_t at;
    const function *call;
    size_t args;
} frame;

/* A checker with two states, "a value is due" and "an operator is due", and a
 * stack of what is open: all that muParser's grammar needs, without recursion, so
 * that no input can exhaust the stack. */
typedef struct scanner {
    const char *text;
    size_t at, end;
    bool value_due;
    bool sign_seen; /* muParser takes one sign before a value */
    size_t depth;
    frame frames[WMI_FORMULA_DEPTH_MAX];
    wmi_scan *out;
    wm_error *err;
} scanner;

/* ---- messages ---- */

enum { SHOWN_AROUND = 60 };

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

static size_t character_number(const char *text, size_t at) {
    size_t number = 1;
    for (size_t i = 0; i < at; i++) number += !is_continuation(text[i]);
    return number;
}

wm_status wmi_scan_error(const char *text, size_t at, wm_error *err, const char *fmt, ...) {
    size_t n = strlen(text);
    size_t from = at > SHOWN_AROUND ? at - SHOWN_AROUND : 0;
    size_t to = n - at > SHOWN_AROUND ? at + SHOWN_AROUND : n;
    while (from < at && is_continuation(text[from])) from++;
    while (to > at && to < n && is_continuation(text[to])) to--;

    wm_error what = WM_ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(&what, WM_EPARSE, 0, fmt, args);
    va_end(args);
    return wmi_error_set(err, WM_EPARSE, 0, "formula '%s%.*s%s', character %zu: %s", from ? "..." : "",
                         (int)(to - from), text + from, to < n ? "..." : "", character_number(text, at),
                         what.message);
}

/* Length of the token at s->at, for messages only. */
static size_t token_length(const scanner *s) {
    size_t n = 0, left = s->end - s->at;
    const char *p = s->text + s->at;
    while (n < left && n < SHOWN_AROUND && wmi_scan_word(p[n])) n++;
    if (n == 0) n = wmi_utf8_len(p, left);
    return n ? n : 1;
}

static wm_status fail_found(const scanner *s, const char *expected) {
    return wmi_scan_error(s->text, s->at, s->err, "%s, not '%.*s'", expected, (int)token_length(s),
                          s->text + s->at);
}

/* ---- output ---- */

/* The array with room for one more element, moved or not; NULL when memory ran out. */
static void *grow(void *array, size_t *cap, size_t count, size_t size) {
    if (count < *cap) return array;
    size_t more = *cap ? *cap * 2 : 8;
    void *p = realloc(array, more * size);
    if (p) *cap = more;
    return p;
}

static wm_status emit_input(scanner *s, const char *name, size_t n) {
    wmi_scan *out = s->out;
    size_t i = 0;
    while (i < out->input_count && (strncmp(out->inputs[i], name, n) != 0 || out->inputs[i][n] != '\0')) i++;
    if (i == out->input_count) {
        char **inputs = grow(out->inputs, &out->input_cap, i, sizeof *inputs);
        if (!inputs) return WM_ENOMEM;
        out->inputs = inputs;
        out->inputs[i] = wmi_strndup(name, n);
        if (!out->inputs[i]) return WM_ENOMEM;
        out->input_count++;
    }
    wmi_buf_printf(&out->code, "v%zu", i);
    return WM_OK;
}

/* Numbers are handed over as variables too: muParser reads literals by a process-wide
 * locale that anybody may change, and its folding of constants turns the operands of
 * && and || into ints. */
static wm_status emit_number(scanner *s, double x) {
    wmi_scan *out = s->out;
    double *numbers = grow(out->numbers, &out->number_cap, out->number_count, sizeof *numbers);
    if (!numbers) return WM_ENOMEM;
    out->numbers = numbers;
    wmi_buf_printf(&out->code, "k%zu", out->number_count);
    out->numbers[out->number_count++] = x;
    return WM_OK;
}

/* ---- values ---- */

static wm_status push(scanner *s, frame_kind kind, const function *call) {
    if (s->depth == WMI_FORMULA_DEPTH_MAX)
        return wmi_scan_error(s->text, s->at, s->err, "nested deeper than %d levels", WMI_FORMULA_DEPTH_MAX);
    s->frames[s->depth++] = (frame){kind, s->at, call, 1};
    return WM_OK;
}

static wm_status read_number(scanner *s) {
    const char *p = s->text + s->at;
    size_t n = 0, left = s->end - s->at;
    while (n < left && (wmi_scan_digit(p[n]) || p[n] == '.')) n++;
    if (n < left && (p[n] == 'e' || p[n] == 'E')) {
        size_t digits = n + 1;
        if (digits < left && (p[digits] == '+' || p[digits] == '-')) digits++;
        if (digits < left && wmi_scan_digit(p[digits])) n = digits;
        while (n < left && wmi_scan_digit(p[n])) n++;
    }
    double x;
    if (!wmi_number_parse(p, n, &x))
        return wmi_scan_error(s->text, s->at, s->err, "'%.*s' is not a number that a double can hold",
                              n < SHOWN_AROUND ? (int)n : SHOWN_AROUND, p);
    s->at += n;
    s->value_due = false;
    return emit_number(s, x);
}

static const function *find_function(const char *name, size_t n) {
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strlen(functions[i].name) == n && memcmp(functions[i].name, name, n) == 0) return &functions[i];
    return NULL;
}

static wm_status fail_function(const scanner *s, size_t n) {
    const char *names[FUNCTIONS];
    for (size_t i = 0; i < FUNCTIONS; i++) names[i] = functions[i].name;
    char *name = wmi_strndup(s->text + s->at, n);
    char *near = name ? wmi_nearest(name, names, FUNCTIONS) : NULL;
    wm_status status = WM_ENOMEM;
    if (near)
        status = wmi_scan_error(s->text, s->at, s->err, "there is no function '%.*s'%s%s",
                                n < SHOWN_AROUND ? (int)n : SHOWN_AROUND, name,
                                *near ? "; the nearest is " : "", near);
    free(near);
    free(name);
    return status;
}

static wm_status read_word(scanner *s) {
    const char *p = s->text + s->at;
    size_t n = 0, left = s->end - s->at;
    while (n < left && wmi_scan_word(p[n])) n++;
    size_t next = n;
    while (next < left && wmi_scan_blank(p[next])) next++;
    if (next < left && p[next] == '(') {
        const function *call = find_function(p, n);
        if (!call) return fail_function(s, n);
        wm_status status = push(s, CALL, call);
        if (status) return status;
        wmi_buf_str(&s->out->code, call->name);
        wmi_buf_char(&s->out->code, '(');
        s->at += next + 1;
        s->sign_seen = false;
        return WM_OK;
    }
    s->at += n;
    s->value_due = false;
    /* muParser's two constants. Release 2.3.3 cuts its own _pi at the twelfth decimal. */
    if (n == 3 && memcmp(p, "_pi", 3) == 0) return emit_number(s, M_PI);
    if (n == 2 && memcmp(p, "_e", 2) == 0) return emit_number(s, M_E);
    return emit_input(s, p, n);
}

static wm_status read_quoted(scanner *s) {
    const char *name = s->text + s->at + 1;
    const char *close = memchr(name, '`', s->end - s->at - 1);
    if (!close) return wmi_scan_error(s->text, s->at, s->err, "a back quote without its partner");
    if (close == name) return wmi_scan_error(s->text, s->at, s->err, "an empty name in back quotes");
    size_t n = (size_t)(close - name);
    s->at += n + 2;
    s->value_due = false;
    return emit_input(s, name, n);
}

/* A + before a value does nothing and is dropped: some releases of muParser refuse
 * it before a function. */
static wm_status read_sign(scanner *s, char sign) {
    if (s->sign_seen) return wmi_scan_error(s->text, s->at, s->err, "two signs in a row (write -(-x))");
    s->sign_seen = true;
    s->at++;
    if (sign == '-') wmi_buf_char(&s->out->code, '-');
    return WM_OK;
}

static wm_status read_value(scanner *s) {
    char c = s->text[s->at];
    char next = s->at + 1 < s->end ? s->text[s->at + 1] : '\0';
    if (wmi_scan_digit(c) || (c == '.' && wmi_scan_digit(next))) return read_number(s);
    if (wmi_scan_word_start(c)) return read_word(s);
    if (c == '`') return read_quoted(s);
    if (c == '+' || c == '-') return read_sign(s, c);
    if (c != '(') return fail_found(s, "a value is expected");
    wm_status status = push(s, PAREN, NULL);
    if (status) return status;
    wmi_buf_char(&s->out->code, '(');
    s->at++;
    s->sign_seen = false;
    return WM_OK;
}

/* ---- operators ---- */

static frame *top(scanner *s) { return s->depth ? &s->frames[s->depth - 1] : NULL; }

/* The innermost open frame once finished `a ? b : c` are left behind. */
static frame *settle(scanner *s) {
    while (s->depth && top(s)->kind == COLON) s->depth--;
    return top(s);
}

static wm_status fail_question(const scanner *s, const frame *f) {
    return wmi_scan_error(s->text, f->at, s->err, "a '?' without its ':'");
}

static wm_status take(scanner *s, const char *code, size_t n) {
    wmi_buf_str(&s->out->code, code);
    s->at += n;
    s->value_due = true;
    s->sign_seen = false;
    return WM_OK;
}

static wm_status read_close(scanner *s) {
    frame *f = settle(s);
    if (!f) return wmi_scan_error(s->text, s->at, s->err, "a ')' without its '('");
    if (f->kind == QUESTION) return fail_question(s, f);
    if (f->kind == CALL && (f->args < f->call->args_min || f->args > f->call->args_max))
        return wmi_scan_error(s->text, f->at, s->err, "%s takes %zu argument%s, not %zu", f->call->name,
                              f->call->args_min, f->call->args_min == 1 ? "" : "s", f->args);
    s->depth--;
    s->at++;
    wmi_buf_char(&s->out->code, ')');
    return WM_OK;
}

static wm_status read_comma(scanner *s) {
    frame *f = settle(s);
    if (f && f->kind == QUESTION) return fail_question(s, f);
    if (!f || f->kind != CALL)
        return wmi_scan_error(s->text, s->at, s->err, "a comma outside a function's arguments");
    f->args++;
    return take(s, ";", 1);
}

static wm_status read_colon(scanner *s) {
    frame *f = settle(s);
    if (!f || f->kind != QUESTION) return wmi_scan_error(s->text, s->at, s->err, "a ':' without its '?'");
    f->kind = COLON;
    return take(s, ":", 1);
}

static wm_status read_question(scanner *s) {
    wm_status status = push(s, QUESTION, NULL);
    return status ? status : take(s, "?", 1);
}

static wm_status fail_operator(const scanner *s) {
    switch (s->text[s->at]) {
    case '=': return wmi_scan_error(s->text, s->at, s->err, "assignment is not possible here (== compares)");
    case '[':
        return wmi_scan_error(s->text, s->at, s->err, "a unit in brackets belongs behind the whole formula");
    case '.':
    case '@':
    case '#':
        return wmi_scan_error(s->text, s->at, s->err,
                              "a name that is not a plain word is written in back quotes: '%c'",
                              s->text[s->at]);
    default: return fail_found(s, "an operator is expected");
    }
}

static wm_status read_operator(scanner *s) {
    static const char *const operators[] = {"<=", ">=", "==", "!=", "&&", "||", "<",
                                            ">",  "+",  "-",  "*",  "/",  "^"};
    const char *p = s->text + s->at;
    switch (*p) {
    case ')': return read_close(s);
    case ',': return read_comma(s);
    case '?': return read_question(s);
    case ':': return read_colon(s);
    default: break;
    }
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t n = strlen(operators[i]);
        if (n <= s->end - s->at && memcmp(p, operators[i], n) == 0) return take(s, operators[i], n);
    }
    return fail_operator(s);
}

/* ---- the whole ---- */

static wm_status finish(scanner *s) {
    if (s->value_due) return wmi_scan_error(s->text, s->end, s->err, "a value is missing");
    const frame *f = settle(s);
    if (!f) return WM_OK;
    if (f->kind == QUESTION) return fail_question(s, f);
    return wmi_scan_error(s->text, f->at, s->err, "a '(' that is never closed");
}

static wm_status scan(scanner *s) {
    for (;;) {
        while (s->at < s->end && wmi_scan_blank(s->text[s->at])) s->at++;
        if (s->at == s->end) return finish(s);
        wm_status status = s->value_due ? read_value(s) : read_operator(s);
        if (status) return status;
    }
}

wm_status wmi_scan_expression(const char *text, size_t begin, size_t end, wmi_scan *out, wm_error *err) {
    *out = (wmi_scan){.code = WMI_BUF_INIT};
    scanner s = {.text = text, .at = begin, .end = end, .value_due = true, .out = out, .err = err};
    wm_status status = scan(&s);
    if (status == WM_OK && out->code.failed) status = WM_ENOMEM;
    if (status == WM_ENOMEM) wmi_error_nomem(err);
    if (status) wmi_scan_free(out);
    return status;
}

void wmi_scan_free(wmi_scan *scan) {
    for (size_t i = 0; i < scan->input_count; i++) free(scan->inputs[i]);
    free(scan->inputs);
    free(scan->numbers);
    wmi_buf_free(&scan->code);
    *scan = (wmi_scan){.code = WMI_BUF_INIT};
}

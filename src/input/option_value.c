/* Reading the value of an option. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "formula/formula.h"
#include "input/axes.h"
#include "input/option_table.h"
#include "input/value_text.h"

enum { SHOWN_MAX = 100 };

/* ---- messages ---- */

wm_status wmi_option_fail(const wmi_option_context *c, const char *fmt, ...) {
    wm_error what = WM_ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(&what, WM_EINVAL, 0, fmt, args);
    va_end(args);
    return wmi_error_set(c->err, WM_EINVAL, 0, "%s%s%s", c->where ? c->where : "", c->where ? ": " : "",
                         what.message);
}

static void list_choices(const char *const *choices, wmi_buf *out) {
    for (size_t i = 0; choices[i]; i++) {
        if (i > 0) wmi_buf_str(out, choices[i + 1] ? ", " : " or ");
        wmi_buf_str(out, choices[i]);
    }
}

/* What the option accepts, as the end of "--runs takes ...". */
static void accepted(const wmi_option *option, bool too_large, wmi_buf *out) {
    switch (option->kind) {
    case WMI_OPTION_WHOLE:
    case WMI_OPTION_CPU:
    case WMI_OPTION_SEED:
        wmi_buf_printf(out, "a whole number of at %s %lld", too_large ? "most" : "least",
                       (long long)(too_large ? option->max : option->min));
        break;
    case WMI_OPTION_DURATION:
        wmi_buf_str(out, "a length of time above 0, such as 500ms, 2s or 1min (a bare number is in seconds)");
        break;
    case WMI_OPTION_RATIO: wmi_buf_str(out, "a ratio above 0 and at most 1, such as 2% or 0.02"); break;
    case WMI_OPTION_CLOCKS:
        wmi_buf_str(out, "base, none or a frequency such as 1410MHz or 1.41GHz (a bare number is in "
                         "MHz), with try: before it to go on where that is not permitted");
        break;
    case WMI_OPTION_CHOICE:
    case WMI_OPTION_FORMAT: list_choices(option->choices, out); break;
    case WMI_OPTION_THREADS:
        wmi_buf_printf(out, "whole numbers from %lld to %lld, each once: 4, 1,2,4 or [1:8]",
                       (long long)option->min, (long long)option->max);
        break;
    case WMI_OPTION_METRICS: wmi_buf_str(out, "names and group:NAME, separated by commas"); break;
    case WMI_OPTION_PATTERNS: wmi_buf_str(out, "names or shell patterns, separated by commas"); break;
    case WMI_OPTION_COMBINE:
        wmi_buf_str(out, "HOW or METRIC=HOW, separated by commas, where HOW is ");
        list_choices(option->choices, out);
        break;
    case WMI_OPTION_FLAG:
    case WMI_OPTION_QUIET:
    case WMI_OPTION_VERBOSE: wmi_buf_str(out, "no value"); break;
    default: wmi_buf_printf(out, "a value (%s)", option->arg); break;
    }
}

static wm_status refuse(const wmi_option_context *c, const wmi_option *option, bool too_large,
                        const char *but) {
    wmi_buf what = WMI_BUF_INIT;
    accepted(option, too_large, &what);
    wm_status s = what.failed ? wmi_error_nomem(c->err)
                              : wmi_option_fail(c, "--%s takes %s, %s", option->name, what.data, but);
    wmi_buf_free(&what);
    return s;
}

static wm_status refuse_value(const wmi_option_context *c, const wmi_option *option, bool too_large,
                              const char *value) {
    wm_error but = WM_ERROR_INIT;
    wmi_error_set(&but, WM_EINVAL, 0, "not '%.*s'", SHOWN_MAX, value);
    return refuse(c, option, too_large, but.message);
}

wm_status wmi_option_missing(const wmi_option_context *c, const wmi_option *option) {
    return refuse(c, option, false, "and nothing follows it");
}

wm_status wmi_option_superfluous(const wmi_option_context *c, const wmi_option *option, const char *value) {
    return refuse_value(c, option, false, value);
}

/* A message of a part below, said again with who gave the option. */
static wm_status pass_on(const wmi_option_context *c, wm_status s, const wm_error *why) {
    if (s == WM_EPARSE || s == WM_EINVAL) return wmi_option_fail(c, "%s", why->message);
    return wmi_error_set(c->err, s, why->native_code, "%s", why->message);
}

/* ---- numbers ---- */

static wm_status read_whole(const wmi_option_context *c, const wmi_option *option, const char *value,
                            int64_t *out) {
    size_t n = strlen(value);
    int64_t x = 0;
    bool fits = wmi_i64_parse(value, n, &x);
    bool too_large = fits ? x > option->max : wmi_is_whole_text(value, n) && value[0] != '-';
    if (!fits || too_large || x < option->min) return refuse_value(c, option, too_large, value);
    *out = x;
    return WM_OK;
}

static wm_status read_duration(const wmi_option_context *c, const wmi_option *option, const char *value,
                               int64_t *out) {
    int64_t ns;
    if (!wmi_duration_parse(value, strlen(value), &ns) || ns < option->min)
        return refuse_value(c, option, false, value);
    *out = ns;
    return WM_OK;
}

static wm_status read_ratio(const wmi_option_context *c, const wmi_option *option, const char *value,
                            double *out) {
    size_t n = strlen(value);
    bool percent = n > 0 && value[n - 1] == '%';
    double x;
    if (!wmi_number_parse(value, n - percent, &x)) return refuse_value(c, option, false, value);
    if (percent) x /= 100;
    if (!(x > 0 && x <= 1)) return refuse_value(c, option, false, value);
    *out = x;
    return WM_OK;
}

static bool ends_in(const char *value, const char *unit, size_t *n) {
    const size_t length = strlen(unit);
    if (*n < length || strcmp(value + *n - length, unit) != 0) return false;
    *n -= length;
    return true;
}

static wm_status read_clocks(const wmi_option_context *c, const wmi_option *option, const char *value,
                             wmi_lock_clocks *out) {
    static const double hz_max = 1e11;
    const char *whole = value;
    const bool soft = strncmp(value, "try:", 4) == 0;
    if (soft) value += 4;
    size_t n = strlen(value);
    double x = 0, unit = 1e6;
    if (ends_in(value, "MHz", &n))
        unit = 1e6;
    else if (ends_in(value, "GHz", &n))
        unit = 1e9;
    const bool named = strcmp(value, "none") == 0 || strcmp(value, "base") == 0;
    if (!named && (!wmi_number_parse(value, n, &x) || !(x > 0 && x * unit <= hz_max)))
        return refuse_value(c, option, false, whole);
    *out = (wmi_lock_clocks){!named ? x * unit : *value == 'b' ? -1 : 0, soft};
    return WM_OK;
}

static wm_status read_choice(const wmi_option_context *c, const wmi_option *option, const char *value,
                             int *out) {
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) != 0) continue;
        *out = i;
        return WM_OK;
    }
    return refuse_value(c, option, false, value);
}

/* The values are those of an axis, whose brackets may be left out. */
static wm_status read_threads(const wmi_option_context *c, const wmi_option *option, const char *value,
                              wmi_options *o) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_axis axis = {0};
    wmi_buf_printf(&text, value[0] == '[' ? "threads[i64]=%s" : "threads[i64]=[%s]", value);
    wm_status s = text.failed ? WM_ENOMEM : wmi_axis_parse(text.data, &axis, NULL);
    wmi_buf_free(&text);
    if (s == WM_ENOMEM) return wmi_error_nomem(c->err);
    if (s) return refuse_value(c, option, false, value);
    int64_t *threads = malloc(axis.count * sizeof *threads);
    bool fits = true;
    for (size_t i = 0; threads && i < axis.count; i++) {
        threads[i] = axis.values[i].as.i64;
        fits = fits && threads[i] >= option->min && threads[i] <= option->max;
    }
    size_t count = axis.count;
    wmi_axis_fini(&axis);
    if (!threads || !fits) {
        free(threads);
        return fits ? wmi_error_nomem(c->err) : refuse_value(c, option, false, value);
    }
    free(o->threads);
    o->threads = threads;
    o->thread_count = count;
    return WM_OK;
}

/* ---- texts ---- */

static wm_status set_text(const wmi_option_context *c, const char *value, char **out) {
    char *copy = wmi_strdup(value);
    if (!copy) return wmi_error_nomem(c->err);
    free(*out);
    *out = copy;
    return WM_OK;
}

static wm_status read_path(const wmi_option_context *c, const wmi_option *option, const char *value,
                           char **out) {
    return *value ? set_text(c, value, out) : refuse(c, option, false, "not an empty one");
}

/* How often the text in braces is repeated: the larger of its numbers. */
static int64_t repeat_count(const char *interval) {
    int64_t most = 1, x = 0;
    for (; *interval && *interval != '}'; interval++) {
        if (*interval < '0' || *interval > '9')
            x = 0;
        else if (x <= WMI_REGEX_REPEAT_MAX)
            x = x * 10 + (*interval - '0');
        if (x > most) most = x;
    }
    return most;
}

/* glibc writes out what {n} repeats, so that (((a{99}){99}){99}){99} takes all memory:
 * the product of all counts is limited. */
static bool repeats_too_much(const char *regex) {
    int64_t product = 1;
    for (; *regex; regex++) {
        if (*regex == '\\' && regex[1])
            regex++;
        else if (*regex == '{')
            product *= repeat_count(regex + 1);
        if (product > WMI_REGEX_REPEAT_MAX) return true;
    }
    return false;
}

static wm_status read_regex(const wmi_option_context *c, const wmi_option *option, const char *value,
                            char **out) {
    if (strlen(value) > WMI_REGEX_LENGTH_MAX || repeats_too_much(value))
        return wmi_option_fail(c,
                               "--%s takes a regular expression of at most %d characters that repeats "
                               "nothing more than %d times",
                               option->name, WMI_REGEX_LENGTH_MAX, WMI_REGEX_REPEAT_MAX);
    regex_t regex;
    int code = regcomp(&regex, value, REG_EXTENDED | REG_NOSUB);
    if (code == REG_ESPACE) return wmi_error_nomem(c->err);
    if (code != 0) {
        char why[128];
        regerror(code, &regex, why, sizeof why);
        return wmi_option_fail(c, "--%s takes an extended regular expression, not '%.*s': %s", option->name,
                               SHOWN_MAX, value, why);
    }
    regfree(&regex);
    return set_text(c, value, out);
}

/* ---- lists ---- */

static wm_status add_text(const wmi_option_context *c, const char *value, size_t n, wmi_list *out) {
    return wmi_list_add(out, value, n) ? wmi_error_nomem(c->err) : WM_OK;
}

static wm_status read_name(const wmi_option_context *c, const wmi_option *option, const char *value,
                           wmi_list *out) {
    return *value ? add_text(c, value, strlen(value), out) : refuse(c, option, false, "not an empty one");
}

static bool contains(const wmi_list *list, const char *text, size_t n) {
    for (size_t i = 0; i < list->n; i++)
        if (strncmp(list->v[i], text, n) == 0 && list->v[i][n] == '\0') return true;
    return false;
}

static bool is_choice(const wmi_option *option, const char *text, size_t n) {
    for (size_t i = 0; option->choices[i]; i++)
        if (strlen(option->choices[i]) == n && memcmp(option->choices[i], text, n) == 0) return true;
    return false;
}

/* Can this be an item of that comma list? It is not empty. */
static bool is_item(const wmi_option *option, const char *text, size_t n) {
    if (option->kind == WMI_OPTION_METRICS) return n != 6 || memcmp(text, "group:", 6) != 0;
    if (option->kind != WMI_OPTION_COMBINE) return true;
    const char *equals = memchr(text, '=', n);
    if (!equals) return is_choice(option, text, n);
    return equals > text && is_choice(option, equals + 1, n - (size_t)(equals + 1 - text));
}

/* Each item once, but of --combine, where the last of a metric counts. */
static wm_status read_list(const wmi_option_context *c, const wmi_option *option, const char *value,
                           wmi_list *out) {
    for (const char *at = value;; at++) {
        size_t n = strcspn(at, ","), end = n;
        size_t start = strspn(at, " \t");
        while (end > start && (at[end - 1] == ' ' || at[end - 1] == '\t')) end--;
        size_t len = end > start ? end - start : 0;
        if (len == 0 || !is_item(option, at + start, len)) return refuse_value(c, option, false, value);
        bool known = option->kind != WMI_OPTION_COMBINE && contains(out, at + start, len);
        wm_status s = known ? WM_OK : add_text(c, at + start, len, out);
        if (s) return s;
        at += n;
        if (*at == '\0') return WM_OK;
    }
}

/* The name that an axis or a formula begins with. */
static size_t leading_name(const char *text, const char **name) {
    text += strspn(text, " \t\r\n");
    bool quoted = *text == '`';
    *name = text + quoted;
    return strcspn(*name, quoted ? "`" : " \t\r\n[=");
}

wm_status wmi_option_add_named(wmi_list *list, const char *text, wm_error *err) {
    const char *name, *other;
    size_t n = leading_name(text, &name);
    for (size_t i = 0; i < list->n; i++) {
        if (leading_name(list->v[i], &other) != n || memcmp(name, other, n) != 0) continue;
        char *copy = wmi_strdup(text);
        if (!copy) return wmi_error_nomem(err);
        free(list->v[i]);
        list->v[i] = copy;
        return WM_OK;
    }
    return wmi_list_add(list, text, strlen(text)) ? wmi_error_nomem(err) : WM_OK;
}

static wm_status read_axis(const wmi_option_context *c, const char *value, wmi_list *out) {
    wmi_axis axis;
    wm_error why = WM_ERROR_INIT;
    wm_status s = wmi_axis_parse(value, &axis, &why);
    if (s) return pass_on(c, s, &why);
    wmi_axis_fini(&axis);
    return wmi_option_add_named(out, value, c->err);
}

static wm_status read_formula(const wmi_option_context *c, const char *value, wmi_list *out) {
    wmi_formula *formula = NULL;
    wm_error why = WM_ERROR_INIT;
    wm_status s = wmi_formula_parse(value, &formula, &why);
    if (s) return pass_on(c, s, &why);
    wmi_formula_destroy(formula);
    return wmi_option_add_named(out, value, c->err);
}

static wm_status read_config(const wmi_option_context *c, const char *value, wmi_list *out) {
    wmi_axis *pairs = NULL;
    size_t count = 0;
    wm_error why = WM_ERROR_INIT;
    wm_status s = wmi_config_parse(value, &pairs, &count, &why);
    if (s) return pass_on(c, s, &why);
    for (size_t i = 0; i < count; i++) wmi_axis_fini(&pairs[i]);
    free(pairs);
    return add_text(c, value, strlen(value), out);
}

/* ---- one option ---- */

wm_status wmi_option_set(const wmi_option_context *c, const wmi_option *option, const char *value,
                         wmi_options *o) {
    void *member = (char *)o + option->member;
    int64_t x = 0;
    wm_status s;
    switch (option->kind) {
    case WMI_OPTION_FLAG: *(bool *)member = true; return WM_OK;
    case WMI_OPTION_QUIET: *(int *)member = -1; return WM_OK;
    case WMI_OPTION_VERBOSE: *(int *)member = *(int *)member < 0 ? 1 : *(int *)member + 1; return WM_OK;
    case WMI_OPTION_WHOLE: return read_whole(c, option, value, member);
    case WMI_OPTION_CPU:
        s = read_whole(c, option, value, &x);
        if (s == WM_OK) *(int *)member = (int)x;
        return s;
    case WMI_OPTION_SEED:
        s = read_whole(c, option, value, &x);
        if (s == WM_OK) *(uint64_t *)member = (uint64_t)x;
        return s;
    case WMI_OPTION_DURATION: return read_duration(c, option, value, member);
    case WMI_OPTION_RATIO: return read_ratio(c, option, value, member);
    case WMI_OPTION_CLOCKS: return read_clocks(c, option, value, member);
    case WMI_OPTION_CHOICE: return read_choice(c, option, value, member);
    case WMI_OPTION_FORMAT:
        s = read_choice(c, option, value, &(int){0});
        return s ? s : set_text(c, value, member);
    case WMI_OPTION_PATH: return read_path(c, option, value, member);
    case WMI_OPTION_TEXT: return set_text(c, value, member);
    case WMI_OPTION_REGEX: return read_regex(c, option, value, member);
    case WMI_OPTION_NAMES: return read_name(c, option, value, member);
    case WMI_OPTION_METRICS:
    case WMI_OPTION_PATTERNS:
    case WMI_OPTION_COMBINE: return read_list(c, option, value, member);
    case WMI_OPTION_AXIS: return read_axis(c, value, member);
    case WMI_OPTION_CONFIG: return read_config(c, value, member);
    case WMI_OPTION_FORMULA: return read_formula(c, value, member);
    case WMI_OPTION_THREADS: return read_threads(c, option, value, o);
    }
    return WM_OK;
}

#include "input/options.h"

#include <stdlib.h>
#include <string.h>

#include "input/option_table.h"

/* ---- lists ---- */

wm_status wmi_list_add(wmi_list *l, const char *text, size_t n) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4;
        char **v = realloc(l->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n] = wmi_strndup(text, n);
    if (!l->v[l->n]) return WM_ENOMEM;
    l->n++;
    return WM_OK;
}

void wmi_list_free(wmi_list *l) {
    for (size_t i = 0; i < l->n; i++) free(l->v[i]);
    free(l->v);
    *l = (wmi_list){0};
}

/* ---- the struct ---- */

#define HANG_NS INT64_C(10000000000)

void wmi_options_init(wmi_options *o) {
    *o = (wmi_options){.runs = -1,
                       .warmup = -1,
                       .pin = -1,
                       .cache_clear = -1,
                       .hang_ns = HANG_NS,
                       .thermal_wait = -1,
                       .thermal_cont = -1,
                       .thermal_device = -1};
}

void wmi_options_fini(wmi_options *o) {
    for (size_t i = 0; i < WMI_OPT_COUNT; i++) {
        void *member = (char *)o + wmi_option_table[i].member;
        switch (wmi_option_table[i].kind) {
        case WMI_OPTION_FORMAT:
        case WMI_OPTION_PATH:
        case WMI_OPTION_TEXT:
        case WMI_OPTION_REGEX: free(*(char **)member); break;
        case WMI_OPTION_NAMES:
        case WMI_OPTION_METRICS:
        case WMI_OPTION_PATTERNS:
        case WMI_OPTION_COMBINE:
        case WMI_OPTION_AXIS:
        case WMI_OPTION_CONFIG:
        case WMI_OPTION_FORMULA: wmi_list_free(member); break;
        default: break;
        }
    }
    free(o->threads);
    wmi_options_init(o);
}

/* ---- reading one layer ---- */

/* The options of one parse, apart from what earlier ones left: a failure leaves those
 * as they were, and the rules below see what was given together. */
typedef struct layer {
    wmi_options options;
    bool given[WMI_OPT_COUNT];
    bool program;
    wmi_option_context context;
    int argc, at;
    const char *const *argv;
} layer;

static bool takes_value(const wmi_option *option) { return option->arg != NULL; }

static wm_status fail_unknown(const layer *l, const char *word, size_t n) {
    const char *names[WMI_OPT_COUNT];
    size_t count = l->program ? WMI_OPT_COUNT : WMI_SWEEP_OPTIONS;
    for (size_t i = 0; i < count; i++) names[i] = wmi_option_table[i].name;
    char *name = wmi_strndup(word + 2, n - 2);
    char *near = name ? wmi_nearest(name, names, count) : NULL;
    wm_status s;
    if (!near)
        s = wmi_error_nomem(l->context.err);
    else if (!*near)
        s = wmi_option_fail(&l->context, "there is no option --%.60s; --help lists them all", name);
    else
        s = wmi_option_fail(&l->context, "there is no option --%.60s; the nearest is --%s", name, near);
    free(near);
    free(name);
    return s;
}

static wm_status take(layer *l, size_t id, const char *value) {
    const wmi_option *option = &wmi_option_table[id];
    if (id >= WMI_SWEEP_OPTIONS && !l->program)
        return wmi_option_fail(
            &l->context, "--%s is an option of the program's command line, not of a benchmark", option->name);
    wm_status s = wmi_option_set(&l->context, option, value, &l->options);
    if (s == WM_OK) l->given[id] = true;
    return s;
}

/* The value of an option that stands at l->at: what follows it in its own word, or
 * the next word. */
static wm_status take_with_value(layer *l, size_t id, const char *value) {
    const wmi_option *option = &wmi_option_table[id];
    if (!takes_value(option)) {
        if (value) return wmi_option_superfluous(&l->context, option, value);
    } else if (!value) {
        if (l->at + 1 == l->argc) return wmi_option_missing(&l->context, option);
        value = l->argv[++l->at];
    }
    return take(l, id, value);
}

static wm_status read_long(layer *l, const char *word) {
    size_t n = strcspn(word, "=");
    for (size_t id = 0; id < WMI_OPT_COUNT; id++) {
        const char *name = wmi_option_table[id].name;
        if (strlen(name) == n - 2 && memcmp(name, word + 2, n - 2) == 0)
            return take_with_value(l, id, word[n] == '=' ? word + n + 1 : NULL);
    }
    return fail_unknown(l, word, n);
}

static size_t find_letter(char letter) {
    size_t id = 0;
    while (id < WMI_OPT_COUNT && wmi_option_table[id].letter != letter) id++;
    return id;
}

/* -x value, -xvalue, or several without a value in one word: -qv. */
static wm_status read_short(layer *l, const char *word) {
    for (const char *letter = word + 1; *letter; letter++) {
        size_t id = find_letter(*letter);
        if (id == WMI_OPT_COUNT) {
            size_t shown = wmi_utf8_len(letter, strlen(letter));
            return wmi_option_fail(&l->context, "there is no option -%.*s; --help lists them all",
                                   shown ? (int)shown : 1, letter);
        }
        if (takes_value(&wmi_option_table[id])) return take_with_value(l, id, letter[1] ? letter + 1 : NULL);
        wm_status s = take(l, id, NULL);
        if (s) return s;
    }
    return WM_OK;
}

static wm_status read_word(layer *l, bool *options_end) {
    const char *word = l->argv[l->at];
    if (!*options_end && strcmp(word, "--") == 0) {
        *options_end = true;
        return WM_OK;
    }
    if (!*options_end && word[0] == '-' && word[1] == '-') return read_long(l, word);
    if (!*options_end && word[0] == '-' && word[1] != '\0') return read_short(l, word);
    return wmi_option_fail(&l->context, "only options are taken, and '%.100s' is none", word);
}

static wm_status read_words(layer *l) {
    bool options_end = false;
    for (l->at = 0; l->at < l->argc; l->at++) {
        wm_status s = read_word(l, &options_end);
        if (s) return s;
    }
    return WM_OK;
}

/* ---- one layer over another ---- */

static const size_t adaptive[] = {WMI_OPT_MIN_RUNS, WMI_OPT_MAX_RUNS, WMI_OPT_MIN_TIME, WMI_OPT_MAX_NOISE,
                                  WMI_OPT_TARGET_CI};

static bool any_adaptive(const layer *l) {
    for (size_t i = 0; i < sizeof adaptive / sizeof adaptive[0]; i++)
        if (l->given[adaptive[i]]) return true;
    return false;
}

/* A fixed number of runs and rules of when to stop replace one another; so does an
 * order without chance the seed of one with. */
static void drop_replaced(wmi_options *o, const layer *l) {
    if (l->given[WMI_OPT_RUNS]) {
        o->min_runs = o->max_runs = o->min_time_ns = 0;
        o->max_noise = o->target_ci = 0;
    }
    if (any_adaptive(l)) o->runs = -1;
    if (l->given[WMI_OPT_ORDER] && l->options.order != WMI_ORDER_RANDOM) {
        o->seed = 0;
        o->seed_given = false;
    }
}

static wm_status move_list(wmi_option_kind kind, wmi_list *to, wmi_list *from, wm_error *err) {
    wm_status s = WM_OK;
    switch (kind) {
    case WMI_OPTION_AXIS:
    case WMI_OPTION_FORMULA:
        for (size_t i = 0; i < from->n && s == WM_OK; i++) s = wmi_option_add_named(to, from->v[i], err);
        return s;
    case WMI_OPTION_CONFIG:
        for (size_t i = 0; i < from->n && s == WM_OK; i++)
            s = wmi_list_add(to, from->v[i], strlen(from->v[i]));
        return s ? wmi_error_nomem(err) : WM_OK;
    default:
        wmi_list_free(to);
        *to = *from;
        *from = (wmi_list){0};
        return WM_OK;
    }
}

static void move_text(char **to, char **from) {
    free(*to);
    *to = *from;
    *from = NULL;
    if (*to && !**to) {
        free(*to);
        *to = NULL;
    }
}

static wm_status move_option(size_t id, wmi_options *o, layer *l) {
    const wmi_option *option = &wmi_option_table[id];
    void *to = (char *)o + option->member, *from = (char *)&l->options + option->member;
    switch (option->kind) {
    case WMI_OPTION_FLAG: *(bool *)to = *(bool *)from; return WM_OK;
    case WMI_OPTION_QUIET:
    case WMI_OPTION_VERBOSE:
    case WMI_OPTION_CPU:
    case WMI_OPTION_CHOICE: *(int *)to = *(int *)from; return WM_OK;
    case WMI_OPTION_WHOLE:
    case WMI_OPTION_DURATION: *(int64_t *)to = *(int64_t *)from; return WM_OK;
    case WMI_OPTION_SEED: *(uint64_t *)to = *(uint64_t *)from; return WM_OK;
    case WMI_OPTION_CLOCKS: *(wmi_lock_clocks *)to = *(wmi_lock_clocks *)from; return WM_OK;
    case WMI_OPTION_RATIO: *(double *)to = *(double *)from; return WM_OK;
    case WMI_OPTION_FORMAT:
    case WMI_OPTION_PATH:
    case WMI_OPTION_TEXT:
    case WMI_OPTION_REGEX: move_text(to, from); return WM_OK;
    case WMI_OPTION_THREADS:
        free(o->threads);
        o->threads = l->options.threads;
        o->thread_count = l->options.thread_count;
        l->options.threads = NULL;
        return WM_OK;
    default: return move_list(option->kind, to, from, l->context.err);
    }
}

static wm_status merge(wmi_options *o, layer *l) {
    drop_replaced(o, l);
    o->order_given = o->order_given || l->given[WMI_OPT_ORDER];
    o->seed_given = o->seed_given || l->given[WMI_OPT_SEED];
    for (size_t id = 0; id < WMI_OPT_COUNT; id++) {
        wm_status s = l->given[id] ? move_option(id, o, l) : WM_OK;
        if (s) return s;
    }
    return WM_OK;
}

wm_status wmi_options_parse(wmi_options *o, int argc, const char *const *argv, bool program,
                            const char *where, wm_error *err) {
    layer l = {.program = program, .context = {where, err}, .argc = argc, .argv = argv};
    wmi_options_init(&l.options);
    wm_status s = read_words(&l);
    if (s == WM_OK) s = merge(o, &l);
    wmi_options_fini(&l.options);
    return s;
}

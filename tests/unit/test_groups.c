#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend.h"
#include "formula/formula.h"
#include "input/groups.h"

static wm_status parse(const char *text, wmi_group *g, wm_error *err) {
    return wmi_group_parse("g", "g.metrics", text, strlen(text), g, err);
}

static void a_group_is_read(void **state) {
    (void)state;
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    static const char text[] = "# a comment: metrics: none\n"
                               "text: What it is for: this\r\n"
                               "\n"
                               "  metrics : a-b, c ,a-b\n"
                               "metrics: d::e:u\n"
                               "derive: r = `a-b`/c [1/s]\n"
                               "derive:`x y`=1";
    if (parse(text, &g, &err) != WM_OK) fail_msg("%s", err.message);
    assert_string_equal(g.name, "g");
    assert_string_equal(g.text, "What it is for: this");
    assert_int_equal(g.metrics.n, 3);
    assert_string_equal(g.metrics.v[0], "a-b");
    assert_string_equal(g.metrics.v[1], "c");
    assert_string_equal(g.metrics.v[2], "d::e:u");
    assert_int_equal(g.derive.n, 2);
    assert_string_equal(g.derive.v[0], "r = `a-b`/c [1/s]");
    assert_string_equal(g.derive.v[1], "`x y`=1");
    wmi_group_fini(&g);
    assert_null(g.metrics.v);
}

static void what_is_wrong_is_named_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1: the group has no 'text: ...' that says what it is for"},
        {"text: x\n", "line 2: the group names no metrics"},
        {"metrics: a", "line 1: the group has no 'text: ...' that says what it is for"},
        {"text: x\nmetrics a", "line 2: 'key: value' is expected"},
        {"text: x\nmetric: a", "line 2: the keys are text, metrics, derive and label, not 'metric'"},
        {"text: x\n: a", "line 2: the keys are text, metrics, derive and label, not ''"},
        {"text:  \nmetrics: a", "line 1: nothing stands behind 'text:'"},
        {"text: x\ntext: y", "line 2: 'text' is there twice"},
        {"text: x\nmetrics: a,,b", "line 2: 'metrics' takes names separated by commas, and one is empty"},
        {"text: x\nmetrics: a,", "line 2: 'metrics' takes names separated by commas, and one is empty"},
        {"text: x\nmetrics: group:y", "line 2: a group takes metrics and no other group"},
        {"text: x\nmetrics: a | group:y", "line 2: a group takes metrics and no other group"},
        {"text: x\nmetrics: a |, b", "line 2: 'metrics' takes names separated by commas, and one is empty"},
        {"text: x\nmetrics: | b", "line 2: 'metrics' takes names separated by commas, and one is empty"},
        {"text: x\nmetrics: 0", "line 2: '0' is no metric: it ends a row, behind the last '|'"},
        {"text: x\nmetrics: a | 0 | b", "line 2: '0' is no metric: it ends a row, behind the last '|'"},
        {"text: x\nmetrics: a | none | 0", "line 2: 'none' is no metric: it ends a row, behind the last '|'"},
        {"text: x\nmetrics: a\n\nderive: r=", "line 4: formula 'r=', character 3: a value is missing"},
        {"text: x\nmetrics: a\nderive: r=a\nderive: r = 2", "line 4: a formula named 'r' is there twice"},
    };
    static const char *const labels[] = {"bound = compute:a, memory:b",
                                         "bound = compute:a, latency below 60",
                                         "bound compute:a, memory:b, latency below 60",
                                         "limit = compute:a, memory:b, latency below 60",
                                         "bound = compute:, memory:b, latency below 60",
                                         "bound = memory:b, compute:a, latency below 60",
                                         "bound = compute:a, memory:b, latency below",
                                         "bound = compute:a, memory:b, latency below 101",
                                         "bound = compute:a, memory:b, latency below -1",
                                         "bound = compute:a, memory:b, latency below x",
                                         "bound = compute:a, memory:b, latency below 60, c",
                                         "bound ="};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        char text[200];
        wmi_group g = {0};
        wm_error err = WM_ERROR_INIT;
        snprintf(text, sizeof text, "text: x\nmetrics: a, b\nlabel: %s\n", labels[i]);
        assert_int_equal(parse(text, &g, &err), WM_EPARSE);
        assert_string_equal(err.message,
                            "g.metrics, line 3: a label is 'bound = compute:METRIC, memory:METRIC, "
                            "latency below PERCENT'");
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_group g = {.name = (char *)(uintptr_t)cases[i].text};
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(parse(cases[i].text, &g, &err), WM_EPARSE);
        assert_ptr_equal(g.name, cases[i].text);
        assert_int_equal(strncmp(err.message, "g.metrics, ", 11), 0);
        assert_string_equal(err.message + 11, cases[i].message);
        assert_int_equal(parse(cases[i].text, &g, NULL), WM_EPARSE);
    }
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_group_parse("g", "f", "text: x\nmetr\0cs: a", 18, &g, &err), WM_EPARSE);
    assert_string_equal(err.message, "f, line 2: a NUL byte: this is no text file");
}

/* ---- choosing ---- */

/* Known are the names that the list holds. */
static wm_status is_listed(void *user, const char *name) {
    for (const char *const *known = user; *known; known++)
        if (strcmp(*known, name) == 0) return WM_OK;
    return strcmp(name, "memory") == 0 ? WM_ENOMEM : WM_ENOTFOUND;
}

static wmi_group chosen(const char *text, const char *const *known) {
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    if (parse(text, &g, &err) != WM_OK) fail_msg("%s", err.message);
    if (wmi_group_choose(&g, is_listed, (void *)(uintptr_t)known, &err) != WM_OK) fail_msg("%s", err.message);
    return g;
}

static void assert_list(const wmi_list *l, const char *joined) {
    wmi_buf text = WMI_BUF_INIT;
    for (size_t i = 0; i < l->n; i++) wmi_buf_printf(&text, "%s%s", i ? "; " : "", l->v[i]);
    assert_string_equal(text.data ? text.data : "", joined);
    wmi_buf_free(&text);
}

static void the_first_known_alternative_is_read(void **state) {
    (void)state;
    static const char text[] = "text: x\n"
                               "metrics: a.x | b.x|c, t, c\n"
                               "metrics: d | e\n"
                               "derive: a = `a.x`/t + a [d/s]\n"
                               "derive: `a.x=` = 2e9*d\n";
    wmi_group g = chosen(text, (const char *const[]){"b.x", "c", "t", NULL});
    assert_list(&g.metrics, "b.x; t; c; d"); /* none of the last row: the first name, to be refused later */
    assert_list(&g.derive, "a = `b.x`/t + a [d/s]; `a.x=` = 2e9*d");
    wmi_group_fini(&g);
    g = chosen(text, (const char *const[]){"a.x", "b.x", "e", NULL});
    assert_list(&g.metrics, "a.x; t; c; e");
    assert_list(&g.derive, "a = `a.x`/t + a [d/s]; `a.x=` = 2e9*`e`");
    wmi_group_fini(&g);
    g = chosen(text, (const char *const[]){"c", NULL}); /* one that is read anyway */
    assert_list(&g.metrics, "c; t; d");
    assert_list(&g.derive, "a = `c`/t + a [d/s]; `a.x=` = 2e9*d");
    wmi_group_fini(&g);
}

static void a_row_may_say_what_stands_for_it(void **state) {
    (void)state;
    static const char text[] = "text: x\n"
                               "metrics: t, a | 0, b.c | b.d | none\n"
                               "derive: sum = t + 2*a + a1 + 1e9\n"
                               "derive: rate = `b.c`/t\n"
                               "derive: b = t\n";
    wmi_group g = chosen(text, (const char *const[]){"t", NULL});
    assert_list(&g.metrics, "t");
    assert_list(&g.derive, "sum = t + 2*0 + a1 + 1e9; b = t");
    wmi_group_fini(&g);
    g = chosen(text, (const char *const[]){"t", "a", "b.d", NULL});
    assert_list(&g.metrics, "t; a; b.d");
    assert_list(&g.derive, "sum = t + 2*a + a1 + 1e9; rate = `b.d`/t; b = t");
    wmi_group_fini(&g);
}

/* A sum of what chips have in different kinds. */
static void a_formula_of_zeros_is_put_into_others(void **state) {
    (void)state;
    static const char text[] = "text: x\n"
                               "metrics: t, a | 0, b.c | 0\n"
                               "derive: early = both + t\n"
                               "derive: `only a` = 2*a [FLOP]\n"
                               "derive: both = `only a` + 3*`b.c`\n"
                               "derive: all = both*2 + t [x]\n"
                               "derive: seven = 7\n"
                               "derive: offset = 1 + a\n"
                               "derive: last = offset*t\n";
    wmi_group g = chosen(text, (const char *const[]){"t", NULL});
    assert_list(&g.metrics, "t");
    assert_list(&g.derive, "early = ((2*0) + 3*0) + t; all = ((2*0) + 3*0)*2 + t [x]; seven = 7; "
                           "last = (1 + 0)*t");
    wmi_group_fini(&g);
    g = chosen(text, (const char *const[]){"t", "b.c", NULL});
    assert_list(&g.metrics, "t; b.c");
    assert_list(&g.derive, "early = both + t; both = (2*0) + 3*`b.c`; all = both*2 + t [x]; seven = 7; "
                           "last = (1 + 0)*t");
    wmi_group_fini(&g);
    g = chosen("text: x\nmetrics: a | 0\nderive: r = a", (const char *const[]){NULL});
    assert_int_equal(g.metrics.n, 0);
    assert_int_equal(g.derive.n, 0);
    wmi_group_fini(&g);
}

static void assert_bound(const wmi_group *g, size_t i, const char *compute, const char *memory,
                         double below) {
    assert_true(i < g->bound_count);
    assert_string_equal(g->bounds[i].compute, compute);
    assert_string_equal(g->bounds[i].memory, memory);
    assert_true(g->bounds[i].latency_below == below);
}

static void labels_are_read_and_follow_the_choice(void **state) {
    (void)state;
    static const char text[] = "text: x\n"
                               "metrics: sm.x | sm.y | none, dram.z | 0, l2\n"
                               "label: bound=compute:sm.x,memory:dram.z,latency below 60\n"
                               "label : bound = compute: l2 , memory: l2, latency below 12.5\n";
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    if (parse(text, &g, &err) != WM_OK) fail_msg("%s", err.message);
    assert_int_equal(g.bound_count, 2);
    assert_bound(&g, 0, "sm.x", "dram.z", 60);
    assert_bound(&g, 1, "l2", "l2", 12.5);
    wmi_group_fini(&g);
    assert_null(g.bounds);
    g = chosen(text, (const char *const[]){"sm.y", "dram.z", "l2", NULL});
    assert_int_equal(g.bound_count, 2);
    assert_bound(&g, 0, "sm.y", "dram.z", 60);
    wmi_group_fini(&g);
    g = chosen(text, (const char *const[]){"dram.z", "l2", NULL}); /* none */
    assert_int_equal(g.bound_count, 1);
    assert_bound(&g, 0, "l2", "l2", 12.5);
    wmi_group_fini(&g);
    g = chosen(text, (const char *const[]){"sm.x", "l2", NULL}); /* 0 */
    assert_int_equal(g.bound_count, 1);
    assert_bound(&g, 0, "l2", "l2", 12.5);
    wmi_group_fini(&g);
}

static void want_of_memory_ends_the_choice(void **state) {
    (void)state;
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    static const char *const known[] = {"t", NULL};
    assert_int_equal(parse("text: x\nmetrics: t, a | memory | t\nderive: r = a", &g, &err), WM_OK);
    assert_int_equal(wmi_group_choose(&g, is_listed, (void *)(uintptr_t)known, &err), WM_ENOMEM);
    wmi_group_fini(&g);
}

/* ---- finding ---- */

/* Two folders of groups, one of which is searched first. */
typedef struct folders {
    char root[64];
    char first[80], second[80];
} folders;

static void write_file(const char *folder, const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int make_folders(void **state) {
    folders *f = calloc(1, sizeof *f);
    strcpy(f->root, "/tmp/wm-groups-XXXXXX");
    if (!mkdtemp(f->root)) return -1;
    snprintf(f->first, sizeof f->first, "%s/first", f->root);
    snprintf(f->second, sizeof f->second, "%s/second", f->root);
    if (mkdir(f->first, 0777) != 0 || mkdir(f->second, 0777) != 0) return -1;
    write_file(f->first, "mine.metrics", "text: first\nmetrics: a\n");
    write_file(f->first, "broken.metrics", "text: x\nnonsense\n");
    write_file(f->first, "no group.metrics", "text: x\nmetrics: a\n");
    write_file(f->first, "mine.txt", "");
    write_file(f->first, ".metrics", "");
    write_file(f->second, "mine.metrics", "text: second\nmetrics: b\n");
    write_file(f->second, "other-2.metrics", "text: other\nmetrics: c\n");
    char both[200];
    snprintf(both, sizeof both, ":%s::%s/:", f->first, f->second);
    setenv("WARPMETER_METRICS", both, 1);
    *state = f;
    return 0;
}

static int remove_folders(void **state) {
    folders *f = *state;
    char command[120];
    snprintf(command, sizeof command, "rm -rf '%s'", f->root);
    int failed = system(command);
    free(f);
    unsetenv("WARPMETER_METRICS");
    return failed;
}

static void groups_are_found_in_order(void **state) {
    (void)state;
    wmi_group g;
    assert_int_equal(wmi_group_load("mine", &g, NULL), WM_OK);
    assert_string_equal(g.name, "mine");
    assert_string_equal(g.text, "first");
    wmi_group_fini(&g);
    assert_int_equal(wmi_group_load("other-2", &g, NULL), WM_OK);
    assert_string_equal(g.metrics.v[0], "c");
    wmi_group_fini(&g);
}

static void names_are_sorted_and_each_once(void **state) {
    (void)state;
    wmi_list names = {0};
    assert_int_equal(wmi_group_names(&names, NULL), WM_OK);
    size_t mine = 0, other = 0, broken = 0;
    for (size_t i = 0; i < names.n; i++) {
        if (i > 0) assert_true(strcmp(names.v[i - 1], names.v[i]) < 0);
        mine += strcmp(names.v[i], "mine") == 0;
        other += strcmp(names.v[i], "other-2") == 0;
        broken += strcmp(names.v[i], "broken") == 0;
        assert_string_not_equal(names.v[i], "no group");
        assert_string_not_equal(names.v[i], "");
    }
    assert_int_equal(mine + other + broken, 3);
    wmi_list_free(&names);
}

static void what_cannot_be_loaded_says_why(void **state) {
    const folders *f = *state;
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_group_load("broken", &g, &err), WM_EPARSE);
    assert_non_null(strstr(err.message, "first/broken.metrics, line 2: 'key: value' is expected"));
    assert_int_equal(wmi_group_load("mnie", &g, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "there is no group of metrics 'mnie'; there are "));
    assert_non_null(strstr(err.message, "mine"));
    assert_int_equal(wmi_group_load("", &g, &err), WM_ENOTFOUND);
    assert_int_equal(wmi_group_load("../first/mine", &g, &err), WM_ENOTFOUND);
    assert_int_equal(wmi_group_load("no group", &g, &err), WM_ENOTFOUND);

    char path[120];
    snprintf(path, sizeof path, "%s/folder.metrics", f->first);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(wmi_group_load("folder", &g, &err), WM_EPARSE);
    assert_non_null(strstr(err.message, "folder.metrics is no text file of at most 1048576 bytes"));
}

static void a_wrong_environment_is_refused(void **state) {
    const folders *f = *state;
    char *kept = strdup(getenv("WARPMETER_METRICS"));
    char value[300], message[300];
    snprintf(value, sizeof value, "%s:%s/none", f->first, f->root);
    setenv("WARPMETER_METRICS", value, 1);
    snprintf(message, sizeof message,
             "WARPMETER_METRICS takes folders separated by ':', and '%s/none' is none", f->root);
    wmi_group g;
    wmi_list names = {0};
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_group_load("mine", &g, &err), WM_EINVAL);
    assert_string_equal(err.message, message);
    assert_int_equal(wmi_group_names(&names, &err), WM_EINVAL);
    assert_string_equal(err.message, message);
    setenv("WARPMETER_METRICS", kept, 1);
    free(kept);
}

/* ---- the groups that are installed ---- */

static bool is_known(const char *metric) {
    for (const wmi_backend_ops *const *b = wmi_backends; *b; b++) {
        wmi_metric m;
        if ((*b)->describe(NULL, metric, &m, NULL) == WM_OK) return true;
    }
    return false;
}

static void check_formula(const wmi_group *g, const char *text) {
    wmi_formula *f;
    assert_int_equal(wmi_formula_parse(text, &f, NULL), WM_OK);
    for (size_t i = 0; i < wmi_formula_inputs(f); i++) {
        size_t k = 0;
        while (k < g->metrics.n && strcmp(g->metrics.v[k], wmi_formula_input(f, i)) != 0) k++;
        if (k == g->metrics.n) fail_msg("%s: %s is not read", g->name, wmi_formula_input(f, i));
    }
    wmi_formula_destroy(f);
}

static void the_groups_of_the_project_name_known_metrics(void **state) {
    (void)state;
    setenv("WARPMETER_METRICS", WM_SOURCE_DIR "/metrics", 1);
    static const char *const names[] = {"branch", "cache", "faults", "ipc", "sched", "stalls", "tlb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        wmi_group g;
        wm_error err = WM_ERROR_INIT;
        if (wmi_group_load(names[i], &g, &err) != WM_OK) fail_msg("%s", err.message);
        for (size_t k = 0; k < g.metrics.n; k++)
            if (!is_known(g.metrics.v[k])) fail_msg("%s: no backend knows %s", names[i], g.metrics.v[k]);
        for (size_t k = 0; k < g.derive.n; k++) check_formula(&g, g.derive.v[k]);
        wmi_group_fini(&g);
    }
    unsetenv("WARPMETER_METRICS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_read),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
        cmocka_unit_test(the_first_known_alternative_is_read),
        cmocka_unit_test(a_row_may_say_what_stands_for_it),
        cmocka_unit_test(a_formula_of_zeros_is_put_into_others),
        cmocka_unit_test(labels_are_read_and_follow_the_choice),
        cmocka_unit_test(want_of_memory_ends_the_choice),
        cmocka_unit_test_setup_teardown(groups_are_found_in_order, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(names_are_sorted_and_each_once, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(what_cannot_be_loaded_says_why, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(a_wrong_environment_is_refused, make_folders, remove_folders),
        cmocka_unit_test(the_groups_of_the_project_name_known_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* docs/format.md describes every column, reason and format that there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "sink/json.h"
#include "sink/sink.h"

static int read_document(void **state) {
    char *text = NULL;
    size_t n;
    if (wmi_file_read(WM_SOURCE_DIR "/docs/format.md", &text, &n, NULL) != WM_OK) return -1;
    *state = text;
    return 0;
}

static int free_document(void **state) {
    free(*state);
    return 0;
}

/* The section of a kind: from its heading to the next. The caller frees. */
static char *section(const char *document, const char *kind) {
    wmi_buf heading = WMI_BUF_INIT;
    wmi_buf_printf(&heading, "\n### %s\n", kind);
    const char *begin = strstr(document, heading.data);
    if (!begin) fail_msg("no section %s", kind);
    begin += heading.len;
    const char *end = strstr(begin, "\n## "), *next = strstr(begin, "\n### ");
    if (next && (!end || next < end)) end = next;
    wmi_buf_free(&heading);
    return wmi_strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

/* The line of a column, with the bars of the text escaped. */
static void describe(const wmi_schema_column *c, wmi_buf *out) {
    wmi_buf_printf(out, "\n| `%s` | %s | %s%s", c->name, wmi_json_type(c->type), c->unit,
                   *c->unit ? " | " : "| ");
    for (const char *p = c->text; *p; p++) {
        if (*p == '|') wmi_buf_char(out, '\\');
        wmi_buf_char(out, *p);
    }
    wmi_buf_str(out, " |\n");
}

static void every_column_is_described(void **state) {
    for (const wmi_schema *s = wmi_schemas; s->kind; s++) {
        char *text = section(*state, s->kind);
        for (size_t i = 0; i < s->count; i++) {
            wmi_buf line = WMI_BUF_INIT;
            describe(&s->columns[i], &line);
            if (!strstr(text, line.data)) fail_msg("%s lacks the line:%s", s->kind, line.data);
            wmi_buf_free(&line);
        }
        free(text);
    }
}

static void every_reason_is_described(void **state) {
    for (int r = WM_REASON_NONE + 1; r < WM_REASON_COUNT; r++) {
        wmi_buf line = WMI_BUF_INIT;
        wmi_buf_printf(&line, "\n| `%s` | %s |\n", wm_reason_slug((wm_reason)r),
                       wm_reason_text((wm_reason)r));
        if (!strstr(*state, line.data)) fail_msg("no line:%s", line.data);
        wmi_buf_free(&line);
    }
}

static void every_format_is_described(void **state) {
    for (const wmi_sink *const *s = wmi_sinks; *s; s++) {
        wmi_buf line = WMI_BUF_INIT;
        wmi_buf_printf(&line, "\n| `%s` | `%s` | ", (*s)->name, (*s)->suffixes);
        const char *found = strstr(*state, line.data);
        if (!found) fail_msg("no line:%s", line.data);
        const char *end = strchr(found + 1, '\n');
        const char *read = (*s)->read ? "| yes |" : "| no |";
        assert_memory_equal(end - strlen(read), read, strlen(read));
        wmi_buf_free(&line);
    }
}

/* The example of the document is a file that can be read. */
static void the_example_of_json_is_valid(void **state) {
    const char *begin = strstr(*state, "```json\n") + strlen("```json\n"), *end = strstr(begin, "```");
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_json_parse("example", WMI_JSON_TABLE, begin, (size_t)(end - begin), &t, &err) != WM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(wm_table_rows(t), 1);
    assert_int_equal(wmi_table_cell(t, 0, 2).reason, WM_REASON_FEW_SAMPLES);
    assert_int_equal(wmi_table_cell(t, 0, 3).reason, WM_REASON_NOT_APPLICABLE);
    wm_table_destroy(t);
}

/* What others build has the columns that are described. */
static void assert_complete(wm_table *t) {
    assert_true(wmi_schema_complete(t));
    assert_int_equal(wm_table_columns(t), wmi_schema_of(wm_table_kind(t))->count);
    wm_table_destroy(t);
}

static void nothing(wm_state *st) { (void)st; }

static void doctor_metrics_and_plan_have_their_columns(void **state) {
    (void)state;
    wm_benchmark bench = WM_BENCHMARK_INIT;
    wm_session *session = NULL;
    wm_sweep *sweep = NULL;
    wm_table *t = NULL;
    bench.name = "nothing";
    bench.run = nothing;
    assert_int_equal(wm_doctor(&t, NULL), WM_OK);
    assert_complete(t);
    assert_int_equal(
        wm_metrics(&(wm_metrics_opts){.struct_size = sizeof(wm_metrics_opts), .pattern = "time"}, &t, NULL),
        WM_OK);
    assert_complete(t);
    assert_int_equal(wm_session_create(NULL, &session, NULL), WM_OK);
    assert_int_equal(wm_sweep_create(session, &bench, 0, NULL, &sweep, NULL), WM_OK);
    assert_int_equal(wm_sweep_plan(sweep, &t, NULL), WM_OK);
    assert_complete(t);
    wm_sweep_destroy(sweep);
    wm_session_destroy(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_is_described),
        cmocka_unit_test(every_reason_is_described),
        cmocka_unit_test(every_format_is_described),
        cmocka_unit_test(the_example_of_json_is_valid),
        cmocka_unit_test(doctor_metrics_and_plan_have_their_columns),
    };
    return cmocka_run_group_tests(tests, read_document, free_document);
}

/* Nsight Compute's reports: numbers, units, cells that are no CSV, steps, and the table made of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncu/ncu.h"
#include "table/table.h"

#include <cmocka.h>

/* ---- numbers and units ---- */

static double number(const char *text) {
    double x = NAN;
    return wmi_ncu_number(text, strlen(text), &x) ? x : NAN;
}

static void test_numbers(void **state) {
    (void)state;
    assert_true(number("1,980,000") == 1980000.0);
    assert_true(number("21.909333") == 21.909333);
    assert_true(number("415,174,878") == 415174878.0);
    assert_true(number("0") == 0.0);
    assert_true(isnan(number("")));
    assert_true(isnan(number("(256, 1, 1)")));
    assert_true(isnan(number("NVIDIA H200")));
    assert_true(isnan(number("nan")));
    assert_true(isnan(number("1111111111222222222233333333334444444444555555555566666666667777777")));
}

static void test_units(void **state) {
    static const struct {
        const char *ncu;
        double factor;
        const char *ours;
    } units[] = {
        {"%", 1, "%"},
        {"ns", 1, "ns"},
        {"us", 1e3, "ns"},
        {"msecond", 1e6, "ns"},
        {"second", 1e9, "ns"},
        {"byte", 1, "B"},
        {"Kbyte", 1e3, "B"},
        {"Mbyte", 1e6, "B"},
        {"Tbyte", 1e12, "B"},
        {"Gbyte/s", 1e9, "B/s"},
        {"byte/nsecond", 1e9, "B/s"},
        {"Kbyte/block", 1e3, "B"},
        {"byte/cycle", 1, "B/cycle"},
        {"Ghz", 1e9, "Hz"},
        {"cycle/nsecond", 1e9, "Hz"},
        {"cycle/usecond", 1e6, "Hz"},
        {"inst/second", 1, "1/s"},
        {"Kinst", 1e3, ""},
        {"inst", 1, ""},
        {"register/thread", 1, ""},
        {"K", 1, ""},
        {"", 1, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const wmi_ncu_unit got = wmi_ncu_unit_of(units[i].ncu, strlen(units[i].ncu));
        if (fabs(got.factor / units[i].factor - 1) > 1e-12 || strcmp(got.unit, units[i].ours) != 0)
            fail_msg("%s: %g %s", units[i].ncu, got.factor, got.unit);
    }
}

/* ---- ranges ---- */

/* The two cells as they lie in a row, without its outer quotes. */
static void cells_make(wmi_buf *out, const char *pushed, const char *const *names, size_t count) {
    wmi_buf_str(out, pushed);
    wmi_buf_str(out, "\",\"");
    for (size_t i = 0; i < count; i++)
        wmi_buf_printf(out, " \"\"%zu:some:domain:%s:none:none:none:none:ASCII:%s\"\" ", 7 + i, names[i],
                       names[i]);
    assert_false(out->failed);
}

static void expect_names(const char *pushed, const char *const *names, size_t count) {
    wmi_buf cells = WMI_BUF_INIT;
    wmi_ncu_ranges ranges = {0};
    cells_make(&cells, pushed, names, count);
    assert_int_equal(wmi_ncu_ranges_read((wmi_ncu_text){cells.data, cells.len}, &ranges), WM_OK);
    assert_int_equal(ranges.n, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ranges.v[i].id, 7 + i);
        if (!wmi_ncu_text_is(ranges.v[i].name, names[i]))
            fail_msg("'%.*s', not '%s'", (int)ranges.v[i].name.n, ranges.v[i].name.s, names[i]);
        assert_true(wmi_ncu_text_is(ranges.v[i].domain, "some:domain"));
    }
    free(ranges.v);
    wmi_buf_free(&cells);
}

#define EXPECT_NAMES(pushed, ...)                                                                            \
    do {                                                                                                     \
        const char *const names[] = {__VA_ARGS__};                                                           \
        expect_names(pushed, names, sizeof names / sizeof *names);                                           \
    } while (0)

static void test_any_name_is_read(void **state) {
    (void)state;
    expect_names("", NULL, 0);
    EXPECT_NAMES("", "plain");
    EXPECT_NAMES("", "outer \"q\" a,b", "inner/x", "");
    EXPECT_NAMES("", "ends in a quote\"", "\"begins with one", "\"", "\"\"", "\"\"  \"\"");
    EXPECT_NAMES("", "a\",\"b", "\",\" \"\"0:", "\",\"", "back\\slash\\", "two\nlines");
    EXPECT_NAMES("", "a:none:none:none:none:ASCII:a", "none:none:none:none:ASCII:", ":", "::");
    EXPECT_NAMES("", "x\"\" ", "\"\"  \"\"3:d:y:none:none:none:none:ASCII:y");
    EXPECT_NAMES("", "\xc3\xa9t\xc3\xa9 \xff");
    EXPECT_NAMES(" 522  \"\"lib:pushed:none:none:none:none:ASCII:pushed\"\" ", "region");
    EXPECT_NAMES(" 522  \"\"lib:\",\" \"\"0:a:none:none:none:none:ASCII:\",\" \"\"0:a\"\" ", "region");
}

/* Ids give the order, whatever that in the cell. */
static void test_ranges_are_in_the_order_of_their_starts(void **state) {
    static const char text[] =
        "\",\" \"\"9:d:b:none:none:none:none:ASCII:b\"\"  \"\"2:d:a:none:none:none:none:ASCII:a\"\" ";
    wmi_ncu_ranges ranges = {0};
    (void)state;
    assert_int_equal(wmi_ncu_ranges_read((wmi_ncu_text){text, strlen(text)}, &ranges), WM_OK);
    assert_int_equal(ranges.n, 2);
    assert_int_equal(ranges.v[0].id, 2);
    assert_int_equal(ranges.v[1].id, 9);
    free(ranges.v);
}

static void test_cells_that_are_no_ranges(void **state) {
    static const char *const texts[] = {
        "",
        "\",\" ",
        "\",\" \"\"\"\" ",
        "\",\" \"\"0:d:a:none:none:none:none:ASCII:b\"\" ",
        "\",\" \"\"x:d:a:none:none:none:none:ASCII:a\"\" ",
        "\",\" \"\"0:d:a:none:none:none:ASCII:a\"\" ",
        "\",\" \"\"0:d:a:none:none:none:none:ASCII:a\"\" \"\"",
        "\",\" \"\"99999999999999999999999:d:a:none:none:none:none:ASCII:a\"\" ",
    };
    wmi_ncu_ranges ranges = {0};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (wmi_ncu_ranges_read((wmi_ncu_text){texts[i], strlen(texts[i])}, &ranges) != WM_EPARSE)
            fail_msg("taken: %s", texts[i]);
    free(ranges.v);
}

/* ---- steps ---- */

static wm_status step_read(const char *text, wmi_ncu_step *out) {
    return wmi_ncu_step_read((wmi_ncu_text){text, strlen(text)}, out);
}

static void test_steps(void **state) {
    wmi_ncu_step step;
    (void)state;
    assert_int_equal(step_read("@3/12 my bench n=128,type=\"f,32 x=1\",flag=true,x=2.0", &step), WM_OK);
    assert_int_equal(step.config, 3);
    assert_int_equal(step.run, 12);
    assert_string_equal(step.bench, "my bench");
    assert_int_equal(step.count, 4);
    assert_string_equal(step.params[0].name, "n");
    assert_int_equal(step.params[0].values[0].type, WM_I64);
    assert_int_equal(step.params[0].values[0].as.i64, 128);
    assert_string_equal(step.params[1].values[0].as.str, "f,32 x=1");
    assert_int_equal(step.params[2].values[0].type, WM_BOOL);
    assert_int_equal(step.params[3].values[0].type, WM_F64);
    wmi_ncu_step_fini(&step);

    assert_int_equal(step_read("@0/0 my bench ", &step), WM_OK);
    assert_string_equal(step.bench, "my bench");
    assert_int_equal(step.count, 0);
    wmi_ncu_step_fini(&step);

    static const char *const none[] = {"",
                                       "@",
                                       "@1",
                                       "@1/",
                                       "@1/2",
                                       "@/1 b ",
                                       "@1/ b ",
                                       "@-1/2 b ",
                                       "1/2 b ",
                                       "@1/2:b ",
                                       "@1/99999999999 b "};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (step_read(none[i], &step) != WM_EPARSE) fail_msg("taken: %s", none[i]);
}

/* ---- pages and tables ---- */

#define LEAD                                                                                                 \
    "\"ID\",\"Process ID\",\"thread Domain:Push/Pop_Range:Msg\",\"Id:Domain:Start/Stop_Range:Msg\","         \
    "\"Kernel Name\",\"device__attribute_display_name\",\"gpu__time_duration.avg\","                         \
    "\"gpu__time_duration.sum\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\"\n"                      \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"us\",\"%\"\n"
#define STEP(id, text)   " \"\"" id ":dom.steps:" text ":none:none:none:none:ASCII:" text "\"\" "
#define REGION(id, text) " \"\"" id ":dom:" text ":none:none:none:none:ASCII:" text "\"\" "
#define ROW(id, ranges, kernel, us, share)                                                                   \
    "\"" id "\",\"5\",\"\",\"" ranges "\",\"" kernel "\",\"GPU\",\"0.5\",\"" us "\",\"" share "\"\n"

static wm_table *table_of(const char *text, const wmi_list *wanted, wm_status expected) {
    wmi_ncu_page page = {0};
    const wmi_list none = {0};
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status = wmi_ncu_page_parse(text, strlen(text), &page, &err);
    if (status == WM_OK) status = wmi_ncu_table(&page, wanted ? wanted : &none, NULL, &t, &err);
    wmi_ncu_page_fini(&page);
    if (status != expected) fail_msg("%s: %s", wm_status_name(status), err.message);
    return t;
}

static void expect_row(const wm_table *t, size_t row, const char *region, const char *metric, double mean,
                       const char *kernel) {
    assert_string_equal(wmi_table_cell(t, row, WMI_COL_REGION).as.str, region);
    assert_string_equal(wmi_table_cell(t, row, WMI_COL_METRIC).as.str, metric);
    assert_string_equal(wmi_table_cell(t, row, WMI_COL_KERNEL).as.str, kernel);
    const double got = wmi_table_cell(t, row, WMI_COL_MEAN).as.f64;
    if (fabs(got - mean) > 1e-9 * fabs(mean)) fail_msg("row %zu: %.17g, not %.17g", row, got, mean);
}

static const char share_name[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

/* Two kernels in the outer region, of 1 and 3 us and shares of 10 and 50 %: 40 % weighted by time. */
static void test_kernels_count_for_all_regions_around_them(void **state) {
    (void)state;
    wm_table *t =
        table_of(LEAD ROW("0", STEP("0", "@0/0 b n=1") REGION("1", "o"), "ka", "1.000000", "10.000000")
                     ROW("1", STEP("0", "@0/0 b n=1") REGION("1", "o") REGION("2", "i"), "kb", "3.000000",
                         "50.000000"),
                 NULL, WM_OK);
    assert_int_equal(wm_table_rows(t), 4);
    expect_row(t, 0, "o", WMI_NCU_TIME, 4000, "ka, kb");
    expect_row(t, 1, "o", share_name, 40, "ka, kb");
    expect_row(t, 2, "o/i", WMI_NCU_TIME, 3000, "kb");
    expect_row(t, 3, "o/i", share_name, 50, "kb");
    assert_string_equal(wmi_table_cell(t, 0, WMI_COL_UNIT).as.str, "ns");
    assert_string_equal(wmi_table_cell(t, 0, WMI_COL_BACKEND).as.str, "ncu");
    assert_string_equal(wmi_table_cell(t, 0, WMI_COL_DEVICE).as.str, "GPU");
    assert_int_equal(wmi_table_cell(t, 0, WMI_COL_KERNELS).as.i64, 2);
    assert_int_equal(wmi_table_cell(t, 0, WMI_COL_THREADS).type, WM_NULL);
    assert_int_equal(wmi_table_cell(t, 0, WMI_COL_COUNT).as.i64, 1); /* n */
    wm_table_destroy(t);
}

static void test_a_region_keeps_its_path_after_the_one_around_it(void **state) {
    (void)state;
    wm_table *t = table_of(
        LEAD ROW("0", STEP("0", "@0/0 b ") REGION("1", "o") REGION("2", "i"), "ka", "1.000000", "10.000000")
            ROW("1", STEP("0", "@0/0 b ") REGION("2", "i"), "kb", "3.000000", "50.000000"),
        NULL, WM_OK);
    expect_row(t, 0, "o", WMI_NCU_TIME, 1000, "ka");
    expect_row(t, 2, "o/i", WMI_NCU_TIME, 4000, "ka, kb");
    assert_int_equal(wm_table_rows(t), 4);
    wm_table_destroy(t);
}

/* A function without regions is a row, however its kernels come; one with regions is none. */
static void test_kernels_outside_regions(void **state) {
    const char *both = LEAD ROW("0", STEP("0", "@0/0 b "), "ka", "1.000000", "10.000000")
        ROW("1", STEP("0", "@0/0 b ") REGION("1", "b"), "kb", "3.000000", "50.000000");
    const char *with = LEAD ROW("0", STEP("0", "@0/0 b "), "ka", "1.000000", "10.000000")
        ROW("1", STEP("0", "@0/0 b ") REGION("1", "r"), "kb", "3.000000", "50.000000");
    (void)state;
    wm_table *t = table_of(both, NULL, WM_OK);
    assert_int_equal(wm_table_rows(t), 2);
    expect_row(t, 0, "b", WMI_NCU_TIME, 4000, "ka, kb");
    wm_table_destroy(t);
    t = table_of(with, NULL, WM_OK);
    assert_int_equal(wm_table_rows(t), 2);
    expect_row(t, 0, "r", WMI_NCU_TIME, 3000, "kb");
    wm_table_destroy(t);
}

/* Runs of one configuration are its samples, also where others lie between; the order is that of numbers. */
static void test_runs_are_samples(void **state) {
    (void)state;
    wm_table *t =
        table_of(LEAD ROW("0", STEP("0", "@1/0 b n=2") REGION("1", "r"), "k", "5.000000", "1.000000")
                     ROW("1", STEP("2", "@0/0 b n=1") REGION("3", "r"), "k", "1.000000", "1.000000")
                         ROW("2", STEP("4", "@1/1 b n=2") REGION("5", "r"), "k", "7.000000", "1.000000")
                             ROW("3", STEP("6", "@0/1 b n=1") REGION("7", "r"), "k", "2.000000", "1.000000"),
                 NULL, WM_OK);
    assert_int_equal(wm_table_rows(t), 4);
    assert_string_equal(wmi_table_cell(t, 0, WMI_COL_CONFIG_KEY).as.str, "n=1");
    expect_row(t, 0, "r", WMI_NCU_TIME, 1500, "k");
    expect_row(t, 2, "r", WMI_NCU_TIME, 6000, "k");
    assert_int_equal(wmi_table_cell(t, 2, WMI_COL_SAMPLES).as.i64, 2);
    wm_table_destroy(t);
}

static void test_what_the_report_lacks_is_missing(void **state) {
    wmi_list wanted = {0};
    (void)state;
    assert_int_equal(wmi_ncu_metrics("kernel_time, time,smsp__none.sum,kernel_count", &wanted, NULL), WM_OK);
    assert_int_equal(wanted.n, 2);
    wm_table *t = table_of(LEAD ROW("0", STEP("0", "@0/0 b ") REGION("1", "r"), "k", "n/a", "1.000000"),
                           &wanted, WM_OK);
    assert_int_equal(wm_table_rows(t), 2);
    assert_int_equal(wmi_table_cell(t, 0, WMI_COL_MEAN).reason, WM_REASON_BACKEND);
    assert_int_equal(wmi_table_cell(t, 1, WMI_COL_MEAN).reason, WM_REASON_NO_EVENT);
    wm_table_destroy(t);
    wmi_list_free(&wanted);
}

static void test_pages_that_are_none(void **state) {
    (void)state;
    table_of("", NULL, WM_EEMPTY);
    table_of("==ERROR== nothing\n", NULL, WM_EEMPTY);
    table_of(LEAD, NULL, WM_EEMPTY);
    table_of("\"ID\",\"x\"\n", NULL, WM_EPARSE);
    table_of("\"ID\",\"x\n", NULL, WM_EPARSE);
    table_of(LEAD "\"0\",\"5\",\"\",\"k\"\n", NULL, WM_EPARSE);
    table_of(LEAD ROW("0", " \"\"0:d.steps:@0/0 b :none\"\" ", "k", "1", "1"), NULL, WM_EINVAL);
}

/* ---- commands ---- */

static void expect_words(char **command, const char *words) {
    wmi_buf got = WMI_BUF_INIT;
    for (char **w = command; *w; w++) wmi_buf_printf(&got, "%s|", *w);
    assert_string_equal(got.data, words);
    wmi_buf_free(&got);
    wm_ncu_command_free(command);
}

static void test_commands(void **state) {
    static const char *const program[] = {"./a b", "--n=1"}, *const extra[] = {"--clock-control=base",
                                                                               "--set", "full"};
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    char **command = NULL;
    (void)state;
    opts.ncu = "/ncu";
    opts.nvtx_domain = "a.b@c";
    opts.cold = true;
    opts.replay = "application";
    assert_int_equal(wm_ncu_command(&opts, 2, program, &command, NULL), WM_OK);
    expect_words(command,
                 "/ncu|--nvtx|--nvtx-include|regex:^a\\.b\\@c$@.+|--cache-control|all|--clock-control|none|"
                 "--replay-mode|application|./a b|--n=1|");
    opts = (wm_ncu_opts)WM_NCU_OPTS_INIT;
    opts.ncu = "/ncu";
    opts.nvtx_domain = "";
    opts.metrics = "time";
    opts.report = "r.ncu-rep";
    opts.extra = extra;
    opts.extra_count = 3;
    assert_int_equal(wm_ncu_command(&opts, 1, program, &command, NULL), WM_OK);
    expect_words(command, "/ncu|--nvtx|--metrics|gpu__time_duration.sum|--cache-control|none|-f|-o|r|"
                          "--clock-control=base|--set|full|./a b|");
    assert_int_equal(wm_ncu_command(&opts, 0, program, &command, NULL), WM_EINVAL);
    opts.struct_size = 1;
    assert_int_equal(wm_ncu_command(&opts, 1, program, &command, NULL), WM_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_any_name_is_read),
        cmocka_unit_test(test_ranges_are_in_the_order_of_their_starts),
        cmocka_unit_test(test_cells_that_are_no_ranges),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_kernels_count_for_all_regions_around_them),
        cmocka_unit_test(test_a_region_keeps_its_path_after_the_one_around_it),
        cmocka_unit_test(test_kernels_outside_regions),
        cmocka_unit_test(test_runs_are_samples),
        cmocka_unit_test(test_what_the_report_lacks_is_missing),
        cmocka_unit_test(test_pages_that_are_none),
        cmocka_unit_test(test_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

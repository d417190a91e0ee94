/* What is shown while a program measures, on a terminal and elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/program.h"

typedef struct shown {
    FILE *stream;
    char *text;
    size_t n;
    wmi_progress progress;
} shown;

static const int64_t minute_ns = 60000000000;

/* A program that began a little more than a minute ago. */
static void begin(shown *s) {
    *s = (shown){0};
    s->stream = open_memstream(&s->text, &s->n);
    assert_non_null(s->stream);
    wmi_progress_begin(&s->progress, s->stream);
    s->progress.begin_ns -= minute_ns;
}

static void end(shown *s) {
    fclose(s->stream);
    free(s->text);
}

static wm_step step_of(const char *key) {
    wm_step step = WM_STEP_INIT;
    step.benchmark = "sum";
    step.config_key = key;
    step.run = 4;
    return step;
}

static void lines_where_there_is_no_terminal(void **state) {
    (void)state;
    shown s;
    const wm_step step = step_of("n=1");
    begin(&s);
    s.progress.shown_ns += minute_ns;
    assert_false(wmi_progress_due(&s.progress));
    s.progress.shown_ns -= 2 * minute_ns;
    assert_true(wmi_progress_due(&s.progress));
    wmi_progress_show(&s.progress, &step, (double)minute_ns);
    wmi_progress_clear(&s.progress); /* a line stays */
    assert_int_equal(s.text[s.n - 1], '\n');
    assert_null(strpbrk(s.text, "\r\033"));
    assert_non_null(strstr(s.text, "sum n=1, run 5, elapsed 1:0"));
    assert_non_null(strstr(s.text, "remaining at most about 1:00\n"));
    end(&s);
}

static void waiting_for_a_device_is_shown(void **state) {
    (void)state;
    shown s;
    const wm_wait wait = {sizeof wait, 8, 20, 34 * (minute_ns / 60), 2 * minute_ns};
    begin(&s);
    wmi_progress_wait(&s.progress, &wait); /* something was shown just now */
    assert_int_equal(s.n, 0);
    s.progress.shown_ns -= minute_ns;
    wmi_progress_wait(&s.progress, &wait);
    assert_string_equal(s.text,
                        "waiting for the GPU to cool: 8 of 20 degrees left, for 0:34, at most 2:00 more\n");
    end(&s);
}

static void one_line_that_is_drawn_again_on_a_terminal(void **state) {
    (void)state;
    shown s;
    const wm_step step = step_of("n=1");
    begin(&s);
    s.progress.terminal = true;
    wmi_progress_show(&s.progress, &step, 0);
    fflush(s.stream);
    assert_null(strpbrk(s.text, "\n\033"));
    const size_t width = s.n;
    wmi_progress_clear(&s.progress);
    assert_int_equal(s.n, 2 * width + 2); /* it is written over with blanks */
    assert_int_equal(s.text[s.n - 1], '\r');
    wmi_progress_clear(&s.progress);
    assert_int_equal(s.n, 2 * width + 2);
    end(&s);
}

static void a_step_is_named_by_what_it_has(void **state) {
    (void)state;
    shown s;
    wm_step step = step_of("");
    begin(&s);
    step.pass = 1;
    wmi_progress_show(&s.progress, &step, 0);
    assert_non_null(strstr(s.text, "] sum, run 5, pass 2, elapsed"));
    step.warmup = true;
    wmi_progress_show(&s.progress, &step, 0);
    assert_non_null(strstr(s.text, "] sum, warm-up, pass 2, elapsed"));
    end(&s);
}

static void silence(void **state) {
    (void)state;
    wmi_progress none;
    wmi_progress_begin(&none, NULL);
    none.shown_ns -= minute_ns;
    assert_false(wmi_progress_due(&none));
    wmi_progress_clear(&none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_where_there_is_no_terminal),
        cmocka_unit_test(waiting_for_a_device_is_shown),
        cmocka_unit_test(one_line_that_is_drawn_again_on_a_terminal),
        cmocka_unit_test(a_step_is_named_by_what_it_has),
        cmocka_unit_test(silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

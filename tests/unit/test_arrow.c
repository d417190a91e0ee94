/* Reads the structures as a consumer does that knows only the specification. Bytes that are expected
 * are written out by hand, for a little-endian machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made_tables.h"
#include "table/arrow.h"

/* A stream with its schema and its batch; the table is gone by then. */
typedef struct arrow {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
} arrow;

static arrow export_table(wm_table *t, size_t text_max) {
    arrow a;
    assert_int_equal(wmi_table_arrow(t, text_max, &a.stream, NULL), WM_OK);
    wm_table_destroy(t);
    assert_int_equal(a.stream.get_schema(&a.stream, &a.schema), 0);
    assert_int_equal(a.stream.get_next(&a.stream, &a.batch), 0);
    assert_null(a.stream.get_last_error(&a.stream));
    assert_non_null(a.schema.release);
    assert_non_null(a.batch.release);
    return a;
}

static void release_all(arrow *a) {
    a->stream.release(&a->stream);
    a->schema.release(&a->schema);
    a->batch.release(&a->batch);
    assert_null(a->stream.release);
    assert_null(a->schema.release);
    assert_null(a->batch.release);
}

static void assert_bytes(const void *found, const void *expected, size_t n) {
    assert_non_null(found);
    assert_memory_equal(found, expected, n);
}
#define ASSERT_BYTES(found, literal) assert_bytes(found, literal, sizeof(literal) - 1)

static void assert_array(const struct ArrowArray *a, int64_t length, int64_t nulls, int64_t buffers) {
    assert_int_equal(a->length, length);
    assert_int_equal(a->null_count, nulls);
    assert_int_equal(a->offset, 0);
    assert_int_equal(a->n_buffers, buffers);
    assert_int_equal(a->n_children, 0);
    assert_null(a->dictionary);
    assert_non_null(a->release);
    for (int64_t i = 1; i < buffers; i++) {
        assert_non_null(a->buffers[i]);
        assert_int_equal((uintptr_t)a->buffers[i] % 64, 0);
    }
    if (nulls)
        assert_non_null(a->buffers[0]);
    else
        assert_null(a->buffers[0]);
}

static void assert_field(const struct ArrowSchema *s, const char *format, const char *name) {
    assert_string_equal(s->format, format);
    assert_string_equal(s->name, name);
    assert_int_equal(s->flags, 2);
    assert_int_equal(s->n_children, 0);
    assert_null(s->dictionary);
    assert_non_null(s->release);
}

static void schemas_have_formats_names_and_units(void **state) {
    (void)state;
    arrow a = export_table(one_of_each(), INT32_MAX);
    assert_string_equal(a.schema.format, "+s");
    assert_string_equal(a.schema.name, "");
    assert_int_equal(a.schema.flags, 0);
    assert_int_equal(a.schema.n_children, 4);
    assert_null(a.schema.dictionary);
    assert_field(a.schema.children[0], "l", "i");
    assert_field(a.schema.children[1], "g", "f");
    assert_field(a.schema.children[2], "u", "s");
    assert_field(a.schema.children[3], "b", "b");
    ASSERT_BYTES(a.schema.children[0]->metadata, "\1\0\0\0\4\0\0\0unit\1\0\0\0B");
    ASSERT_BYTES(a.schema.children[1]->metadata, "\1\0\0\0\4\0\0\0unit\3\0\0\0row");
    ASSERT_BYTES(a.schema.children[2]->metadata, "\1\0\0\0\4\0\0\0unit\0\0\0");
    release_all(&a);
}

static void the_schema_tells_the_kind_and_the_context(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    put_context(t, "host", wmi_str("a \"b\""));
    put_context(t, "turbo", wmi_null(WM_REASON_PERMISSION));
    put_context(t, "smt", wmi_bool(true));
    put_context(t, "seed", wmi_i64(INT64_MIN));
    put_context(t, "load1", wmi_f64(0.5));
    arrow a = export_table(t, INT32_MAX);
    ASSERT_BYTES(a.schema.metadata, "\2\0\0\0"
                                    "\4\0\0\0kind\7\0\0\0results"
                                    "\7\0\0\0context\133\0\0\0"
                                    "{\"host\": \"a \\\"b\\\"\", \"turbo\": null, \"smt\": true, "
                                    "\"seed\": -9223372036854775808, \"load1\": 0.5}");
    release_all(&a);
}

static void a_context_without_entries_is_an_empty_object(void **state) {
    (void)state;
    arrow a = export_table(one_of_each(), INT32_MAX);
    ASSERT_BYTES(a.schema.metadata, "\2\0\0\0\4\0\0\0kind\7\0\0\0results\7\0\0\0context\2\0\0\0{}");
    release_all(&a);
}

/* Ten rows, so that bitmaps go on in a second byte: nulls in rows 1 and 8. */
static wm_table *ten_rows(void) {
    static const char *const texts[] = {"a", "a", "bc", "", "bc"};
    wm_table *t = one_of_each();
    for (int i = 0; i < 10; i++) {
        const size_t row = add_row(t);
        if (i == 1 || i == 8) continue;
        put(t, row, "i", wmi_i64(i - 5));
        put(t, row, "f", wmi_f64(i + 0.5));
        put(t, row, "s", wmi_str(texts[i % 5]));
        put(t, row, "b", wmi_bool(i % 2 == 1));
    }
    return t;
}

static void values_and_nulls_are_kept(void **state) {
    (void)state;
    static const int64_t whole[] = {-5, 0, -3, -2, -1, 0, 1, 2, 0, 4};
    static const double real[] = {0.5, 0, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 0, 9.5};
    static const int32_t offsets[] = {0, 1, 1, 3, 3, 5, 6, 7, 9, 9, 11};
    arrow a = export_table(ten_rows(), INT32_MAX);
    assert_int_equal(a.batch.length, 10);
    assert_int_equal(a.batch.null_count, 0);
    assert_int_equal(a.batch.n_buffers, 1);
    assert_null(a.batch.buffers[0]);
    assert_int_equal(a.batch.n_children, 4);
    for (int i = 0; i < 4; i++) {
        assert_array(a.batch.children[i], 10, 2, i == 2 ? 3 : 2);
        ASSERT_BYTES(a.batch.children[i]->buffers[0], "\xfd\x02");
    }
    assert_bytes(a.batch.children[0]->buffers[1], whole, sizeof whole);
    assert_bytes(a.batch.children[1]->buffers[1], real, sizeof real);
    assert_bytes(a.batch.children[2]->buffers[1], offsets, sizeof offsets);
    ASSERT_BYTES(a.batch.children[2]->buffers[2], "abcbcaabcbc");
    ASSERT_BYTES(a.batch.children[3]->buffers[1], "\xa8\x02"); /* rows 3, 5, 7 and 9 */
    release_all(&a);
}

static void a_column_without_nulls_has_no_bitmap(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    for (int i = 0; i < 3; i++) {
        const size_t row = add_row(t);
        put(t, row, "i", wmi_i64(i));
        put(t, row, "s", wmi_str("x"));
        if (i) put(t, row, "b", wmi_bool(false));
    }
    arrow a = export_table(t, INT32_MAX);
    assert_array(a.batch.children[0], 3, 0, 2);
    assert_array(a.batch.children[1], 3, 3, 2);
    assert_array(a.batch.children[2], 3, 0, 3);
    assert_array(a.batch.children[3], 3, 1, 2);
    ASSERT_BYTES(a.batch.children[1]->buffers[0], "\0");
    ASSERT_BYTES(a.batch.children[3]->buffers[0], "\6");
    release_all(&a);
}

static void bytes_that_are_no_utf8_are_replaced(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("k\xffind");
    wmi_table_add_column(t, "\xc3", WM_STR, "\xb5s", NULL);
    static const char *const texts[] = {"\xff", "bad\xff\xc3(utf8", "\xe2\x82", "\u00e9t\u00e9",
                                        "\xed\xa0\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) put(t, add_row(t), "\xc3", wmi_str(texts[i]));
    put_context(t, "c", wmi_str("\xff"));
    arrow a = export_table(t, INT32_MAX);
    static const int32_t offsets[] = {0, 3, 17, 23, 28, 37};
    assert_bytes(a.batch.children[0]->buffers[1], offsets, sizeof offsets);
    ASSERT_BYTES(a.batch.children[0]->buffers[2], "\xef\xbf\xbd"
                                                  "bad\xef\xbf\xbd\xef\xbf\xbd(utf8"
                                                  "\xef\xbf\xbd\xef\xbf\xbd"
                                                  "\xc3\xa9t\xc3\xa9"
                                                  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_field(a.schema.children[0], "u", "\xef\xbf\xbd");
    ASSERT_BYTES(a.schema.children[0]->metadata, "\1\0\0\0\4\0\0\0unit\4\0\0\0\xef\xbf\xbds");
    ASSERT_BYTES(a.schema.metadata, "\2\0\0\0\4\0\0\0kind\7\0\0\0k\xef\xbf\xbdind"
                                    "\7\0\0\0context\17\0\0\0{\"c\": \"\\uefff\"}");
    release_all(&a);
}

static wm_table *two_texts(void) {
    wm_table *t = wmi_table_create("results");
    wmi_table_add_column(t, "long", WM_STR, "", NULL);
    wmi_table_add_column(t, "short", WM_STR, "", NULL);
    for (int i = 0; i < 3; i++) {
        const size_t row = add_row(t);
        if (i != 1) put(t, row, "long", wmi_str("12345"));
        put(t, row, "short", wmi_str("12"));
    }
    return t;
}

static void much_text_gets_wide_offsets(void **state) {
    (void)state;
    static const int64_t wide[] = {0, 5, 5, 10};
    static const int32_t narrow[] = {0, 2, 4, 6};
    arrow a = export_table(two_texts(), 9);
    assert_field(a.schema.children[0], "U", "long");
    assert_field(a.schema.children[1], "u", "short");
    assert_array(a.batch.children[0], 3, 1, 3);
    assert_bytes(a.batch.children[0]->buffers[1], wide, sizeof wide);
    ASSERT_BYTES(a.batch.children[0]->buffers[2], "1234512345");
    assert_bytes(a.batch.children[1]->buffers[1], narrow, sizeof narrow);
    release_all(&a);
    a = export_table(two_texts(), 10);
    assert_field(a.schema.children[0], "u", "long");
    release_all(&a);
}

static void a_table_without_rows_is_an_empty_batch(void **state) {
    (void)state;
    arrow a = export_table(one_of_each(), INT32_MAX);
    assert_int_equal(a.batch.length, 0);
    assert_int_equal(a.batch.n_children, 4);
    for (int i = 0; i < 4; i++) assert_array(a.batch.children[i], 0, 0, i == 2 ? 3 : 2);
    ASSERT_BYTES(a.batch.children[2]->buffers[1], "\0\0\0");
    release_all(&a);
}

static void a_table_without_columns_is_an_empty_row(void **state) {
    (void)state;
    arrow a = export_table(wmi_table_create("plan"), INT32_MAX);
    assert_string_equal(a.schema.format, "+s");
    assert_int_equal(a.schema.n_children, 0);
    assert_int_equal(a.batch.length, 0);
    assert_int_equal(a.batch.n_children, 0);
    release_all(&a);
}

static void a_million_rows_are_one_batch(void **state) {
    (void)state;
    enum { ROWS = 1000000 };
    wm_table *t = wmi_table_create("samples");
    wmi_table_add_column(t, "n", WM_I64, "", NULL);
    wmi_table_add_column(t, "s", WM_STR, "", NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        size_t row;
        assert_int_equal(wmi_table_add_row(t, &row), WM_OK);
        assert_int_equal(wmi_table_set(t, row, 0, wmi_i64(i * i)), WM_OK);
        if (i % 4) assert_int_equal(wmi_table_set(t, row, 1, wmi_str(i % 2 ? "odd" : "even")), WM_OK);
    }
    arrow a = export_table(t, INT32_MAX);
    assert_int_equal(a.batch.length, ROWS);
    assert_array(a.batch.children[0], ROWS, 0, 2);
    assert_array(a.batch.children[1], ROWS, ROWS / 4, 3);
    assert_int_equal(((const int64_t *)a.batch.children[0]->buffers[1])[ROWS - 1], 999998000001);
    assert_int_equal(((const uint8_t *)a.batch.children[1]->buffers[0])[ROWS / 8 - 1], 0xee);
    assert_int_equal(((const int32_t *)a.batch.children[1]->buffers[1])[ROWS], 2500000);
    assert_memory_equal((const char *)a.batch.children[1]->buffers[2] + 2499990, "oddevenodd", 10);
    release_all(&a);
}

/* ---- whose is what ---- */

static void the_stream_ends_after_one_batch(void **state) {
    (void)state;
    arrow a = export_table(ten_rows(), INT32_MAX);
    for (int i = 0; i < 2; i++) {
        struct ArrowArray next = a.batch;
        assert_int_equal(a.stream.get_next(&a.stream, &next), 0);
        assert_null(next.release);
        assert_null(a.stream.get_last_error(&a.stream));
    }
    release_all(&a);
}

static void a_batch_that_nobody_took_is_freed(void **state) {
    (void)state;
    wm_table *t = ten_rows();
    struct ArrowArrayStream stream;
    assert_int_equal(wm_table_arrow(t, &stream, NULL), WM_OK);
    stream.release(&stream);
    assert_null(stream.release);
    assert_int_equal(wm_table_rows(t), 10);
    wm_table_destroy(t);
}

static void every_schema_is_its_own(void **state) {
    (void)state;
    arrow a = export_table(ten_rows(), INT32_MAX);
    struct ArrowSchema other;
    assert_int_equal(a.stream.get_schema(&a.stream, &other), 0);
    a.schema.release(&a.schema);
    assert_int_equal(a.stream.get_schema(&a.stream, &a.schema), 0);
    assert_field(other.children[2], "u", "s");
    assert_field(a.schema.children[2], "u", "s");
    other.release(&other);
    release_all(&a);
}

static void releasing_twice_does_nothing(void **state) {
    (void)state;
    arrow a = export_table(ten_rows(), INT32_MAX);
    void (*const release_schema)(struct ArrowSchema *) = a.schema.release;
    void (*const release_batch)(struct ArrowArray *) = a.batch.release;
    void (*const release_stream)(struct ArrowArrayStream *) = a.stream.release;
    release_all(&a);
    release_schema(&a.schema);
    release_batch(&a.batch);
    release_stream(&a.stream);
    assert_null(a.stream.release);
}

/* A move: the bytes are copied, and the old place counts as released. */
static void children_may_be_moved_out(void **state) {
    (void)state;
    arrow a = export_table(ten_rows(), INT32_MAX);
    struct ArrowSchema field = *a.schema.children[2];
    struct ArrowArray texts = *a.batch.children[2], numbers = *a.batch.children[0];
    a.schema.children[2]->release = NULL;
    a.batch.children[2]->release = NULL;
    a.batch.children[0]->release = NULL;
    a.batch.children[3]->release(a.batch.children[3]); /* not wanted */
    release_all(&a);
    assert_field(&field, "u", "s");
    ASSERT_BYTES(field.metadata, "\1\0\0\0\4\0\0\0unit\0\0\0");
    ASSERT_BYTES(texts.buffers[2], "abcbcaabcbc");
    texts.release(&texts);
    assert_int_equal(((const int64_t *)numbers.buffers[1])[9], 4);
    numbers.release(&numbers);
    field.release(&field);
    assert_null(texts.release);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_have_formats_names_and_units),
        cmocka_unit_test(the_schema_tells_the_kind_and_the_context),
        cmocka_unit_test(a_context_without_entries_is_an_empty_object),
        cmocka_unit_test(values_and_nulls_are_kept),
        cmocka_unit_test(a_column_without_nulls_has_no_bitmap),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(much_text_gets_wide_offsets),
        cmocka_unit_test(a_table_without_rows_is_an_empty_batch),
        cmocka_unit_test(a_table_without_columns_is_an_empty_row),
        cmocka_unit_test(a_million_rows_are_one_batch),
        cmocka_unit_test(the_stream_ends_after_one_batch),
        cmocka_unit_test(a_batch_that_nobody_took_is_freed),
        cmocka_unit_test(every_schema_is_its_own),
        cmocka_unit_test(releasing_twice_does_nothing),
        cmocka_unit_test(children_may_be_moved_out),
    };
    return cmocka_run_group_tests_name("arrow", tests, NULL, NULL);
}

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/kernel_names.h"
#include "base/intern.h"

static void the_plain_name_is_the_function_own(void **state) {
    (void)state;
    static const struct {
        const char *full, *plain;
    } cases[] = {
        {"saxpy(int, float, float const*, float*)", "saxpy"},
        {"saxpy", "saxpy"},
        {"void scale<float>(float*, int)", "scale"},
        {"nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT"},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
         "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, "
         "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, "
         "std::array<char*, 2ul>)",
         "vectorized_elementwise_kernel"},
        {"void (anonymous namespace)::softmax_warp_forward<float, 10, false>(float*, int)",
         "softmax_warp_forward"},
        {"(anonymous namespace)::fill(float*)", "fill"},
        {"void a::(anonymous namespace)::b<c::(anonymous namespace)::d>(int)", "b"},
        {"std::enable_if<((4)>(2)), void>::type pick<int>(int)", "pick"},
        {"decltype(auto) run<3>(int)", "run"},
        {"decltype (f(1)) run<3>(int)", "run"},
        {"unsigned long long const* ns::get(int)", "get"},
        {"void cmp<((1)<(2)), ((3)>(1))>(int)", "cmp"},
        {"void call<&(ns::f(int))>(int)", "call"},
        {"void k<&ns::c::operator> >(ns::c)", "k"},
        {"void k<&ns::c::operator->>(ns::c)", "k"},
        {"void k<{lambda(int)#1}>({lambda(int)#1})", "k"},
        {"foo::bar<int>::operator<<(std::ostream&, int)", "operator<<"},
        {"foo::operator<(foo const&) const", "operator<"},
        {"bool operator< <int>(v<int> const&, v<int> const&)", "operator<"},
        {"foo::operator()(int) const", "operator()"},
        {"void foo::operator()<int>(int) const", "operator()"},
        {"foo::operator[](int)", "operator[]"},
        {"foo::operator->() const", "operator->"},
        {"foo::operator+(int)", "operator+"},
        {"foo::operator int() const", "operator int"},
        {"operator_kernel(int)", "operator_kernel"},
        {"my_operator(int)", "my_operator"},
        {"foo::~foo()", "~foo"},
        {"main::{lambda(int)#1}::operator()(int) const", "operator()"},
        {"auto f(int) const::{lambda(auto:1)#1}::operator()<int>(int) const", "operator()"},
        {"f()::'lambda0'(int)::operator()(int) const", "operator()"},
        {"main::{lambda(int)#1}", "{lambda(int)#1}"},
        {"f[abi:cxx11]<int>(int)", "f"},
        {"foo(int) [clone .part.0]", "foo"},
        {"foo [clone .constprop.0]", "foo"},
        {"fünf<int>(int)", "fünf"},
        /* what no demangler gives */
        {"", ""},
        {"<>", "<>"},
        {"foo<int(", "foo"},
        {"foo<int>>(int)", "foo"},
        {"foo((((", "foo"},
        {")))foo(int)", "foo"},
        {"'lambda", "'lambda"},
        {"operator", "operator"},
        {"operator<", "operator<"},
        {"a::", "a"},
        {"::", "::"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *plain = wmi_kernel_plain(cases[i].full);
        if (!plain || strcmp(plain, cases[i].plain) != 0)
            fail_msg("%s: '%s' is not '%s'", cases[i].full, plain ? plain : "", cases[i].plain);
        free(plain);
    }
}

static void deep_nesting_is_borne(void **state) {
    (void)state;
    enum { DEEP = 2000 };
    char full[3 * DEEP + 32] = "deep";
    for (size_t i = 0; i < DEEP; i++) strcat(full, "<a");
    for (size_t i = 0; i < DEEP; i++) strcat(full, ">");
    strcat(full, "(int)");
    char *plain = wmi_kernel_plain(full);
    assert_string_equal(plain, "deep");
    free(plain);
}

static void assert_names(wmi_kernel_name n, const char *binary, const char *full, const char *plain) {
    assert_string_equal(wmi_intern_name(n.binary), binary);
    assert_string_equal(wmi_intern_name(n.full), full);
    assert_string_equal(wmi_intern_name(n.plain), plain);
}

static void binary_names_are_demangled(void **state) {
    (void)state;
    assert_names(wmi_kernel_name_of("_Z5saxpyifPKfPf"), "_Z5saxpyifPKfPf",
                 "saxpy(int, float, float const*, float*)", "saxpy");
    assert_names(wmi_kernel_name_of("_ZN2ns5scaleIfLi4EEEvPT_i"), "_ZN2ns5scaleIfLi4EEEvPT_i",
                 "void ns::scale<float, 4>(float*, int)", "scale");
    assert_names(wmi_kernel_name_of("triton_poi_fused_add-0"), "triton_poi_fused_add-0",
                 "triton_poi_fused_add-0", "triton_poi_fused_add-0");
    assert_names(wmi_kernel_name_of("_Znonsense"), "_Znonsense", "_Znonsense", "_Znonsense");
    assert_int_equal(wmi_kernel_name_of(NULL).binary, 0);
}

/* The memory of a module that was unloaded holds another's name later. */
static void a_pointer_that_names_something_else_is_noticed(void **state) {
    (void)state;
    char text[] = "_Z5firstv";
    const wmi_kernel_name first = wmi_kernel_name_of(text);
    assert_names(first, "_Z5firstv", "first()", "first");
    assert_int_equal(wmi_kernel_name_of(text).full, first.full);
    strcpy(text, "_Z5otherv");
    assert_names(wmi_kernel_name_of(text), "_Z5otherv", "other()", "other");
    strcpy(text, "_Z5firstv");
    assert_int_equal(wmi_kernel_name_of(text).plain, first.plain);
}

enum { THREADS = 4, NAMES = 300 };

static void *look_all_up(void *out) {
    uint32_t *plain = out;
    for (unsigned i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "_Z4k%03uv", i);
        plain[i] = wmi_kernel_name_of(name).plain;
    }
    return NULL;
}

static void threads_get_the_same_names(void **state) {
    (void)state;
    static uint32_t plain[THREADS][NAMES];
    pthread_t threads[THREADS];
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, look_all_up, plain[t]), 0);
    for (size_t t = 0; t < THREADS; t++) assert_int_equal(pthread_join(threads[t], NULL), 0);
    for (size_t i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "k%03zu", i);
        for (size_t t = 0; t < THREADS; t++) assert_string_equal(wmi_intern_name(plain[t][i]), name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_name_is_the_function_own),
        cmocka_unit_test(deep_nesting_is_borne),
        cmocka_unit_test(binary_names_are_demangled),
        cmocka_unit_test(a_pointer_that_names_something_else_is_noticed),
        cmocka_unit_test(threads_get_the_same_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/option_table.h"

/* Parse a text over what *o holds; the words are split as a benchmark's text is. */
static wm_status parse(wmi_options *o, const char *text, bool program, const char *where, wm_error *err) {
    char **words = NULL;
    size_t n = 0;
    assert_int_equal(wmi_words_split(text, &words, &n, NULL), WM_OK);
    wm_status s = wmi_options_parse(o, (int)n, (const char *const *)words, program, where, err);
    free(words);
    return s;
}

static void add(wmi_options *o, const char *text) {
    wm_error err = WM_ERROR_INIT;
    if (parse(o, text, true, NULL, &err) != WM_OK) fail_msg("%s", err.message);
}

static wmi_options options(const char *text) {
    wmi_options o;
    wmi_options_init(&o);
    add(&o, text);
    return o;
}

static void assert_list(const wmi_list *l, const char *joined) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, "");
    for (size_t i = 0; i < l->n; i++) wmi_buf_printf(&text, "%s%s", i ? " | " : "", l->v[i]);
    assert_string_equal(text.data, joined);
    wmi_buf_free(&text);
}

static void nothing_is_given_at_first(void **state) {
    (void)state;
    wmi_options o = options("");
    assert_int_equal(o.runs, -1);
    assert_int_equal(o.warmup, -1);
    assert_int_equal(o.min_runs, 0);
    assert_int_equal(o.max_runs, 0);
    assert_int_equal(o.min_time_ns, 0);
    assert_int_equal(o.timeout_ns, 0);
    assert_int_equal(o.batch_time_ns, 0);
    assert_true(o.max_noise == 0 && o.target_ci == 0 && o.stable_threshold == 0);
    assert_int_equal(o.pin, -1);
    assert_int_equal(o.cache_clear, -1);
    assert_int_equal(o.order, WMI_ORDER_SEQUENTIAL);
    assert_false(o.order_given || o.seed_given);
    assert_null(o.zip);
    assert_null(o.filter);
    assert_null(o.format);
    assert_int_equal(o.axes.n + o.configs.n + o.metrics.n + o.derive.n + o.out.n + o.thread_count, 0);
    assert_int_equal(o.scope + o.replay + o.counter_runs, 0);
    assert_int_equal(o.ignore_kernels.n + o.combine.n, 0);
    assert_null(o.kernels_path);
    assert_true(o.hang_ns == INT64_C(10000000000));
    assert_int_equal(wmi_options_check(&o, NULL), WM_OK);
    wmi_options_fini(&o);
}

static void every_option_is_read(void **state) {
    (void)state;
    wmi_options o = options(
        "-a n=[1,2] --axis=m=3 --config k=1 --zip n,m --filter '^f/.*n=1' --min-runs 2 --max-runs=30 "
        "--warmup 0 "
        "--min-time 1.5s --timeout 2min --batch-time 250us --max-noise 2% --target-ci 0.01 --stable 5% "
        "-m 'time, group:cache,time' --derive 'r=time/n [ns]' --normalize-against base --order random --seed "
        "42 "
        "--threads 1,2,4 --pin 0 --cache-control all");
    assert_list(&o.axes, "n=[1,2] | m=3");
    assert_list(&o.configs, "k=1");
    assert_string_equal(o.zip, "n,m");
    assert_string_equal(o.filter, "^f/.*n=1");
    assert_int_equal(o.min_runs, 2);
    assert_int_equal(o.max_runs, 30);
    assert_int_equal(o.warmup, 0);
    assert_true(o.min_time_ns == INT64_C(1500000000));
    assert_true(o.timeout_ns == INT64_C(120000000000));
    assert_int_equal(o.batch_time_ns, 250000);
    assert_true(o.max_noise == 0.02 && o.target_ci == 0.01 && o.stable_threshold == 0.05);
    assert_list(&o.metrics, "time | group:cache");
    assert_list(&o.derive, "r=time/n [ns]");
    assert_string_equal(o.normalize, "base");
    assert_int_equal(o.order, WMI_ORDER_RANDOM);
    assert_true(o.order_given && o.seed_given);
    assert_int_equal(o.seed, 42);
    assert_int_equal(o.thread_count, 3);
    assert_int_equal(o.threads[0], 1);
    assert_int_equal(o.threads[2], 4);
    assert_int_equal(o.pin, 0);
    assert_int_equal(o.cache_clear, 1);
    assert_int_equal(wmi_options_check(&o, NULL), WM_OK);
    wmi_options_fini(&o);

    o = options(
        "-b f -bg --format json -o a.csv --out=b.json -ob.md --samples s.csv --color never -vv --runs 5 "
        "--cache-control none --order interleaved --kernels k.csv --");
    assert_list(&o.benchmarks, "f | g");
    assert_string_equal(o.format, "json");
    assert_list(&o.out, "a.csv | b.json | b.md");
    assert_string_equal(o.samples_path, "s.csv");
    assert_string_equal(o.kernels_path, "k.csv");
    assert_int_equal(o.color, 2);
    assert_int_equal(o.verbosity, 2);
    assert_int_equal(o.runs, 5);
    assert_int_equal(o.cache_clear, 0);
    assert_int_equal(o.order, WMI_ORDER_INTERLEAVED);
    wmi_options_fini(&o);

    o = options("--list --help-axes --list-metrics --dry-run --profile -h --version -vq --threads [1:3] "
                "--color auto");
    assert_true(o.list && o.help_axes && o.list_metrics && o.dry_run && o.profile && o.help && o.version);
    assert_int_equal(o.verbosity, -1);
    assert_int_equal(o.thread_count, 3);
    assert_int_equal(o.threads[2], 3);
    wmi_options_fini(&o);
}

static void options_of_devices_are_read(void **state) {
    (void)state;
    wmi_options o = options("--scope thread --replay range --counter-runs 3 --hang-time 500ms "
                            "--ignore-kernels 'fill*, warm_up,fill*' --combine 'max, a.sum=one,max'");
    assert_int_equal(o.scope, 1);
    assert_int_equal(o.replay, 4);
    assert_int_equal(o.counter_runs, 3);
    assert_true(o.hang_ns == INT64_C(500000000));
    assert_list(&o.ignore_kernels, "fill* | warm_up");
    assert_list(&o.combine, "max | a.sum=one | max");
    add(&o, "--scope process --replay stacked --ignore-kernels x --combine auto");
    assert_int_equal(o.scope, 0);
    assert_int_equal(o.replay, 1);
    assert_int_equal(o.counter_runs, 3);
    assert_true(o.hang_ns == INT64_C(500000000)); /* only what is given is changed */
    assert_list(&o.ignore_kernels, "x");
    assert_list(&o.combine, "auto");
    add(&o, "--replay window");
    assert_int_equal(o.replay, 2);
    add(&o, "--replay kernel");
    assert_int_equal(o.replay, 3);
    add(&o, "--replay auto");
    assert_int_equal(o.replay, 0);
    wmi_options_fini(&o);
}

static void the_way_to_combine_is_found(void **state) {
    (void)state;
    wmi_options o = options("--combine sum,a=max,b=auto,mean,a=one,ab=min,c=weighted,d=sum");
    wmi_combine how = WMI_COMBINE_USER;
    assert_true(wmi_combine_find(&o.combine, "a", WMI_COMBINE_MIN, &how));
    assert_int_equal(how, WMI_COMBINE_ONE); /* the later one */
    assert_true(wmi_combine_find(&o.combine, "ab", WMI_COMBINE_MAX, &how));
    assert_int_equal(how, WMI_COMBINE_MIN);
    assert_true(wmi_combine_find(&o.combine, "b", WMI_COMBINE_WEIGHTED, &how));
    assert_int_equal(how, WMI_COMBINE_WEIGHTED); /* its usual way */
    assert_true(wmi_combine_find(&o.combine, "c", WMI_COMBINE_MAX, &how));
    assert_int_equal(how, WMI_COMBINE_WEIGHTED);
    assert_true(wmi_combine_find(&o.combine, "d", WMI_COMBINE_MAX, &how));
    assert_int_equal(how, WMI_COMBINE_SUM);
    assert_true(wmi_combine_find(&o.combine, "other", WMI_COMBINE_MAX, &how));
    assert_int_equal(how, WMI_COMBINE_MEAN);
    wmi_options_fini(&o);

    o = options("--combine a=max");
    how = WMI_COMBINE_USER;
    assert_false(wmi_combine_find(&o.combine, "other", WMI_COMBINE_MIN, &how));
    assert_int_equal(how, WMI_COMBINE_USER);
    assert_true(wmi_combine_find(&o.combine, "a", WMI_COMBINE_MIN, &how));
    assert_int_equal(how, WMI_COMBINE_MAX);
    wmi_options_fini(&o);

    o = options("--combine auto");
    assert_true(wmi_combine_find(&o.combine, "x", WMI_COMBINE_MIN, &how));
    assert_int_equal(how, WMI_COMBINE_MIN);
    wmi_options_fini(&o);
}

static void a_wrong_option_is_refused(void **state) {
    (void)state;
    static const char *const threads =
        "--threads takes whole numbers from 1 to 1024, each once: 4, 1,2,4 or [1:8], not ";
    static const char *const time =
        "takes a length of time above 0, such as 500ms, 2s or 1min (a bare number is in seconds), not ";
    static const char *const combine =
        "--combine takes HOW or METRIC=HOW, separated by commas, where HOW is auto, sum, mean, weighted, "
        "max, min or one, ";
    static const struct {
        const char *text, *message, *tail;
    } cases[] = {
        {"--runs x", "--runs takes a whole number of at least 1, not 'x'", ""},
        {"--runs 0", "--runs takes a whole number of at least 1, not '0'", ""},
        {"--runs=", "--runs takes a whole number of at least 1, not ''", ""},
        {"--runs 1.5", "--runs takes a whole number of at least 1, not '1.5'", ""},
        {"--runs 1000000001", "--runs takes a whole number of at most 1000000000, not '1000000001'", ""},
        {"--runs 99999999999999999999",
         "--runs takes a whole number of at most 1000000000, not '99999999999999999999'", ""},
        {"--runs -99999999999999999999",
         "--runs takes a whole number of at least 1, not '-99999999999999999999'", ""},
        {"--runs", "--runs takes a whole number of at least 1, and nothing follows it", ""},
        {"--warmup -1", "--warmup takes a whole number of at least 0, not '-1'", ""},
        {"--pin 65536", "--pin takes a whole number of at most 65535, not '65536'", ""},
        {"--order random --seed -1", "--seed takes a whole number of at least 0, not '-1'", ""},
        {"--min-time 0", "--min-time ", time},
        {"--timeout 5parsecs", "--timeout ", time},
        {"--timeout -1s", "--timeout ", time},
        {"--max-noise 2", "--max-noise takes a ratio above 0 and at most 1, such as 2% or 0.02, not '2'", ""},
        {"--target-ci 0%", "--target-ci takes a ratio above 0 and at most 1, such as 2% or 0.02, not '0%'",
         ""},
        {"--stable %", "--stable takes a ratio above 0 and at most 1, such as 2% or 0.02, not '%'", ""},
        {"--stable nan", "--stable takes a ratio above 0 and at most 1, such as 2% or 0.02, not 'nan'", ""},
        {"--order rnd", "--order takes sequential, interleaved or random, not 'rnd'", ""},
        {"--order seq", "--order takes sequential, interleaved or random, not 'seq'", ""},
        {"--cache-control cold", "--cache-control takes none or all, not 'cold'", ""},
        {"--color yes", "--color takes auto, always or never, not 'yes'", ""},
        {"--scope cuda", "--scope takes process or thread, not 'cuda'", ""},
        {"--replay all", "--replay takes auto, stacked, window, kernel or range, not 'all'", ""},
        {"--counter-runs 0", "--counter-runs takes a whole number of at least 1, not '0'", ""},
        {"--hang-time 0", "--hang-time ", time},
        {"--ignore-kernels a,",
         "--ignore-kernels takes names or shell patterns, separated by commas, not 'a,'", ""},
        {"--ignore-kernels ''", "--ignore-kernels takes names or shell patterns, separated by commas, not ''",
         ""},
        {"--combine median", combine, "not 'median'"},
        {"--combine ''", combine, "not ''"},
        {"--combine a=", combine, "not 'a='"},
        {"--combine =max", combine, "not '=max'"},
        {"--combine a=b=max", combine, "not 'a=b=max'"},
        {"--combine max,,sum", combine, "not 'max,,sum'"},
        {"--combine", combine, "and nothing follows it"},
        {"--kernels ''", "--kernels takes a value (FILE), not an empty one", ""},
        {"--format xml", "--format takes text, csv, json, gbench-json or markdown, not 'xml'", ""},
        {"--threads 0", threads, "'0'"},
        {"--threads 1025", threads, "'1025'"},
        {"--threads 1,1", threads, "'1,1'"},
        {"--threads x", threads, "'x'"},
        {"--threads ''", threads, "''"},
        {"-m a,,b", "--metrics takes names and group:NAME, separated by commas, not 'a,,b'", ""},
        {"-m ''", "--metrics takes names and group:NAME, separated by commas, not ''", ""},
        {"-m group:", "--metrics takes names and group:NAME, separated by commas, not 'group:'", ""},
        {"-o ''", "--out takes a value (FILE), not an empty one", ""},
        {"--samples=", "--samples takes a value (FILE), not an empty one", ""},
        {"-b", "--benchmark takes a value (NAME), and nothing follows it", ""},
        {"-vb", "--benchmark takes a value (NAME), and nothing follows it", ""},
        {"--list=yes", "--list takes no value, not 'yes'", ""},
        {"-a n=[1", "axis 'n=[1': the list is never closed with ']'", ""},
        {"--config n", "configuration 'n': name=value is expected", ""},
        {"--derive x=1+", "formula 'x=1+', character 5: a value is missing", ""},
        {"--rnus 5", "there is no option --rnus; the nearest is --runs", ""},
        {"--run 5", "there is no option --run; the nearest is --runs", ""},
        {"--=5", "there is no option --; --help lists them all", ""},
        {"--zzzzzzzz", "there is no option --zzzzzzzz; --help lists them all", ""},
        {"-x", "there is no option -x; --help lists them all", ""},
        {"-v\xc3\xa9", "there is no option -\xc3\xa9; --help lists them all", ""},
        {"file", "only options are taken, and 'file' is none", ""},
        {"-", "only options are taken, and '-' is none", ""},
        {"-- --list", "only options are taken, and '--list' is none", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_options o;
        wmi_options_init(&o);
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(parse(&o, cases[i].text, true, NULL, &err), WM_EINVAL);
        assert_int_equal(err.code, WM_EINVAL);
        size_t n = strlen(cases[i].message);
        if (strncmp(err.message, cases[i].message, n) != 0 ||
            strncmp(err.message + n, cases[i].tail, strlen(cases[i].tail)) != 0)
            fail_msg("%s: %s", cases[i].text, err.message);
        if (!*cases[i].tail) assert_string_equal(err.message, cases[i].message);
        assert_int_equal(parse(&o, cases[i].text, true, NULL, NULL), WM_EINVAL);
        wmi_options_fini(&o);
    }
}

static void a_failure_changes_nothing(void **state) {
    (void)state;
    wmi_options o = options("-a n=1 --runs 3 -m time --zip '' --threads 2");
    assert_int_equal(parse(&o, "-a n=2 -a m=2 --runs 4 -m cycles --threads 3 --warmup x", true, NULL, NULL),
                     WM_EINVAL);
    assert_list(&o.axes, "n=1");
    assert_list(&o.metrics, "time");
    assert_int_equal(o.runs, 3);
    assert_int_equal(o.threads[0], 2);
    wmi_options_fini(&o);
}

static void a_benchmark_text_holds_options_of_a_sweep_only(void **state) {
    (void)state;
    wmi_options o;
    wmi_options_init(&o);
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(parse(&o, "-a n=1 --runs 5", false, "benchmark f", &err), WM_OK);
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"--kernels x",
         "benchmark f: --kernels is an option of the program's command line, not of a benchmark"},
        {"--out x", "benchmark f: --out is an option of the program's command line, not of a benchmark"},
        {"-v", "benchmark f: --verbose is an option of the program's command line, not of a benchmark"},
        {"--runs x", "benchmark f: --runs takes a whole number of at least 1, not 'x'"},
        {"--lits", "benchmark f: there is no option --lits; --help lists them all"},
        {"-a n", "benchmark f: axis 'n': name=value is expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&o, cases[i].text, false, "benchmark f", &err), WM_EINVAL);
        assert_string_equal(err.message, cases[i].message);
    }
    wmi_options_fini(&o);
}

static void later_ones_win(void **state) {
    (void)state;
    wmi_options o = options(
        "--warmup 1 --warmup 2 -a n=1 -a m=1 -a 'n[pow2]=3' -m a -m b --derive a=1 --derive '`a` = 2' "
        "--color always --color auto -q -v");
    assert_int_equal(o.warmup, 2);
    assert_list(&o.axes, "n[pow2]=3 | m=1");
    assert_list(&o.metrics, "a | b");
    assert_list(&o.derive, "`a` = 2");
    assert_int_equal(o.color, 0);
    assert_int_equal(o.verbosity, 1);
    add(&o, "-a k=1 -a m=[5,6] -m c --derive b=1 --config n=1 --threads 3 --pin 1 --normalize-against x -o f "
            "-o g");
    assert_list(&o.axes, "n[pow2]=3 | m=[5,6] | k=1");
    assert_list(&o.metrics, "c");
    assert_list(&o.derive, "`a` = 2 | b=1");
    add(&o, "--config n=2 --threads 1,2 --normalize-against '' --filter '' -o h --warmup 7");
    assert_list(&o.configs, "n=1 | n=2");
    assert_list(&o.out, "h");
    assert_int_equal(o.thread_count, 2);
    assert_int_equal(o.pin, 1);
    assert_int_equal(o.warmup, 7);
    assert_null(o.normalize);
    assert_null(o.filter);
    wmi_options_fini(&o);
}

static void fixed_and_adaptive_runs_replace_one_another(void **state) {
    (void)state;
    wmi_options o =
        options("--min-runs 5 --max-runs 9 --min-time 1s --max-noise 2% --target-ci 1% --timeout 5s");
    add(&o, "--runs 3");
    assert_int_equal(o.runs, 3);
    assert_int_equal(o.min_runs + o.max_runs + o.min_time_ns, 0);
    assert_true(o.max_noise == 0 && o.target_ci == 0);
    assert_true(o.timeout_ns == INT64_C(5000000000));
    assert_int_equal(wmi_options_check(&o, NULL), WM_OK);
    add(&o, "--max-noise 3% --warmup 1");
    assert_int_equal(o.runs, -1);
    assert_true(o.max_noise == 0.03);
    add(&o, "--min-runs 7");
    assert_true(o.max_noise == 0.03);
    assert_int_equal(o.min_runs, 7);
    assert_int_equal(wmi_options_check(&o, NULL), WM_OK);
    wmi_options_fini(&o);
}

static void a_seed_goes_with_its_order(void **state) {
    (void)state;
    wmi_options o = options("--order random --seed 7");
    add(&o, "--order random");
    assert_true(o.seed_given);
    add(&o, "--order sequential");
    assert_false(o.seed_given);
    assert_int_equal(wmi_options_check(&o, NULL), WM_OK);
    wmi_options_fini(&o);
}

static void contradictions_are_found(void **state) {
    (void)state;
    static const char *const runs =
        "the number of runs is either fixed or found while running; give one of them";
    static const struct {
        const char *text, *message, *tail;
    } cases[] = {
        {"--runs 5 --max-noise 2%", "--runs and --max-noise: ", runs},
        {"--min-runs 5 --runs 5", "--runs and --min-runs: ", runs},
        {"--runs 5 --max-runs 5", "--runs and --max-runs: ", runs},
        {"--runs 5 --min-time 5", "--runs and --min-time: ", runs},
        {"--runs 5 --target-ci 5%", "--runs and --target-ci: ", runs},
        {"--min-runs 6 --max-runs 5", "--min-runs 6 is above --max-runs 5", ""},
        {"-a n=1 -a m=2 --zip n", "--zip 'n' takes two axes at least: names separated by commas, or *", ""},
        {"-a n=1 --zip '*'", "--zip '*' takes two axes at least: names separated by commas, or *", ""},
        {"--seed 3", "--seed has no meaning without --order random", ""},
        {"--list --profile", "--list and --profile: give one of them", ""},
        {"--dry-run --samples f", "--dry-run and --samples: nothing is measured, so there are no samples",
         ""},
        {"--profile --kernels f", "--profile and --kernels: nothing is measured, so there are no kernels",
         ""},
        {"--profile -o f", "--profile and --out: nothing is measured, so there is no table", ""},
        {"--profile --format csv", "--profile and --format: nothing is measured, so there is no table", ""},
        {"-o f -o g -o f", "--out 'f' is there twice", ""},
        {"-o f --samples f", "--out and --samples name the same file, 'f'", ""},
        {"-o f --kernels f", "--out and --kernels name the same file, 'f'", ""},
        {"--samples f --kernels f", "--samples and --kernels name the same file, 'f'", ""},
        {"--config n=1,m=2 --config m=2,n=1", "the configuration '", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_options o = options(cases[i].text);
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_options_check(&o, &err), WM_EINVAL);
        size_t n = strlen(cases[i].message);
        if (strncmp(err.message, cases[i].message, n) != 0 ||
            strncmp(err.message + n, cases[i].tail, strlen(cases[i].tail)) != 0)
            fail_msg("%s: %s", cases[i].text, err.message);
        wmi_options_fini(&o);
    }
    static const char *const fine[] = {"--min-runs 5 --max-runs 5",
                                       "-a n=1 --threads 2 --zip '*'",
                                       "-a n=1 -a m=2 --zip n,m",
                                       "--help --runs 1 --min-runs 2",
                                       "--dry-run -o f",
                                       "--config n=1 --config n=2"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        wmi_options o = options(fine[i]);
        assert_int_equal(wmi_options_check(&o, NULL), WM_OK);
        wmi_options_fini(&o);
    }
}

static void a_regex_is_compiled_and_bounded(void **state) {
    (void)state;
    static const char *const good[] = {"a{3}.*", "(a|b)+$", "\\{99999", "[0-9]{1,1000}", "x{30}y{30}", ""};
    static const char *const bad[] = {
        "(", "[a", "a{2,1}", "a{1001}", "((a{99}){99}){99}", "a{99999999999999999999}"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        wmi_options o;
        wmi_options_init(&o);
        const char *const argv[] = {"--filter", good[i]};
        assert_int_equal(wmi_options_parse(&o, 2, argv, true, NULL, NULL), WM_OK);
        wmi_options_fini(&o);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wmi_options o;
        wmi_options_init(&o);
        wm_error err = WM_ERROR_INIT;
        const char *const argv[] = {"--filter", bad[i]};
        assert_int_equal(wmi_options_parse(&o, 2, argv, true, NULL, &err), WM_EINVAL);
        assert_non_null(strstr(err.message, "--filter takes a"));
        wmi_options_fini(&o);
    }
}

static void the_table_is_whole(void **state) {
    (void)state;
    for (size_t i = 0; i < WMI_OPT_COUNT; i++) {
        const wmi_option *o = &wmi_option_table[i];
        assert_non_null(o->name);
        assert_non_null(o->help);
        assert_int_equal(o->arg == NULL, o->kind <= WMI_OPTION_VERBOSE);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(o->name, wmi_option_table[k].name);
            if (o->letter) assert_int_not_equal(o->letter, wmi_option_table[k].letter);
        }
    }
}

static void help_shows_every_option_in_80_columns(void **state) {
    (void)state;
    wmi_buf text = WMI_BUF_INIT;
    wmi_options_help(&text);
    assert_false(text.failed);
    for (size_t i = 0; i < WMI_OPT_COUNT; i++) {
        wmi_buf name = WMI_BUF_INIT;
        const wmi_option *o = &wmi_option_table[i];
        wmi_buf_printf(&name, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        const char *line = strstr(text.data, name.data);
        assert_non_null(line);
        size_t lines = 0;
        do lines++, line = strchr(line, '\n') + 1;
        while (strncmp(line, "          ", 10) == 0);
        assert_in_range(lines, 1, 2);
        wmi_buf_free(&name);
    }
    for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1) {
        size_t n = strcspn(line, "\n");
        assert_true(n <= 80);
        assert_true(n == 0 || line[n - 1] != ' ');
    }
    wmi_buf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_given_at_first),
        cmocka_unit_test(every_option_is_read),
        cmocka_unit_test(options_of_devices_are_read),
        cmocka_unit_test(the_way_to_combine_is_found),
        cmocka_unit_test(a_wrong_option_is_refused),
        cmocka_unit_test(a_failure_changes_nothing),
        cmocka_unit_test(a_benchmark_text_holds_options_of_a_sweep_only),
        cmocka_unit_test(later_ones_win),
        cmocka_unit_test(fixed_and_adaptive_runs_replace_one_another),
        cmocka_unit_test(a_seed_goes_with_its_order),
        cmocka_unit_test(contradictions_are_found),
        cmocka_unit_test(a_regex_is_compiled_and_bounded),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(help_shows_every_option_in_80_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

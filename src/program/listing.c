#include <stdlib.h>
#include <string.h>

#include "program/program.h"

void wmi_list_benchmarks(wmi_buf *out) {
    for (size_t i = 0; i < wmi_benchmark_count(); i++) {
        const wm_benchmark *b = wmi_benchmark_at(i);
        wmi_buf_str(out, b->name);
        if (b->options && *b->options) wmi_buf_printf(out, "  %s", b->options);
        wmi_buf_char(out, '\n');
    }
}

static void add_value(wmi_buf *out, wm_value v) {
    const char *name = "v";
    char *key = wmi_config_key(1, &name, &v);
    wmi_buf_str(out, key ? key + 2 : "?");
    free(key);
}

static wm_status axes_of(const wm_benchmark *b, wmi_buf *out, wm_error *err) {
    static const char *const type_names[] = {"", "int64", "double", "string", "bool"};
    wmi_options o;
    char **words = NULL;
    size_t count = 0;
    wmi_options_init(&o);
    wm_status status = b->options ? wmi_words_split(b->options, &words, &count, err) : WM_OK;
    if (status == WM_OK)
        status = wmi_options_parse(&o, (int)count, (const char *const *)words, false, b->name, err);
    wmi_buf_printf(out, "%s\n", b->name);
    if (status == WM_OK && o.axes.n == 0) wmi_buf_str(out, "  (no axis)\n");
    for (size_t i = 0; i < o.axes.n && status == WM_OK; i++) {
        wmi_axis axis;
        status = wmi_axis_parse(o.axes.v[i], &axis, err);
        if (status != WM_OK) break;
        wmi_buf_printf(out, "  %s (%s):", axis.name, type_names[axis.type]);
        for (size_t k = 0; k < axis.count; k++) {
            wmi_buf_char(out, ' ');
            add_value(out, axis.values[k]);
        }
        wmi_buf_char(out, '\n');
        wmi_axis_fini(&axis);
    }
    free(words);
    wmi_options_fini(&o);
    return status;
}

wm_status wmi_list_axes(wmi_buf *out, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < wmi_benchmark_count() && status == WM_OK; i++)
        status = axes_of(wmi_benchmark_at(i), out, err);
    if (status != WM_OK) return status;
    wmi_buf_str(out, "\n"
                     "An axis on the command line replaces the benchmark's own of that name:\n"
                     "  -a n=256              one value\n"
                     "  -a n=[256,512]        a list\n"
                     "  -a n=[0:100:20]       first:last:step, the last included\n"
                     "  -a n[pow2]=[10:20:2]  two to the power of each\n"
                     "  -a type=[f32,f64]     strings; quote those that hold , ] or blanks\n"
                     "Several axes are crossed; --zip a,b moves those together.\n"
                     "--config n=128,type=f32 adds one configuration.\n");
    return WM_OK;
}

void wmi_help(const char *program, wmi_buf *out) {
    wmi_buf_printf(out,
                   "usage: %s [options]\n\nMeasures the benchmarks in this program and prints a table.\n\n",
                   program);
    wmi_options_help(out);
    wmi_buf_str(out,
                "\nExit status: 0; 1 a configuration failed; 2 usage; 3 nothing was measured; 4 a result\n"
                "could not be written. See warpmeter-benchmark(1).\n");
}

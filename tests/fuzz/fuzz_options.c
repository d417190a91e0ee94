/* A benchmark's text, then the command line over it: the first line, then the rest. */
#include <stdlib.h>
#include <string.h>

#include "input/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static wm_status parse(wmi_options *o, const char *text, bool program) {
    char **words = NULL;
    size_t n = 0;
    wm_error err = WM_ERROR_INIT;
    wm_status s = wmi_words_split(text, &words, &n, &err);
    if (s == WM_OK)
        s = wmi_options_parse(o, (int)n, (const char *const *)words, program, program ? NULL : "benchmark f",
                              &err);
    if (s != WM_OK && !err.message[0]) abort();
    free(words);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = wmi_strndup((const char *)data, size);
    if (!text) abort();
    char *line_end = strchr(text, '\n');
    if (line_end) *line_end = '\0';
    wmi_options o;
    wmi_options_init(&o);
    parse(&o, text, false);
    if (line_end) parse(&o, line_end + 1, true);
    wm_error err = WM_ERROR_INIT;
    if (wmi_options_check(&o, &err) != WM_OK && !err.message[0]) abort();
    wmi_options_fini(&o);
    free(text);
    return 0;
}

/* Any text either is refused or splits into words that, each quoted, split into
 * themselves again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *quote_all(char *const *words, size_t count) {
    wmi_buf b = WMI_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        wmi_buf_char(&b, '\'');
        for (const char *c = words[i]; *c; c++) {
            if (*c == '\'')
                wmi_buf_str(&b, "'\\''");
            else
                wmi_buf_char(&b, *c);
        }
        wmi_buf_str(&b, "' ");
    }
    return wmi_buf_take(&b);
}

static void check_again(char *const *words, size_t count) {
    char **again;
    size_t found;
    char *quoted = quote_all(words, count);
    if (!quoted) return;
    if (wmi_words_split(quoted, &again, &found, NULL) != WM_OK || found != count) abort();
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], again[i]) != 0) abort();
    free(again);
    free(quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char **words;
    size_t count;
    char *text = wmi_strndup((const char *)data, size);
    if (text && wmi_words_split(text, &words, &count, NULL) == WM_OK) {
        if (words[count]) abort();
        check_again(words, count);
        free(words);
    }
    free(text);
    return 0;
}

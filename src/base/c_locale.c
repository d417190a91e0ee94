#include "base/c_locale.h"

#include <pthread.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Should newlocale fail, c_locale is 0, for which uselocale changes nothing. */
locale_t wmi_c_locale_enter(void) {
    pthread_once(&c_locale_once, make_c_locale);
    return uselocale(c_locale);
}

void wmi_c_locale_leave(locale_t previous) { uselocale(previous); }

/** The C locale for one thread at a time, so that printf and strtod write and
 *  read '.' whatever the program's locale is. */
#ifndef WMI_BASE_C_LOCALE_H
#define WMI_BASE_C_LOCALE_H

#include <locale.h>

/** Switch this thread to the C locale; hand the result to wmi_c_locale_leave.
 *  Calls may nest. */
locale_t wmi_c_locale_enter(void);
void wmi_c_locale_leave(locale_t previous);

#endif

#include "backend/cuda/nvidia_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/sysfs.h"

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build": the first word that
 * is a number with points. */
bool wmi_nvidia_version(const char *root, char *out, size_t cap) {
    char line[512], *rest = NULL;
    out[0] = '\0';
    if (!wmi_sys_line(root, line, sizeof line, "/proc/driver/nvidia/version")) return false;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (strspn(word, "0123456789.") != strlen(word) || !strchr(word, '.')) continue;
        snprintf(out, cap, "%s", word);
        return true;
    }
    return false;
}

bool wmi_nvidia_is_admin(const char *root) {
    enum { CAP_SYS_ADMIN_BIT = 21 };
    char status[4096], effective[32];
    return wmi_sys_text(root, status, sizeof status, "/proc/self/status") &&
           wmi_sys_field(status, "CapEff", ':', effective, sizeof effective) &&
           (strtoull(effective, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1);
}

wmi_counter_rights wmi_nvidia_counter_rights(const char *root) {
    char params[8192], restricted[16];
    if (!wmi_sys_text(root, params, sizeof params, "/proc/driver/nvidia/params") ||
        !wmi_sys_field(params, "RmProfilingAdminOnly", ':', restricted, sizeof restricted))
        return WMI_RIGHTS_UNKNOWN;
    if (strcmp(restricted, "0") == 0) return WMI_RIGHTS_ALL;
    return wmi_nvidia_is_admin(root) ? WMI_RIGHTS_ADMIN : WMI_RIGHTS_NONE;
}

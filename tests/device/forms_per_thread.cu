/* Compiled with --default-stream=per-thread. */
#define FORM(name) per_thread_##name
#include "launch_forms.h"

std::vector<Form> per_thread_forms() { return all_forms(); }

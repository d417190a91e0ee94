#define FORM(name) legacy_##name
#include "launch_forms.h"

std::vector<Form> legacy_forms() { return all_forms(); }

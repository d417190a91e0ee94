/* Ways to launch a kernel, each with a kernel of its own name. */
#ifndef TESTS_DEVICE_ATTRIBUTION_H
#define TESTS_DEVICE_ATTRIBUTION_H

#include <vector>

struct Form {
    const char *name; /* of the way, and of its region */
    const char *kernel;
    void (*launch)();
};

/* In the default stream of the process, and in that of each thread. */
std::vector<Form> legacy_forms();
std::vector<Form> per_thread_forms();

#endif

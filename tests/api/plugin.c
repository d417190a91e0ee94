/* A plug-in that measures, and with -DHOST the program that loads it in a thread, unloads it, and lets
 * the thread end after that. Exit status 0, or what went wrong. */
#include <stdio.h>

#include "warpmeter.h"

int measure_once(void);

#ifndef HOST

int measure_once(void) {
    wm_session *s = NULL;
    if (wm_session_create(NULL, &s, NULL) != WM_OK) return 2;
    int bad = wm_session_start(s, NULL) != WM_OK;
    WM_BEGIN("plug-in");
    WM_END("plug-in");
    bad |= wm_session_stop(s, NULL) != WM_OK;
    wm_session_destroy(s);
    return bad ? 3 : 0;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static const char *path;

static void *load(void *result) {
    int (*measure)(void) = NULL;
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return result;
    }
    void *symbol = dlsym(plugin, "measure_once");
    memcpy(&measure, &symbol, sizeof measure);
    *(int *)result = measure ? measure() : 4;
    dlclose(plugin);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 2) return 5;
    path = argv[1];
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        int result = 6;
        if (pthread_create(&thread, NULL, load, &result)) return 7;
        pthread_join(thread, NULL);
        if (result) return result;
    }
    return 0;
}

#endif

/* What a program takes from the device: memory, of which only the sizes exist, and modules. */
#include "fake_state.h"

#include <stdlib.h>

typedef struct allocation {
    CUdeviceptr address;
    size_t bytes;
    int device;
    struct allocation *next;
} allocation;

static allocation *allocations;
static CUdeviceptr next_address;
static size_t module_count;

void fakei_memory_reset_locked(void) {
    while (allocations) {
        allocation *next = allocations->next;
        free(allocations);
        allocations = next;
    }
    next_address = 0x700000000000;
    module_count = 0;
}

static size_t used_locked(int device) {
    size_t bytes = 0;
    for (allocation *a = allocations; a; a = a->next)
        if (device < 0 || a->device == device) bytes += a->bytes;
    return bytes;
}

bool fakei_memory_new(int device, size_t bytes, CUdeviceptr *address) {
    fakei_lock();
    size_t all = (size_t)fakei_gpu.v[device].memory_bytes, used = used_locked(device);
    bool fits = bytes > 0 && bytes <= all - used;
    if (fits) {
        allocation *a = fakei_calloc(1, sizeof *a);
        *a = (allocation){next_address, bytes, device, allocations};
        next_address += (bytes + 511) / 512 * 512;
        allocations = a;
        *address = a->address;
    }
    fakei_unlock();
    return fits;
}

bool fakei_memory_end(CUdeviceptr address) {
    fakei_lock();
    allocation **at = &allocations;
    while (*at && (*at)->address != address) at = &(*at)->next;
    allocation *a = *at;
    if (a) *at = a->next;
    fakei_unlock();
    free(a);
    return a != NULL;
}

size_t fake_memory(void) {
    fakei_lock();
    size_t bytes = used_locked(-1);
    fakei_unlock();
    return bytes;
}

CUmodule fakei_module_new(const char *image) {
    fakei_lock();
    CUmodule module = fakei_alloc(sizeof *module);
    module->image = fakei_intern(image);
    module_count++;
    fakei_unlock();
    return module;
}

bool fakei_module_end(CUmodule module) {
    fakei_lock();
    bool there = module && !module->gone;
    if (there) {
        module->gone = true;
        module_count--;
    }
    fakei_unlock();
    return there;
}

size_t fake_modules(void) {
    fakei_lock();
    size_t n = module_count;
    fakei_unlock();
    return n;
}

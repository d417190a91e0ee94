/** Allocations that fail on demand: the program is linked with --wrap for malloc and its kin. */
#ifndef TESTS_ALLOC_FAILING_H
#define TESTS_ALLOC_FAILING_H

#include <stdbool.h>

typedef enum failing_mode {
    FAILING_ONCE,   /**< the nth allocation fails */
    FAILING_ONWARDS /**< the nth and all after it fail */
} failing_mode;

/** From now on, allocation number n (from 1) fails, in any thread. */
void failing_arm(unsigned long n, failing_mode mode);
/** No more failures. Returns whether any allocation failed. */
bool failing_disarm(void);

#endif

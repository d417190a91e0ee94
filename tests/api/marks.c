/* Every kind of mark, as C and as C++. With WM_DISABLE nothing of it may be left. */
#include "warpmeter.h"

#ifdef __cplusplus
extern "C"
#endif
    int
    marked(int x);

int marked(int x) {
    WM_SCOPE("scope");
    WM_BEGIN("region");
    x += 1;
    WM_END("region");
    {
        WM_SCOPE("inner");
        x += 1;
    }
    WM_KEEP(x);
    wm_keep(&x);
    return x;
}

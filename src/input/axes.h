/** Axes and the configurations they span. */
#ifndef WMI_INPUT_AXES_H
#define WMI_INPUT_AXES_H

#include "base/text.h"

/** One axis: a name and typed values, all of one type. */
typedef struct wmi_axis {
    char *name;
    wm_type type;
    size_t count;
    wm_value *values; /* strings owned */
} wmi_axis;

/** Parse NVBench's spelling:
 *      n=256            one value           n=[256,512]    a list
 *      n=[0:100:20]     first:last:step, the last included when hit (step 1 if left out)
 *      n[pow2]=[10:20:2]  2 to the power of each (whole numbers 0..62)
 *      type=[f32,f64]   strings; quote those with , [ ] or blanks: ["a b",'c']
 *  A name begins with a letter or _ and goes on with those, digits, . and -. In "..."
 *  the escapes of JSON hold, in '...' none; what is quoted is a string.
 *  The type is the narrowest that holds all values: int64, double, bool
 *  (true/false), else string; n[i64], n[f64], n[str], n[bool] forces it. A range never
 *  goes beyond last; one of doubles is stepped in decimal, so that [0:1:0.1] has 0.3
 *  and 1. At most 100,000 values, none twice.
 *  WM_EPARSE: the message quotes the axis and says what is wrong; WM_ENOMEM. */
wm_status wmi_axis_parse(const char *text, wmi_axis *out, wm_error *err);
void wmi_axis_fini(wmi_axis *axis);

/** Parse an explicit configuration: n=128,type=f32 (values typed as above), or the key
 *  of one as wmi_config_key writes it; its names may be in "...".
 *  Names and values as axes of one value each; the caller frees each and the
 *  array. A name that is there twice is refused. */
wm_status wmi_config_parse(const char *text, wmi_axis **out, size_t *count, wm_error *err);
/** Are the explicit configurations all different, in whatever order their names
 *  stand? WM_EINVAL names one that is there twice. */
wm_status wmi_configs_distinct(char *const *texts, size_t count, wm_error *err);

/** The configurations that axes span: crossed, the last axis fastest, but those
 *  named in `zip` (comma list; "*": all; NULL: none) move together, at the place of
 *  the first of them, and must have equal lengths. For each configuration, index[i] is
 *  the value's number on axis i. *indices: [*count * axis_count], the caller frees.
 *  WM_EINVAL for unequal lengths, unknown names, an axis that is there twice, or more
 *  than 10,000,000 configurations. */
wm_status wmi_axes_expand(const wmi_axis *axes, size_t axis_count, const char *zip, size_t **indices,
                          size_t *count, wm_error *err);

#endif

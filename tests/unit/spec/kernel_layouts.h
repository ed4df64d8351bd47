/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NICLAB_KERNEL_LAYOUTS_H
#define NICLAB_KERNEL_LAYOUTS_H

#ifdef __cplusplus
extern "C" {
#endif

struct kernel_field {
    unsigned bit;   /* distance from the start of the structure */
    unsigned width; /* bits; 0 where only the place counts */
};
extern const struct kernel_field kernel_fields[]; /* in the order of kernel_rows.inc */
extern const unsigned kernel_field_count;

#ifdef __cplusplus
}
#endif

#endif

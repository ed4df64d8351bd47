/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own description of the layouts: in mlx5_ifc.h a member's array length is its width in bits. It
 * is C, not C++. */
#include "kernel_layouts.h"

#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u16 __be16;
typedef u32 __be32;
typedef u64 __be64;
/* A list at the end of a union, which C allows only inside a structure that has another member. */
#define DECLARE_FLEX_ARRAY(type, name)                                                                       \
    struct {                                                                                                 \
        struct {                                                                                             \
        } no_##name;                                                                                         \
        type name[];                                                                                         \
    }
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <mlx5_ifc.h>
#pragma GCC diagnostic pop

#define IFC(structure) struct mlx5_ifc_##structure##_bits
#define WIDTH(structure, member) sizeof(((IFC(structure) *)0)->member)

#define AS(layout, ours, structure, theirs) {offsetof(IFC(structure), theirs), WIDTH(structure, theirs)},
#define SAME(layout, structure, name) AS(layout, name, structure, name)
#define INSIDE(layout, name, structure, member, nested)                                                      \
    {offsetof(IFC(structure), member) + offsetof(IFC(nested), name), WIDTH(nested, name)},
#define PLACE(ours, structure, member) {offsetof(IFC(structure), member), 0},
#define SIZE(layout, structure) {0, sizeof(IFC(structure))},

const struct kernel_field kernel_fields[] = {
#include "kernel_rows.inc"
};
const unsigned kernel_field_count = sizeof(kernel_fields) / sizeof(kernel_fields[0]);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "prism_cas.h"

bool prism_cas_holds(const struct prism_cas *cas, const u8 *target)
{
	u32 i = cas->size;

	/* From the most significant word down: the first difference decides. */
	while (i) {
		u64 mask, a, b;

		i -= 8;
		mask = get_unaligned_le64(cas->compare_mask + i);
		a = get_unaligned_le64(cas->compare + i) & mask;
		b = get_unaligned_le64(target + i) & mask;
		if (a != b)
			return cas->mode == PRISM_CAS_GT ? a > b : cas->mode == PRISM_CAS_LT && a < b;
	}
	return cas->mode == PRISM_CAS_EQ;
}

void prism_cas_swap(const struct prism_cas *cas, u8 *target)
{
	u32 i;

	for (i = 0; i < cas->size; i += 8) {
		const u64 mask = get_unaligned_le64(cas->swap_mask + i);
		const u64 old = get_unaligned_le64(target + i);

		put_unaligned_le64((old & ~mask) | (get_unaligned_le64(cas->swap + i) & mask), target + i);
	}
}

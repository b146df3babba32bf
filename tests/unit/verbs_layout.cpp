/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The mark of queue pairs with builders, as releases of libibverbs look for it behind more or fewer builders. */
#include <cstring>

#include <gtest/gtest.h>

#include "verbs_layout.hpp"

namespace
{

using namespace prism;

/** ibv_qp_to_qp_ex() of a release whose ibv_qp_ex ends @p words after that of these headers. */
template <int words>
ibv_qp_ex *release(ibv_qp *qp)
{
	std::uint32_t comp_mask;
	const auto *bytes = reinterpret_cast<const std::byte *>(qp);
	std::memcpy(
		&comp_mask, bytes + sizeof(ibv_qp_ex) + words * static_cast<int>(sizeof(void *)), sizeof(comp_mask));
	return comp_mask & VERBS_QP_EX ? reinterpret_cast<ibv_qp_ex *>(qp) : nullptr;
}

ibv_qp_ex *always(ibv_qp *qp)
{
	return reinterpret_cast<ibv_qp_ex *>(qp);
}

ibv_qp_ex *never(ibv_qp *)
{
	return nullptr;
}

/** A wrapper: not the address that it was asked about. */
ibv_qp_ex *elsewhere(ibv_qp *qp)
{
	static ibv_qp_ex other;
	return release<0>(qp) ? &other : nullptr;
}

TEST(VerbsLayout, IsFoundInReleasesWithMoreOrFewerBuilders)
{
	constexpr std::size_t here = sizeof(ibv_qp_ex);
	EXPECT_EQ(find_comp_mask(release<-1>), here - sizeof(void *));
	EXPECT_EQ(find_comp_mask(release<0>), here);
	EXPECT_EQ(find_comp_mask(release<1>), here + sizeof(void *));
	EXPECT_EQ(find_comp_mask(release<6>), here + 6 * sizeof(void *));
}

TEST(VerbsLayout, IsNotGuessed)
{
	EXPECT_FALSE(find_comp_mask(always));
	EXPECT_FALSE(find_comp_mask(never));
	EXPECT_FALSE(find_comp_mask(elsewhere));
	EXPECT_FALSE(find_comp_mask(release<7>)) << "outside of what this provider allocates";
}

TEST(VerbsLayout, LoadedLibraryIsKnown)
{
	ASSERT_TRUE(can_mark_extended());
	verbs_qp qp{};
	EXPECT_EQ(ibv_qp_to_qp_ex(&qp.qp), nullptr);
	mark_extended(qp);
	EXPECT_EQ(ibv_qp_to_qp_ex(&qp.qp), &qp.qp_ex);
}

} // namespace

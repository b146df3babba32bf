/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Differences between releases of libibverbs: the offset of the mark of queue pairs with builders, behind more or fewer
 * of them, and the table of a context's operations.
 */
#include <cstring>

#include <gtest/gtest.h>

#include "verbs/operations.hpp"
#include "verbs/qp_mark.hpp"
#include "verbs/real_verbs.hpp"

namespace
{

using namespace prism;

/** Acts as ibv_qp_to_qp_ex() of a release whose ibv_qp_ex ends @p words after that of these headers. */
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

/** Acts as a wrapper: returns another address than it was asked about. */
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

/* Operations ---------------------------------------------------------------------------------------------------- */

void *loaded(const char *function)
{
	return real_verbs::find(function);
}

std::string complaint_about(OperationTable::Lookup lookup)
{
	std::string why;
	OperationTable(lookup, why);
	return why;
}

/** Looks up @p function in the loaded library, but returns @p put for @p name. */
template <const char *name, auto put>
void *with(const char *function)
{
	return std::string_view(function) == name ? reinterpret_cast<void *>(+put) : loaded(function);
}

constexpr char open_device[] = "ibv_open_device", alloc_pd[] = "ibv_alloc_pd", modify_qp[] = "ibv_modify_qp",
	       newer[] = "ibv_alloc_dmah";

/** A device that consists of operations only, as libibverbs's own functions see it. */
class Device : public testing::Test
{
protected:
	Device()
	{
		std::string why;
		const OperationTable library(loaded, why);
		EXPECT_EQ(why, "");
		library.make(base_, table_);
		Operations operations{};
		operations.alloc_pd = [](ibv_context *) { return &domain_; };
		operations.dealloc_pd = [](ibv_pd *pd) { return pd == &domain_ ? 42 : 0; };
		operations.query_device_ex = [](ibv_context *, const ibv_query_device_ex_input *,
						     ibv_device_attr_ex *attr, std::size_t) {
			attr->orig_attr.max_qp = 43;
			return 0;
		};
		library.set(base_, operations);
	}

	static inline ibv_pd domain_{};
	std::array<void *, OperationTable::newer_members> newer_members_{};
	verbs_context base_{};
	OperationTable::Table table_{};
	ibv_context *const context_ = &base_.context;
};

TEST_F(Device, IsAskedByFunctionsOfTheLibrary)
{
	ASSERT_EQ(ibv_alloc_pd(context_), &domain_);
	EXPECT_EQ(domain_.context, context_);
	EXPECT_EQ(ibv_dealloc_pd(&domain_), 42);
	ibv_device_attr attr{};
	ibv_device_attr_ex extended{};
	EXPECT_EQ(ibv_query_device(context_, &attr), 0);
	EXPECT_EQ(ibv_query_device_ex(context_, nullptr, &extended), 0);
	EXPECT_EQ(attr.max_qp, 43);
	EXPECT_EQ(extended.orig_attr.max_qp, 43);
}

TEST_F(Device, RefusesWhatItDoesNotHave)
{
	domain_.context = context_;
	ibv_qp qp{};
	qp.context = context_;
	ibv_ece ece{1, 0, 0};
	ibv_alloc_dm_attr memory{};
	errno = 0;
	EXPECT_EQ(ibv_import_pd(context_, 1), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	errno = 0;
	EXPECT_EQ(ibv_alloc_dm(context_, &memory), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(ibv_destroy_qp(&qp), EOPNOTSUPP);
	EXPECT_EQ(ibv_set_ece(&qp, &ece), EOPNOTSUPP);
	EXPECT_EQ(ibv_query_qp_data_in_order(&qp, IBV_WR_SEND, 0), 0);
}

/** An object that was created for one operation must not be opened, or answered, by another operation. */
TEST(Operations, AreNotGuessed)
{
	EXPECT_EQ(complaint_about(loaded), "");
	const auto nobody = [](void *, void *, void *) -> void * { return nullptr; };
	EXPECT_NE((complaint_about(with<open_device, nobody>)), "") << "opens nothing";
	EXPECT_NE((complaint_about(with<alloc_pd, nobody>)), "") << "asks for nothing";
	const auto another = [](ibv_qp *qp, ibv_qp_attr *, int) {
		return reinterpret_cast<decltype(&ibv_destroy_qp)>(loaded("ibv_destroy_qp"))(qp);
	};
	EXPECT_NE((complaint_about(with<modify_qp, another>)), "") << "asks for something else";
	EXPECT_EQ((complaint_about([](const char *function) {
		return std::string_view(function) == newer ? nullptr : loaded(function);
	})),
		"")
		<< "what only newer releases have may be missing";
	EXPECT_NE((complaint_about([](const char *function) {
		return std::string_view(function) == alloc_pd ? nullptr : loaded(function);
	})),
		"");
}

/** A newer release has more members at the start of its verbs_context. */
TEST(Operations, AreFoundWhereverTheLibrarysContextBegins)
{
	std::string why;
	const auto later = [](ibv_device *device) {
		auto *const opened = reinterpret_cast<std::byte *>(
			reinterpret_cast<decltype(&ibv_open_device)>(loaded("ibv_open_device"))(device));
		return reinterpret_cast<ibv_context *>(opened + 6 * sizeof(void *));
	};
	const OperationTable older(loaded, why), younger(with<open_device, later>, why);
	verbs_context context{};
	EXPECT_EQ(reinterpret_cast<std::byte *>(older.beginning_of(&context.context)) -
			  reinterpret_cast<std::byte *>(younger.beginning_of(&context.context)),
		6 * static_cast<std::ptrdiff_t>(sizeof(void *)));
}

} // namespace

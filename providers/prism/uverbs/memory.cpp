/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, memory regions and windows, address handles, all kept by the kernel. */
#include <cerrno>

#include "command.hpp"
#include "objects.hpp"
#include "responses.hpp"

namespace prism::uverbs
{

ibv_pd *alloc_pd(ibv_context *context)
{
	auto pd = std::make_unique<ibv_pd>();
	Command<ib_uverbs_alloc_pd> cmd;
	ib_uverbs_alloc_pd_resp resp{};
	const int error = ibv_cmd_alloc_pd(context, pd.get(), cmd, cmd.size, &resp, sizeof(resp));
	return error ? fail<ibv_pd>(error) : pd.release();
}

int dealloc_pd(ibv_pd *pd)
{
	if (const int error = ibv_cmd_dealloc_pd(pd))
		return error;
	std::unique_ptr<ibv_pd> owned(pd);
	return 0;
}

ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access)
{
	auto mr = std::make_unique<verbs_mr>();
	Command<ib_uverbs_reg_mr> cmd;
	ib_uverbs_reg_mr_resp resp{};
	const int error = ibv_cmd_reg_mr(pd, addr, length, iova, access, mr.get(), cmd, cmd.size, &resp, sizeof(resp));
	return error ? fail<ibv_mr>(error) : &mr.release()->ibv_mr;
}

int rereg_mr(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length, int access)
{
	Command<ib_uverbs_rereg_mr> cmd;
	ib_uverbs_rereg_mr_resp resp{};
	return ibv_cmd_rereg_mr(mr, static_cast<std::uint32_t>(flags), addr, length,
		reinterpret_cast<std::uintptr_t>(addr), access, pd, cmd, cmd.size, &resp, sizeof(resp));
}

int dereg_mr(verbs_mr *mr)
{
	if (const int error = ibv_cmd_dereg_mr(mr))
		return error;
	std::unique_ptr<verbs_mr> owned(mr);
	return 0;
}

ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type)
{
	auto mw = std::make_unique<ibv_mw>();
	Command<ib_uverbs_alloc_mw> cmd;
	ib_uverbs_alloc_mw_resp resp{};
	const int error = ibv_cmd_alloc_mw(pd, type, mw.get(), cmd, cmd.size, &resp, sizeof(resp));
	return error ? fail<ibv_mw>(error) : mw.release();
}

int dealloc_mw(ibv_mw *mw)
{
	if (const int error = ibv_cmd_dealloc_mw(mw))
		return error;
	std::unique_ptr<ibv_mw> owned(mw);
	return 0;
}

ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr)
{
	auto ah = std::make_unique<AddressHandle>();
	Response<ib_uverbs_create_ah_resp, prism_abi_create_ah_resp> resp;
	if (const int error = ibv_cmd_create_ah(pd, &ah->base, attr, resp, resp.size))
		return fail<ibv_ah>(error);
	if (!understood(resp.driver)) {
		ibv_cmd_destroy_ah(&ah->base);
		return fail<ibv_ah>(EPROTO);
	}
	ah->number = resp.driver.ah_num;
	return &ah.release()->base;
}

int destroy_ah(ibv_ah *ah)
{
	if (const int error = ibv_cmd_destroy_ah(ah))
		return error;
	std::unique_ptr<AddressHandle> owned(to_object<AddressHandle>(ah));
	return 0;
}

} // namespace prism::uverbs

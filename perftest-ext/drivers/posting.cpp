/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "drivers/posting.hpp"

#include <fmt/format.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::uint64_t completion_patience = 120'000'000'000;
constexpr std::uint64_t empty_list_patience = 10'000'000'000;

std::string_view advice_for(ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "the server does not answer: check that it still runs and that UDP port 4791 is open between "
		       "the "
		       "hosts";
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		return "the server's device refused the request: run the same version on both sides";
	case IBV_WC_WR_FLUSH_ERR:
		return "an earlier request of the same queue pair failed";
	default:
		return "see what the server printed";
	}
}

} // namespace

void PostList::refuse(int error, const ibv_send_wr *bad)
{
	throw system_error(fmt::format("the device refuses to post a work request (opcode {:#x})",
				   bad ? static_cast<unsigned>(bad->opcode) : 0),
		error, "reduce -s or -t, or ask for less with -I");
}

void CompletionPoller::check_patience()
{
	const std::uint64_t now = monotonic_ns();
	if (!silent_since_)
		silent_since_ = now;
	else if (now - silent_since_ > completion_patience)
		throw Error("no completion for two minutes; see what the server printed");
}

void CompletionPoller::fail(const ibv_wc &completion)
{
	throw Error(fmt::format("a work request failed: {} (vendor error {:#x}); {}",
		ibv_wc_status_str(completion.status), completion.vendor_err, advice_for(completion.status)));
}

void report_fault(const Contestant &contestant, std::uint32_t job, std::uint32_t status)
{
	throw Error(fmt::format(
		"wrong result (status {}): {}", prismdv_status_str(status), contestant.describe_fault(job)));
}

void EmptyListPatience::retry()
{
	const std::uint64_t now = monotonic_ns();
	count_++;
	if (!since_)
		since_ = now;
	else if (now - since_ > empty_list_patience)
		throw Error("the free list stays empty: the server does not repost buffers; see what it printed");
}

} // namespace prism::perftest

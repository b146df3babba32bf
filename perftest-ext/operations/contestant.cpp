/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "contestant.hpp"

#include <algorithm>

namespace prism::perftest
{

Contestant::Contestant(Client &measuring, std::uint32_t index, std::string name, std::string label,
	std::initializer_list<unsigned> requests_per_step)
	: client(measuring), place(index), short_name_(std::move(name)),
	  description_(std::move(label)), first_request_{0}
{
	for (const unsigned count : requests_per_step)
		first_request_.push_back(first_request_.back() + count);
}

unsigned Contestant::largest_step() const
{
	unsigned largest = 0;
	for (unsigned step = 0; step < steps(); step++)
		largest = std::max(largest, first_request_[step + 1] - first_request_[step]);
	return largest;
}

void Contestant::prepare(std::size_t size)
{
	const std::uint32_t jobs = client.layout().geometry().jobs();
	if (pool_.empty())
		remember(jobs);
	message_size_ = size;
	pool_.assign(std::size_t{jobs} * requests_per_job(), {});
	for (std::uint32_t job = 0; job < jobs; job++)
		build(job, {&pool_[std::size_t{job} * requests_per_job()], requests_per_job()});
}

std::uint64_t Contestant::cell(std::uint32_t job, std::size_t member) const
{
	return remote(client.layout().cell(place, job) + member);
}

std::uint64_t Contestant::scratch(std::uint32_t job) const
{
	const Layout &layout = client.layout();
	const std::uint32_t qp = job / layout.geometry().depth;
	return client.server().scratch + layout.scratch(place, qp) - layout.scratch(0, 0);
}

void Contestant::set_standard(Request &request, ibv_wr_opcode opcode, const void *local, std::size_t length,
	std::uint64_t remote_address) const
{
	request.sge = {reinterpret_cast<std::uint64_t>(local), static_cast<std::uint32_t>(length), client.lkey()};
	ibv_send_wr &wr = request.wr();
	wr.opcode = opcode;
	wr.sg_list = &request.sge;
	wr.num_sge = 1;
	wr.wr.rdma.remote_addr = remote_address;
	wr.wr.rdma.rkey = rkey();
}

void Contestant::set_atomic(
	Request &request, ibv_wr_opcode opcode, std::uint64_t *local, std::uint64_t remote_address) const
{
	set_standard(request, opcode, local, sizeof(*local), 0);
	request.wr().wr.atomic = {.remote_addr = remote_address, .compare_add = 0, .swap = 0, .rkey = rkey()};
}

void Contestant::set_prism(Request &request, prismdv_wr_opcode opcode, std::uint32_t flags, const void *local,
	std::size_t length, std::uint64_t remote_address) const
{
	set_standard(request, static_cast<ibv_wr_opcode>(opcode), local, length, remote_address);
	request.ext.flags = flags;
}

void Contestant::set_inline(Request &request) const
{
	if (request.sge.length <= client.parameters().inline_size)
		request.wr().send_flags |= IBV_SEND_INLINE;
}

} // namespace prism::perftest

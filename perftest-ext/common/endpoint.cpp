/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::chrono::seconds set_up_patience{30};
constexpr int all_access =
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

std::uint32_t random_psn()
{
	static std::random_device source;
	return source() & 0xffffff;
}

} // namespace

Endpoint::Endpoint(const Parameters &wanted, const sockaddr_storage &local, Progress progress)
	: parameters(wanted), context(open_device(wanted.device, local, progress)),
	  gid(choose_gid(context.get(), port(), wanted.gid_index, local)),
	  path_mtu(port_mtu(context.get(), port(), wanted.mtu))
{
	int error = ibv_query_device(context.get(), &device);
	if (error)
		throw system_error("cannot query the device", error);
	prism = query_prism_device(context.get());
	prismdv_capability record{};
	error = prismdv_query_capability(context.get(), &record);
	if (error)
		throw system_error("cannot query the device's PRISM capability", error);
	std::copy(std::begin(record.bytes), std::end(record.bytes), capability.begin());
	pd.reset(ibv_alloc_pd(context.get()));
	if (!pd)
		throw system_error("cannot allocate a protection domain", errno);
}

void Endpoint::create_qps(std::uint32_t count, std::uint32_t requests, std::uint32_t inline_size)
{
	const std::uint64_t entries = std::uint64_t{count} * requests;
	if (entries > static_cast<std::uint64_t>(device.max_cqe))
		throw Error(fmt::format(
			"{} requests in flight do not fit a completion queue of this device, which holds {}; "
			"reduce -t or -q",
			entries, device.max_cqe));
	cq.reset(ibv_create_cq(context.get(), static_cast<int>(entries), nullptr, nullptr, 0));
	if (!cq)
		throw system_error(fmt::format("cannot create a completion queue of {} entries", entries), errno);
	for (std::uint32_t i = 0; i < count; i++) {
		qps.push_back(create_qp(requests, inline_size));
		psns.push_back(random_psn());
		init_qp(qps.back().get(), port());
	}
}

QueuePair Endpoint::create_qp(std::uint32_t requests, std::uint32_t inline_size) const
{
	ibv_qp_init_attr_ex attributes{};
	attributes.qp_type = IBV_QPT_RC;
	attributes.send_cq = cq.get();
	attributes.recv_cq = cq.get();
	attributes.cap.max_send_wr = requests;
	attributes.cap.max_recv_wr = 1;
	attributes.cap.max_send_sge = 1;
	attributes.cap.max_recv_sge = 1;
	attributes.cap.max_inline_data = inline_size;
	attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
	attributes.pd = pd.get();
	QueuePair qp(prismdv_create_qp(context.get(), &attributes, nullptr));
	if (!qp)
		throw system_error(fmt::format("cannot create a queue pair of {} requests and {} bytes inline",
					   requests, inline_size),
			errno, "reduce -t or -I");
	return qp;
}

std::uint8_t Endpoint::responder_depth() const
{
	return static_cast<std::uint8_t>(std::clamp(device.max_qp_rd_atom, 1, 255));
}

Side Endpoint::describe() const
{
	Side side{.capability = capability,
		.gid = gid.gid,
		.mtu = path_mtu,
		.max_rd_atomic = responder_depth(),
		.qps = {}};
	for (std::size_t i = 0; i < qps.size(); i++)
		side.qps.push_back({qps[i]->qp_num, psns[i]});
	return side;
}

void Endpoint::connect(const Side &peer)
{
	path_mtu = std::min(path_mtu, peer.mtu);
	const int initiator = std::clamp(device.max_qp_init_rd_atom, 1, 255);
	const Path path{
		.port = port(),
		.gid_index = gid.index,
		.peer_gid = peer.gid,
		.mtu = path_mtu,
		.responder_depth = responder_depth(),
		.initiator_depth = std::min(static_cast<std::uint8_t>(initiator), peer.max_rd_atomic),
		.timeout = static_cast<std::uint8_t>(parameters.qp_timeout),
	};
	for (std::size_t i = 0; i < qps.size(); i++)
		connect_qp(qps[i].get(), psns[i], peer.qps[i], peer.capability, path);
}

Client::Client(const Parameters &wanted)
	: params(wanted), tcp(connect_to(wanted.host, wanted.port)),
	  end(wanted, tcp.local_address(), wanted.progress == Progress::unset ? Progress::in_line : wanted.progress)
{
}

void Client::start(const Geometry &plan, std::uint32_t requests_per_job)
{
	remote_layout = std::make_unique<Layout>(plan);
	allocate_memory(plan);
	end.create_qps(plan.qps, plan.depth * requests_per_job + 1, params.inline_size); /* 1: a driver's flush */
	tcp.send(encode(Hello{.tool = params.tool,
		.chain = params.chain,
		.cas_mode = params.cas_mode,
		.geometry = plan,
		.side = end.describe()}));
	const Frame answer = tcp.receive(set_up_patience);
	if (answer.type == FrameType::refusal)
		throw Error(fmt::format("the server refuses: {}", printable(answer.body)));
	const auto decoded = answer.type == FrameType::welcome ? decode_welcome(answer.body) : std::nullopt;
	if (!decoded || decoded->side.qps.size() != plan.qps)
		throw Error("the server's answer makes no sense; run the same version of the tool on both sides");
	welcome = *decoded;
	end.connect(welcome.side);
}

void Client::allocate_memory(const Geometry &plan)
{
	constexpr std::uint64_t most_local_memory = std::uint64_t{2} << 30;
	const std::uint64_t bytes = data_offset() + remote_layout->stride() * plan.jobs();
	if (bytes > most_local_memory)
		throw Error(fmt::format("messages in flight would take {} MiB; reduce -s, -t or -q", bytes >> 20));
	arena = std::make_unique<Arena>(bytes);
	region = register_memory(end.domain(), *arena, IBV_ACCESS_LOCAL_WRITE);
	for (std::uint32_t job = 0; job < plan.jobs(); job++)
		fill_with_stamp(data(job), remote_layout->stride(), object_stamp(job % plan.objects));
}

std::uint64_t Client::data_offset() const
{
	const Geometry &plan = remote_layout->geometry();
	return results_size * std::uint64_t{plan.contestants} * plan.jobs();
}

std::uint8_t *Client::results(std::uint32_t contestant, std::uint32_t job) const
{
	return arena->data() + results_size * (std::size_t{contestant} * remote_layout->geometry().jobs() + job);
}

std::uint8_t *Client::data(std::uint32_t job) const
{
	return arena->data() + data_offset() + remote_layout->stride() * job;
}

void Client::return_buffers(std::span<const std::uint64_t> addresses)
{
	tcp.send(encode_returned(addresses));
}

void Client::finish(const std::string &results)
{
	tcp.send(encode_finished(results.size() <= largest_frame ? results : "[]"));
}

Server::Server(const Parameters &wanted, TcpConnection client) : params(wanted), tcp(std::move(client)) {}

void Server::start()
{
	try {
		receive_hello();
		prepare();
	} catch (const Error &error) {
		tcp.send(encode_refusal(error.what()));
		throw;
	}
}

void Server::receive_hello()
{
	const Frame frame = tcp.receive(set_up_patience);
	const auto decoded = frame.type == FrameType::hello ? decode_hello(frame.body) : std::nullopt;
	if (!decoded)
		throw Error("the client's greeting makes no sense; run the same version of the tool on both sides");
	hello = *decoded;
	if (hello.tool.name() != params.tool.name())
		throw Error(fmt::format("the client is {} and the server {}; run the same tool on both sides",
			hello.tool.name(), params.tool.name()));
	const std::string problem = hello.geometry.problem();
	if (!problem.empty())
		throw Error(fmt::format("the client asks for {}, which is out of bounds", problem));
	const bool wants_list = hello.geometry.buffers > 0;
	if (wants_list != params.needs_free_list())
		throw Error("the client's geometry does not fit the operation");
}

void Server::prepare()
{
	end = std::make_unique<Endpoint>(
		params, tcp.local_address(), params.progress == Progress::unset ? Progress::thread : params.progress);
	layout = std::make_unique<Layout>(hello.geometry);
	arena = std::make_unique<Arena>(layout->size());
	region = register_memory(end->domain(), *arena, all_access);
	lay_out_memory();
	Welcome welcome{
		.base = address_of(0),
		.rkey = region->rkey,
		.scratch = address_of(layout->scratch(0, 0)),
		.scratch_rkey = region->rkey,
		.free_list = 0,
		.side = {},
	};
	if (params.scratch == Scratch::device) {
		create_scratch();
		welcome.scratch = 0; /* a region of device memory is addressed from 0 */
		welcome.scratch_rkey = scratch_region->rkey;
	}
	if (hello.geometry.buffers)
		create_free_list();
	welcome.free_list = free_list_number;
	end->create_qps(hello.geometry.qps, 1, 0);
	welcome.side = end->describe();
	end->connect(hello.side);
	tcp.send(encode(welcome));
}

std::uint64_t Server::address_of(std::uint64_t offset) const
{
	return reinterpret_cast<std::uint64_t>(arena->data()) + offset;
}

void Server::lay_out_memory()
{
	const Geometry &plan = hello.geometry;
	for (std::uint32_t i = 0; i < plan.objects; i++)
		fill_with_stamp(arena->data() + layout->object(i), layout->stride(), object_stamp(i));
	for (std::uint32_t contestant = 0; contestant < plan.contestants; contestant++)
		for (std::uint32_t job = 0; job < plan.jobs(); job++)
			fill_cell(contestant, job);
}

/* What each kind of job finds at its start; operations/ relies on this. */
void Server::fill_cell(std::uint32_t contestant, std::uint32_t job)
{
	const std::uint64_t offset = layout->cell(contestant, job);
	auto *cell = reinterpret_cast<Cell *>(arena->data() + offset);
	cell->bound = hello.geometry.largest_message;
	cell->pointer = address_of(layout->object(job));
	if (hello.tool.operation == Operation::cas) {
		cell->pointer = address_of(offset + offsetof(Cell, operand));
		cell->bound = sizeof(cell->operand);
		if (hello.cas_mode == CasMode::less) /* counts down: from the top */
			std::memset(cell->operand, 0xff, sizeof(std::uint64_t));
	}
	if (hello.tool.operation == Operation::chain)
		cell->pointer = address_of(layout->buffer(job));
}

void Server::create_scratch()
{
	const std::uint64_t size = layout->scratch_size();
	ibv_alloc_dm_attr attributes{};
	attributes.length = size;
	scratch.reset(ibv_alloc_dm(end->verbs(), &attributes));
	if (!scratch)
		throw system_error(fmt::format("cannot allocate {} bytes of device memory", size), errno,
			"run the server with --scratch=host");
	scratch_region.reset(ibv_reg_dm_mr(end->domain(), scratch.get(), 0, size, all_access | IBV_ACCESS_ZERO_BASED));
	if (!scratch_region)
		throw system_error("cannot register device memory", errno, "run the server with --scratch=host");
}

void Server::create_free_list()
{
	ibv_srq_init_attr_ex attributes{};
	attributes.attr.max_wr = hello.geometry.buffers;
	attributes.attr.max_sge = 1;
	attributes.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attributes.srq_type = IBV_SRQT_BASIC;
	attributes.pd = end->domain();
	prismdv_srq_init_attr prism{};
	prism.flags = PRISMDV_SRQ_FREE_LIST;
	free_list.reset(prismdv_create_srq(end->verbs(), &attributes, &prism));
	if (!free_list)
		throw system_error(fmt::format("cannot create a free list of {} buffers", hello.geometry.buffers),
			errno, "reduce -n, -t or -q");
	const int error = ibv_get_srq_num(free_list.get(), &free_list_number);
	if (error)
		throw system_error("cannot get the number of the free list", error);
	std::vector<std::uint64_t> addresses;
	for (std::uint32_t i = hello.geometry.jobs(); i < hello.geometry.buffers; i++)
		addresses.push_back(address_of(layout->buffer(i)));
	post_buffers(addresses);
}

void Server::post_buffers(std::span<const std::uint64_t> addresses)
{
	constexpr std::size_t batch = 64;
	std::array<ibv_recv_wr, batch> requests{};
	std::array<ibv_sge, batch> buffers{};
	while (!addresses.empty()) {
		const std::size_t count = std::min(batch, addresses.size());
		for (std::size_t i = 0; i < count; i++) {
			buffers[i] = {addresses[i], static_cast<std::uint32_t>(layout->stride()), region->lkey};
			requests[i] = {.wr_id = addresses[i], .next = nullptr, .sg_list = &buffers[i], .num_sge = 1};
			if (i)
				requests[i - 1].next = &requests[i];
		}
		ibv_recv_wr *bad = nullptr;
		const int error = ibv_post_srq_recv(free_list.get(), requests.data(), &bad);
		if (error)
			throw system_error("cannot post buffers to the free list", error);
		addresses = addresses.subspan(count);
	}
}

void Server::take_back(const Frame &frame)
{
	const auto addresses = decode_returned(frame.body);
	if (!addresses || !free_list)
		throw Error("the client returned something that is not a list of buffers");
	for (const std::uint64_t address : *addresses)
		if (!layout->is_buffer(address - address_of(0)))
			throw Error(fmt::format(
				"the client returned {:#x}, which is not a buffer of the free list", address));
	post_buffers(*addresses);
}

std::string Server::serve()
{
	std::function<void()> idle;
	if (params.progress == Progress::in_line)
		idle = [this] { prismdv_progress(end->verbs()); };
	for (;;) {
		const Frame frame = tcp.wait(idle);
		if (frame.type == FrameType::finished)
			return {frame.body.begin(), frame.body.end()};
		if (frame.type != FrameType::returned)
			throw Error("the client sent an unexpected message");
		take_back(frame);
	}
}

} // namespace prism::perftest

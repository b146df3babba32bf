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

constexpr int all_access =
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

std::uint32_t random_psn()
{
	static std::random_device source;
	return source() & 0xffffff;
}

} // namespace

Endpoint::Endpoint(const Parameters &wanted, const sockaddr_storage &local, Progress progress)
	: parameters_(wanted), context_(open_device(wanted.device, local, progress, wanted.carrier)),
	  gid_(choose_gid(context_.get(), port(), wanted.gid_index, local)),
	  path_mtu_(port_mtu(context_.get(), port(), wanted.mtu))
{
	int error = ibv_query_device(context_.get(), &device_);
	if (error)
		throw system_error("cannot query the device", error);
	prism_ = query_prism_device(context_.get());
	prismdv_capability record{};
	error = prismdv_query_capability(context_.get(), &record);
	if (error)
		throw system_error("cannot query the device's PRISM capability", error);
	std::copy(std::begin(record.bytes), std::end(record.bytes), capability_.begin());
	pd_.reset(ibv_alloc_pd(context_.get()));
	if (!pd_)
		throw system_error("cannot allocate a protection domain", errno);
}

void Endpoint::create_qps(std::uint32_t count, std::uint32_t requests, std::uint32_t inline_size)
{
	const std::uint64_t entries = std::uint64_t{count} * requests;
	if (entries > static_cast<std::uint64_t>(device_.max_cqe))
		throw Error(fmt::format(
			"{} requests in flight do not fit a completion queue of this device, which holds {}; "
			"reduce -t or -q",
			entries, device_.max_cqe));
	cq_.reset(ibv_create_cq(context_.get(), static_cast<int>(entries), nullptr, nullptr, 0));
	if (!cq_)
		throw system_error(fmt::format("cannot create a completion queue of {} entries", entries), errno);
	for (std::uint32_t i = 0; i < count; i++) {
		qps_.push_back(create_qp(requests, inline_size));
		psns_.push_back(random_psn());
		init_qp(qps_.back().get(), port());
	}
}

QueuePair Endpoint::create_qp(std::uint32_t requests, std::uint32_t inline_size) const
{
	ibv_qp_init_attr_ex attributes{};
	attributes.qp_type = IBV_QPT_RC;
	attributes.send_cq = cq_.get();
	attributes.recv_cq = cq_.get();
	attributes.cap.max_send_wr = requests;
	attributes.cap.max_recv_wr = 1;
	attributes.cap.max_send_sge = 1;
	attributes.cap.max_recv_sge = 1;
	attributes.cap.max_inline_data = inline_size;
	attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
	attributes.pd = pd_.get();
	QueuePair qp(prismdv_create_qp(context_.get(), &attributes, nullptr));
	if (!qp)
		throw system_error(fmt::format("cannot create a queue pair of {} requests and {} bytes inline",
					   requests, inline_size),
			errno, "reduce -t or -I");
	return qp;
}

std::uint8_t Endpoint::responder_depth() const
{
	return static_cast<std::uint8_t>(std::clamp(device_.max_qp_rd_atom, 1, 255));
}

Side Endpoint::describe() const
{
	Side side{.capability = capability_,
		.gid = gid_.gid,
		.mtu = path_mtu_,
		.max_rd_atomic = responder_depth(),
		.qps = {}};
	for (std::size_t i = 0; i < qps_.size(); i++)
		side.qps.push_back({qps_[i]->qp_num, psns_[i]});
	return side;
}

void Endpoint::connect(const Side &peer)
{
	path_mtu_ = std::min(path_mtu_, peer.mtu);
	const int initiator = std::clamp(device_.max_qp_init_rd_atom, 1, 255);
	const Path path{
		.port = port(),
		.gid_index = gid_.index,
		.peer_gid = peer.gid,
		.mtu = path_mtu_,
		.responder_depth = responder_depth(),
		.initiator_depth = std::min(static_cast<std::uint8_t>(initiator), peer.max_rd_atomic),
		.timeout = static_cast<std::uint8_t>(parameters_.qp_timeout),
	};
	for (std::size_t i = 0; i < qps_.size(); i++)
		connect_qp(qps_[i].get(), psns_[i], peer.qps[i], peer.capability, path);
}

Client::Client(const Parameters &wanted)
	: params_(wanted), tcp_(connect_to(wanted.host, wanted.port)),
	  end_(wanted, tcp_.local_address(), wanted.progress == Progress::unset ? Progress::in_line : wanted.progress)
{
}

void Client::start(const Geometry &plan, std::uint32_t requests_per_job)
{
	remote_layout_ = std::make_unique<Layout>(plan);
	allocate_memory(plan);
	end_.create_qps(plan.qps, plan.depth * requests_per_job + 1, params_.inline_size); /* 1: a driver's flush */
	tcp_.send(encode(Hello{.tool = params_.tool,
		.chain = params_.chain,
		.cas_mode = params_.cas_mode,
		.geometry = plan,
		.side = end_.describe()}));
	const Frame answer = tcp_.receive(answer_patience);
	if (answer.type == FrameType::refusal)
		throw Error(fmt::format("the server refuses: {}", printable(answer.body)));
	const auto decoded = answer.type == FrameType::welcome ? decode_welcome(answer.body) : std::nullopt;
	if (!decoded || decoded->side.qps.size() != plan.qps)
		throw Error("the server's answer makes no sense; run the same version of the tool on both sides");
	welcome_ = *decoded;
	end_.connect(welcome_.side);
}

void Client::allocate_memory(const Geometry &plan)
{
	constexpr std::uint64_t most_local_memory = std::uint64_t{2} << 30;
	const std::uint64_t bytes = data_offset() + remote_layout_->stride() * plan.jobs();
	if (bytes > most_local_memory)
		throw Error(fmt::format("messages in flight would take {} MiB; reduce -s, -t or -q", bytes >> 20));
	arena_ = std::make_unique<Arena>(bytes);
	region_ = register_memory(end_.domain(), *arena_, IBV_ACCESS_LOCAL_WRITE);
	for (std::uint32_t job = 0; job < plan.jobs(); job++)
		fill_with_stamp(data(job), remote_layout_->stride(), object_stamp(job % plan.objects));
}

std::uint64_t Client::data_offset() const
{
	const Geometry &plan = remote_layout_->geometry();
	return results_size * std::uint64_t{plan.contestants} * plan.jobs();
}

std::uint8_t *Client::results(std::uint32_t contestant, std::uint32_t job) const
{
	return arena_->data() + results_size * (std::size_t{contestant} * remote_layout_->geometry().jobs() + job);
}

std::uint8_t *Client::data(std::uint32_t job) const
{
	return arena_->data() + data_offset() + remote_layout_->stride() * job;
}

void Client::return_buffers(std::span<const std::uint64_t> addresses)
{
	tcp_.send(encode_returned(addresses));
}

void Client::finish(const std::string &results)
{
	tcp_.send(encode_finished(results.size() <= largest_frame ? results : "[]"));
}

Server::Server(const Parameters &wanted, TcpConnection client) : params_(wanted), tcp_(std::move(client)) {}

void Server::start()
{
	try {
		receive_hello();
		prepare();
	} catch (const Error &error) {
		tcp_.send(encode_refusal(error.what()));
		throw;
	}
}

void Server::receive_hello()
{
	const Frame frame = tcp_.receive(answer_patience);
	const auto decoded = frame.type == FrameType::hello ? decode_hello(frame.body) : std::nullopt;
	if (!decoded)
		throw Error("the client's greeting makes no sense; run the same version of the tool on both sides");
	hello_ = *decoded;
	if (hello_.tool.name() != params_.tool.name())
		throw Error(fmt::format("the client is {} and the server {}; run the same tool on both sides",
			hello_.tool.name(), params_.tool.name()));
	const std::string problem = hello_.geometry.problem();
	if (!problem.empty())
		throw Error(fmt::format("the client asks for {}, which is out of bounds", problem));
	const bool wants_list = hello_.geometry.buffers > 0;
	if (wants_list != params_.needs_free_list())
		throw Error("the client's geometry does not fit the operation");
}

void Server::prepare()
{
	end_ = std::make_unique<Endpoint>(params_, tcp_.local_address(),
		params_.progress == Progress::unset ? Progress::thread : params_.progress);
	layout_ = std::make_unique<Layout>(hello_.geometry);
	arena_ = std::make_unique<Arena>(layout_->size());
	region_ = register_memory(end_->domain(), *arena_, all_access);
	lay_out_memory();
	Welcome welcome{
		.base = address_of(0),
		.rkey = region_->rkey,
		.scratch = address_of(layout_->scratch(0, 0)),
		.scratch_rkey = region_->rkey,
		.free_list = 0,
		.side = {},
	};
	if (params_.scratch == Scratch::device) {
		create_scratch();
		welcome.scratch = 0; /* device memory is addressed from 0 */
		welcome.scratch_rkey = scratch_region_->rkey;
	}
	if (hello_.geometry.buffers)
		create_free_list();
	welcome.free_list = free_list_number_;
	end_->create_qps(hello_.geometry.qps, 1, 0);
	welcome.side = end_->describe();
	end_->connect(hello_.side);
	tcp_.send(encode(welcome));
}

std::uint64_t Server::address_of(std::uint64_t offset) const
{
	return reinterpret_cast<std::uint64_t>(arena_->data()) + offset;
}

void Server::lay_out_memory()
{
	const Geometry &plan = hello_.geometry;
	for (std::uint32_t i = 0; i < plan.objects; i++)
		fill_with_stamp(arena_->data() + layout_->object(i), layout_->stride(), object_stamp(i));
	for (std::uint32_t contestant = 0; contestant < plan.contestants; contestant++)
		for (std::uint32_t job = 0; job < plan.jobs(); job++)
			fill_cell(contestant, job);
}

/* Fills in the initial state for each kind of job; operations/ relies on it. */
void Server::fill_cell(std::uint32_t contestant, std::uint32_t job)
{
	const std::uint64_t offset = layout_->cell(contestant, job);
	auto *cell = reinterpret_cast<Cell *>(arena_->data() + offset);
	cell->bound = hello_.geometry.largest_message;
	cell->pointer = address_of(layout_->object(job));
	if (hello_.tool.operation == Operation::cas) {
		cell->pointer = address_of(offset + offsetof(Cell, operand));
		cell->bound = sizeof(cell->operand);
		if (hello_.cas_mode == CasMode::less) /* counts down from the top */
			std::memset(cell->operand, 0xff, sizeof(std::uint64_t));
	}
	if (hello_.tool.operation == Operation::chain)
		cell->pointer = address_of(layout_->buffer(job));
}

void Server::create_scratch()
{
	const std::uint64_t size = layout_->scratch_size();
	ibv_alloc_dm_attr attributes{};
	attributes.length = size;
	scratch_.reset(ibv_alloc_dm(end_->verbs(), &attributes));
	if (!scratch_)
		throw system_error(fmt::format("cannot allocate {} bytes of device memory", size), errno,
			"run the server with --scratch=host");
	scratch_region_.reset(
		ibv_reg_dm_mr(end_->domain(), scratch_.get(), 0, size, all_access | IBV_ACCESS_ZERO_BASED));
	if (!scratch_region_)
		throw system_error("cannot register device memory", errno, "run the server with --scratch=host");
}

void Server::create_free_list()
{
	ibv_srq_init_attr_ex attributes{};
	attributes.attr.max_wr = hello_.geometry.buffers;
	attributes.attr.max_sge = 1;
	attributes.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attributes.srq_type = IBV_SRQT_BASIC;
	attributes.pd = end_->domain();
	prismdv_srq_init_attr prism{};
	prism.flags = PRISMDV_SRQ_FREE_LIST;
	free_list_.reset(prismdv_create_srq(end_->verbs(), &attributes, &prism));
	if (!free_list_)
		throw system_error(fmt::format("cannot create a free list of {} buffers", hello_.geometry.buffers),
			errno, "reduce -n, -t or -q");
	const int error = ibv_get_srq_num(free_list_.get(), &free_list_number_);
	if (error)
		throw system_error("cannot get the number of the free list", error);
	std::vector<std::uint64_t> addresses;
	for (std::uint32_t i = hello_.geometry.jobs(); i < hello_.geometry.buffers; i++)
		addresses.push_back(address_of(layout_->buffer(i)));
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
			buffers[i] = {addresses[i], static_cast<std::uint32_t>(layout_->stride()), region_->lkey};
			requests[i] = {.wr_id = addresses[i], .next = nullptr, .sg_list = &buffers[i], .num_sge = 1};
			if (i)
				requests[i - 1].next = &requests[i];
		}
		ibv_recv_wr *bad = nullptr;
		const int error = ibv_post_srq_recv(free_list_.get(), requests.data(), &bad);
		if (error)
			throw system_error("cannot post buffers to the free list", error);
		addresses = addresses.subspan(count);
	}
}

void Server::take_back(const Frame &frame)
{
	const auto addresses = decode_returned(frame.body);
	if (!addresses || !free_list_)
		throw Error("the client returned something that is not a list of buffers");
	for (const std::uint64_t address : *addresses)
		if (!layout_->is_buffer(address - address_of(0)))
			throw Error(fmt::format(
				"the client returned {:#x}, which is not a buffer of the free list", address));
	post_buffers(*addresses);
}

std::string Server::serve()
{
	std::function<void()> idle;
	if (params_.progress == Progress::in_line)
		idle = [this] { prismdv_progress(end_->verbs()); };
	for (;;) {
		const Frame frame = tcp_.wait(idle);
		if (frame.type == FrameType::finished)
			return {frame.body.begin(), frame.body.end()};
		if (frame.type != FrameType::returned)
			throw Error("the client sent an unexpected message");
		take_back(frame);
	}
}

} // namespace prism::perftest

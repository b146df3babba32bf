/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "operations/read.hpp"

#include <fmt/format.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

/* Common part of all READs of an object: the object's stamp at both ends shows that the bytes have come. */
class ObjectRead : public Contestant
{
public:
	using Contestant::Contestant;

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: the {} bytes read by job {} are not those of its object", name(), size(), job);
	}

protected:
	[[nodiscard]] std::uint64_t object(std::uint32_t job) const { return remote(client.layout().object(job)); }

	void clear(std::uint32_t job) const
	{
		std::uint8_t *data = client.data(job);
		const std::uint64_t zero = 0;
		copy_head(data, reinterpret_cast<const std::uint8_t *>(&zero));
		data[size() - 1] = 0;
	}

	[[nodiscard]] Outcome check(std::uint32_t job) const
	{
		const std::uint8_t *data = client.data(job);
		const std::uint64_t stamp = object_stamp(job % client.layout().geometry().objects);
		const auto *expected = reinterpret_cast<const std::uint8_t *>(&stamp);
		std::uint64_t head = stamp;
		copy_head(reinterpret_cast<std::uint8_t *>(&head), data);
		const bool tail = data[size() - 1] == expected[(size() - 1) % sizeof(stamp)];
		return head == stamp && tail ? Outcome::done : Outcome::wrong;
	}

private:
	/* Copies the first eight bytes, or as many as the message has; a copy of known size costs no call. */
	void copy_head(std::uint8_t *to, const std::uint8_t *from) const
	{
		if (size() >= sizeof(std::uint64_t))
			std::memcpy(to, from, sizeof(std::uint64_t));
		else
			std::memcpy(to, from, size());
	}
};

std::uint32_t access_flags(Access access)
{
	switch (access) {
	case Access::bounded:
		return PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED;
	case Access::indirect:
		return PRISMDV_WR_INDIRECT;
	case Access::direct:
		break;
	}
	return 0;
}

std::string_view access_name(Access access)
{
	switch (access) {
	case Access::bounded:
		return "bounded indirect";
	case Access::indirect:
		return "indirect";
	case Access::direct:
		break;
	}
	return "direct";
}

class PrismRead : public ObjectRead
{
public:
	PrismRead(Client &reading, std::uint32_t index)
		: ObjectRead(reading, index, "prism",
			  fmt::format("PRISM READ, {}", access_name(reading.parameters().access)), {1}),
		  access_(reading.parameters().access)
	{
	}

	void check_size(std::size_t size) const override
	{
		constexpr std::size_t limit = 1 << 20;
		if (size > limit)
			throw Error(fmt::format("a PRISM READ is at most {} bytes; reduce -s", limit));
	}

	Outcome finish(std::uint32_t job, unsigned) override { return check(job); }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		const std::uint64_t target =
			access_ == Access::direct ? object(job) : cell(job, offsetof(Cell, pointer));
		set_prism(requests[0], PRISMDV_WR_READ, access_flags(access_), client.data(job), size(), target);
	}

	void patch(std::uint32_t job, unsigned, std::span<Request>) override { clear(job); }

private:
	const Access access_;
};

class StandardRead : public ObjectRead
{
public:
	StandardRead(Client &reading, std::uint32_t index, std::string name)
		: ObjectRead(reading, index, std::move(name), "one RDMA READ of the object itself", {1})
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override { return check(job); }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		set_standard(requests[0], IBV_WR_RDMA_READ, client.data(job), size(), object(job));
	}

	void patch(std::uint32_t job, unsigned, std::span<Request>) override { clear(job); }
};

class PointerChase : public ObjectRead
{
public:
	PointerChase(Client &reading, std::uint32_t index)
		: ObjectRead(reading, index, "plain", "RDMA READ of the pointer, then RDMA READ of the object", {1, 1}),
		  bounded_(reading.parameters().access == Access::bounded)
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		if (step == 1)
			return check(job);
		return results(job).address ? Outcome::done : Outcome::wrong;
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		const std::size_t pointer_size = bounded_ ? sizeof(prismdv_bounded_ptr) : sizeof(local.address);
		set_standard(requests[0], IBV_WR_RDMA_READ, &local.address, pointer_size,
			cell(job, offsetof(Cell, pointer)));
		set_standard(requests[1], IBV_WR_RDMA_READ, client.data(job), size(), 0);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		if (step == 0) {
			local.address = 0;
			return;
		}
		clear(job);
		requests[0].wr().wr.rdma.remote_addr = local.address;
		if (bounded_)
			requests[0].sge.length = std::min(static_cast<std::uint32_t>(size()), local.bound);
	}

private:
	const bool bounded_;
};

/* WRITEs return no data to check: a WRITE that failed shows in a completion. */
class ObjectWrite : public Contestant
{
public:
	using Contestant::Contestant;

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: the pointer that job {} found is null", name(), job);
	}

protected:
	[[nodiscard]] std::uint64_t object(std::uint32_t job) const { return remote(client.layout().object(job)); }
};

class PrismWrite : public ObjectWrite
{
public:
	PrismWrite(Client &writing, std::uint32_t index)
		: ObjectWrite(writing, index, "prism",
			  fmt::format("PRISM WRITE, {}", access_name(writing.parameters().access)), {1}),
		  access_(writing.parameters().access)
	{
	}

	void check_size(std::size_t size) const override
	{
		const std::uint16_t mtu = client.endpoint().mtu();
		if (access_ != Access::direct && size > mtu)
			throw Error(fmt::format(
				"a WRITE through a pointer is at most one MTU, {} bytes here; reduce -s or use "
				"--direct",
				mtu));
	}

	Outcome finish(std::uint32_t, unsigned) override { return Outcome::done; }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		const std::uint64_t target =
			access_ == Access::direct ? object(job) : cell(job, offsetof(Cell, pointer));
		set_prism(requests[0], PRISMDV_WR_WRITE, access_flags(access_), client.data(job), size(), target);
		set_inline(requests[0]);
	}

	void patch(std::uint32_t, unsigned, std::span<Request>) override {}

private:
	const Access access_;
};

class StandardWrite : public ObjectWrite
{
public:
	StandardWrite(Client &writing, std::uint32_t index, std::string name)
		: ObjectWrite(writing, index, std::move(name), "one RDMA WRITE to the object itself", {1})
	{
	}

	Outcome finish(std::uint32_t, unsigned) override { return Outcome::done; }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		set_standard(requests[0], IBV_WR_RDMA_WRITE, client.data(job), size(), object(job));
		set_inline(requests[0]);
	}

	void patch(std::uint32_t, unsigned, std::span<Request>) override {}
};

class PointerWrite : public ObjectWrite
{
public:
	PointerWrite(Client &writing, std::uint32_t index)
		: ObjectWrite(
			  writing, index, "plain", "RDMA READ of the pointer, then RDMA WRITE to the object", {1, 1}),
		  bounded_(writing.parameters().access == Access::bounded)
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override
	{
		return results(job).address ? Outcome::done : Outcome::wrong;
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		const std::size_t pointer_size = bounded_ ? sizeof(prismdv_bounded_ptr) : sizeof(local.address);
		set_standard(requests[0], IBV_WR_RDMA_READ, &local.address, pointer_size,
			cell(job, offsetof(Cell, pointer)));
		set_standard(requests[1], IBV_WR_RDMA_WRITE, client.data(job), size(), 0);
		set_inline(requests[1]);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		if (step == 0) {
			local.address = 0;
			return;
		}
		requests[0].wr().wr.rdma.remote_addr = local.address;
		if (bounded_)
			requests[0].sge.length = std::min(static_cast<std::uint32_t>(size()), local.bound);
	}

private:
	const bool bounded_;
};

} // namespace

void add_read_contestants(Client &client, Contestants &list)
{
	const Parameters &parameters = client.parameters();
	const bool direct = parameters.access == Access::direct;
	const bool compare = parameters.contest == Contest::compare;
	if (parameters.contest != Contest::plain)
		list.push_back(std::make_unique<PrismRead>(client, list.size()));
	if (direct ? parameters.contest != Contest::prism : compare)
		list.push_back(std::make_unique<StandardRead>(client, list.size(), direct ? "plain" : "single"));
	if (!direct && parameters.contest != Contest::prism)
		list.push_back(std::make_unique<PointerChase>(client, list.size()));
}

void add_write_contestants(Client &client, Contestants &list)
{
	const Parameters &parameters = client.parameters();
	const bool direct = parameters.access == Access::direct;
	const bool compare = parameters.contest == Contest::compare;
	if (parameters.contest != Contest::plain)
		list.push_back(std::make_unique<PrismWrite>(client, list.size()));
	if (direct ? parameters.contest != Contest::prism : compare)
		list.push_back(std::make_unique<StandardWrite>(client, list.size(), direct ? "plain" : "single"));
	if (!direct && parameters.contest != Contest::prism)
		list.push_back(std::make_unique<PointerWrite>(client, list.size()));
}

} // namespace prism::perftest

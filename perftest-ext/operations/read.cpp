/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "operations/read.hpp"

#include <fmt/format.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

class ObjectAccess : public Contestant
{
public:
	using Contestant::Contestant;

protected:
	[[nodiscard]] std::uint64_t object(std::uint32_t job) const { return remote(client.layout().object(job)); }
};

/* Parts in which READs and WRITEs of an object differ: opcodes, texts, limits, and how a result is checked. */

/* READs: the object's stamp at both ends shows that the bytes have come. */
class ObjectRead : public ObjectAccess
{
public:
	using ObjectAccess::ObjectAccess;

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: the {} bytes read by job {} are not those of its object", name(), size(), job);
	}

protected:
	static constexpr auto prism_opcode = PRISMDV_WR_READ;
	static constexpr auto standard_opcode = IBV_WR_RDMA_READ;
	static constexpr std::string_view prism_name = "PRISM READ", standard_name = "RDMA READ of the object";

	void check_prism_size(std::size_t size, Access) const
	{
		constexpr std::size_t limit = 1 << 20;
		if (size > limit)
			throw Error(fmt::format("a PRISM READ is at most {} bytes; reduce -s", limit));
	}

	void complete(Request &) const {}

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

/* WRITEs: they return no data to check: a WRITE that failed shows in a completion. */
class ObjectWrite : public ObjectAccess
{
public:
	using ObjectAccess::ObjectAccess;

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: the pointer that job {} found is null", name(), job);
	}

protected:
	static constexpr auto prism_opcode = PRISMDV_WR_WRITE;
	static constexpr auto standard_opcode = IBV_WR_RDMA_WRITE;
	static constexpr std::string_view prism_name = "PRISM WRITE", standard_name = "RDMA WRITE to the object";

	void check_prism_size(std::size_t size, Access access) const
	{
		const std::uint16_t mtu = client.endpoint().mtu();
		if (access != Access::direct && size > mtu)
			throw Error(fmt::format(
				"a WRITE through a pointer is at most one MTU, {} bytes here; reduce -s or use "
				"--direct",
				mtu));
	}

	void complete(Request &request) const { set_inline(request); }
	void clear(std::uint32_t) const {}
	[[nodiscard]] Outcome check(std::uint32_t) const { return Outcome::done; }
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

template <typename Object>
class ByPrism : public Object
{
public:
	ByPrism(Client &owner, std::uint32_t index)
		: Object(owner, index, "prism",
			  fmt::format("{}, {}", Object::prism_name, access_name(owner.parameters().access)), {1}),
		  access_(owner.parameters().access)
	{
	}

	void check_size(std::size_t size) const override { this->check_prism_size(size, access_); }
	Outcome finish(std::uint32_t job, unsigned) override { return this->check(job); }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		const std::uint64_t target =
			access_ == Access::direct ? this->object(job) : this->cell(job, offsetof(Cell, pointer));
		this->set_prism(requests[0], Object::prism_opcode, access_flags(access_), this->client.data(job),
			this->size(), target);
		this->complete(requests[0]);
	}

	void patch(std::uint32_t job, unsigned, std::span<Request>) override { this->clear(job); }

private:
	const Access access_;
};

template <typename Object>
class OfItself : public Object
{
public:
	OfItself(Client &owner, std::uint32_t index, std::string name)
		: Object(owner, index, std::move(name), fmt::format("one {} itself", Object::standard_name), {1})
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override { return this->check(job); }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		this->set_standard(
			requests[0], Object::standard_opcode, this->client.data(job), this->size(), this->object(job));
		this->complete(requests[0]);
	}

	void patch(std::uint32_t job, unsigned, std::span<Request>) override { this->clear(job); }
};

template <typename Object>
class PointerChase : public Object
{
public:
	PointerChase(Client &owner, std::uint32_t index)
		: Object(owner, index, "plain", fmt::format("RDMA READ of the pointer, then {}", Object::standard_name),
			  {1, 1}),
		  bounded_(owner.parameters().access == Access::bounded)
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		if (!this->results(job).address)
			return Outcome::wrong;
		return step == 1 ? this->check(job) : Outcome::done;
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = this->results(job);
		const std::size_t pointer_size = bounded_ ? sizeof(prismdv_bounded_ptr) : sizeof(local.address);
		this->set_standard(requests[0], IBV_WR_RDMA_READ, &local.address, pointer_size,
			this->cell(job, offsetof(Cell, pointer)));
		this->set_standard(requests[1], Object::standard_opcode, this->client.data(job), this->size(), 0);
		this->complete(requests[1]);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		JobResults &local = this->results(job);
		if (step == 0) {
			local.address = 0;
			return;
		}
		this->clear(job);
		requests[0].wr().wr.rdma.remote_addr = local.address;
		if (bounded_)
			requests[0].sge.length = std::min(static_cast<std::uint32_t>(this->size()), local.bound);
	}

private:
	const bool bounded_;
};

template <typename Object>
void add_contestants(Client &client, Contestants &list)
{
	const Parameters &parameters = client.parameters();
	const bool direct = parameters.access == Access::direct;
	const bool compare = parameters.contest == Contest::compare;
	if (parameters.contest != Contest::plain)
		list.push_back(std::make_unique<ByPrism<Object>>(client, list.size()));
	if (direct ? parameters.contest != Contest::prism : compare)
		list.push_back(std::make_unique<OfItself<Object>>(client, list.size(), direct ? "plain" : "single"));
	if (!direct && parameters.contest != Contest::prism)
		list.push_back(std::make_unique<PointerChase<Object>>(client, list.size()));
}

} // namespace

void add_read_contestants(Client &client, Contestants &list)
{
	add_contestants<ObjectRead>(client, list);
}

void add_write_contestants(Client &client, Contestants &list)
{
	add_contestants<ObjectWrite>(client, list);
}

} // namespace prism::perftest

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Handles of the objects that a connection needs: device context, protection domain, memory.
 *
 * A handle keeps alive what it was made from, so the order in which handles go out of scope does not matter.
 * Thread-safety is that of libibverbs: different threads may use the same handle, but not while one of them moves
 * or destroys it.
 */
#pragma once

#include <prism/export.hpp>
#include <prism/result.hpp>

#include <infiniband/prismdv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace prism
{

/** Thread that drives a userspace device (prismdv_open_device(3)). */
enum class Progress : std::uint32_t {
	standard = PRISMDV_PROGRESS_DEFAULT,     /**< as $PRISM_PROGRESS says, else an engine thread */
	caller = PRISMDV_PROGRESS_INLINE,        /**< calls into the library drive it: the lowest latency */
	engine_thread = PRISMDV_PROGRESS_THREAD, /**< an engine thread, for servers whose own threads do not poll */
};

/** An open device that speaks PRISM. Copies share the device. */
class PRISM_EXPORT Context
{
public:
	/**
	 * Opens the device called @p name, or, for an empty name, the first userspace device, or, if there is none, the
	 * first device that speaks PRISM. Errors: ENODEV (the message lists the existing names), EOPNOTSUPP (the device
	 * does not speak PRISM), or those of prismdv_open_device(3).
	 */
	static Result<Context> open(std::string_view name = {}, Progress progress = Progress::standard);

	[[nodiscard]] ibv_context *raw() const noexcept { return handle_.get(); }
	[[nodiscard]] std::string name() const { return handle_->device->name; }
	[[nodiscard]] const prismdv_device_attr &attributes() const noexcept { return device_attributes_; }
	[[nodiscard]] bool is_userspace() const noexcept
	{
		return (device_attributes_.flags & PRISMDV_DEVICE_USERSPACE) != 0;
	}

	/** Record that tells a peer the capabilities of this device. */
	[[nodiscard]] const prismdv_capability &capability() const noexcept { return device_capability_; }

	/** GID @p index of @p port. Errors: ENODATA (no such entry). */
	[[nodiscard]] Result<ibv_gid> gid(std::uint8_t port, int index) const;

	/** Returns the index of the GID to use when the application names none: the first RoCE v2 one, IPv4 before
	 * IPv6. */
	[[nodiscard]] Result<int> default_gid_index(std::uint8_t port) const;

	/** Drives a userspace device once (prismdv_progress(3)). Returns 0 or errno. */
	int progress() const noexcept { return prismdv_progress(handle_.get()); }

private:
	explicit Context(std::shared_ptr<ibv_context> context) : handle_(std::move(context)) {}
	static Result<Context> open_device(ibv_device *device, Progress progress);

	std::shared_ptr<ibv_context> handle_;
	prismdv_device_attr device_attributes_{};
	prismdv_capability device_capability_{};
};

/** A protection domain. Copies share it. */
class PRISM_EXPORT ProtectionDomain
{
public:
	static Result<ProtectionDomain> create(const Context &context);

	[[nodiscard]] ibv_pd *raw() const noexcept { return handle_.get(); }
	[[nodiscard]] const Context &context() const noexcept { return owner_; }

private:
	ProtectionDomain(Context context, std::shared_ptr<ibv_pd> pd)
		: owner_(std::move(context)), handle_(std::move(pd))
	{
	}

	Context owner_;
	std::shared_ptr<ibv_pd> handle_;
};

/** An address in a peer's memory. */
struct RemoteAddress {
	std::uint64_t address = 0;
	std::uint32_t rkey = 0;

	/** Returns the address @p bytes further on, under the same key. */
	friend RemoteAddress operator+(RemoteAddress place, std::uint64_t bytes) noexcept
	{
		return {place.address + bytes, place.rkey};
	}
};

/** A peer's memory region, as the peer describes it. */
struct RemoteRegion {
	std::uint64_t address = 0;
	std::uint64_t length = 0; /**< bytes */
	std::uint32_t rkey = 0;

	/** Returns the address @p offset bytes into the region. Not checked: the peer's device checks every access. */
	[[nodiscard]] RemoteAddress at(std::uint64_t offset = 0) const noexcept { return {address + offset, rkey}; }

	/** Returns true if @p bytes at @p place lie inside. */
	[[nodiscard]] bool contains(std::uint64_t place, std::uint64_t bytes) const noexcept
	{
		return place >= address && place - address <= length && bytes <= length - (place - address);
	}
};

/** A piece of registered local memory. */
struct LocalSlice {
	std::uint64_t address = 0;
	std::uint32_t length = 0; /**< bytes */
	std::uint32_t lkey = 0;
};

namespace access
{
constexpr unsigned local = IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned remote_read = IBV_ACCESS_REMOTE_READ;
/** As verbs require it: remote write and remote atomic include local write. */
constexpr unsigned remote_write = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned remote_atomic = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned all = remote_read | remote_write | remote_atomic;
} // namespace access

/** A registration of memory that the application owns and keeps until the registration is gone. */
class PRISM_EXPORT MemoryRegion
{
public:
	MemoryRegion(MemoryRegion &&) = default;
	MemoryRegion &operator=(MemoryRegion &&) = delete; /* members would go in the wrong order */

	/** Registers @p length bytes at @p memory with the rights @p access_flags (namespace access). */
	static Result<MemoryRegion> create(
		const ProtectionDomain &pd, void *memory, std::size_t length, unsigned access_flags);

	[[nodiscard]] ibv_mr *raw() const noexcept { return handle_.get(); }
	[[nodiscard]] std::uint64_t address() const noexcept { return start_; }
	[[nodiscard]] std::size_t length() const noexcept { return handle_->length; }
	[[nodiscard]] std::uint32_t lkey() const noexcept { return handle_->lkey; }
	[[nodiscard]] std::uint32_t rkey() const noexcept { return handle_->rkey; }

	/** Description of the region for peers. */
	[[nodiscard]] RemoteRegion remote() const noexcept { return {start_, length(), rkey()}; }

	/** Returns @p bytes from @p offset on. Not checked: the device checks every access. */
	[[nodiscard]] LocalSlice slice(std::size_t offset, std::uint32_t bytes) const noexcept
	{
		return {start_ + offset, bytes, lkey()};
	}

private:
	friend class DeviceMemory;
	struct Deregister {
		void operator()(ibv_mr *mr) const noexcept { ibv_dereg_mr(mr); }
	};

	MemoryRegion(ProtectionDomain pd, ibv_mr *mr, std::uint64_t address)
		: owner_(std::move(pd)), handle_(mr), start_(address)
	{
	}

	ProtectionDomain owner_;
	std::unique_ptr<ibv_mr, Deregister> handle_;
	std::uint64_t start_;
};

/** A buffer with memory of its own, page-aligned and zeroed, with its registration. */
class PRISM_EXPORT Buffer
{
public:
	Buffer(Buffer &&) = default;
	Buffer &operator=(Buffer &&) = delete; /* members would go in the wrong order */

	/** Allocates and registers. Errors: EINVAL (length 0), ENOMEM, or those of ibv_reg_mr(3). */
	static Result<Buffer> create(
		const ProtectionDomain &pd, std::size_t length, unsigned access_flags = access::local);

	[[nodiscard]] std::byte *data() const noexcept { return memory_.get(); }
	[[nodiscard]] std::size_t length() const noexcept { return registration_.length(); }
	[[nodiscard]] const MemoryRegion &region() const noexcept { return registration_; }
	[[nodiscard]] RemoteRegion remote() const noexcept { return registration_.remote(); }
	[[nodiscard]] LocalSlice slice(std::size_t offset, std::uint32_t bytes) const noexcept
	{
		return registration_.slice(offset, bytes);
	}

	/** Returns the object at @p offset, which must be in range and aligned for T. */
	template <typename T>
	[[nodiscard]] T *as(std::size_t offset = 0) const noexcept
	{
		static_assert(std::is_trivially_copyable_v<T>, "the peer reads and writes bytes");
		return reinterpret_cast<T *>(memory_.get() + offset);
	}

private:
	struct Unmap {
		std::size_t length = 0;
		void operator()(std::byte *pages) const noexcept;
	};
	using Memory = std::unique_ptr<std::byte, Unmap>;

	Buffer(Memory pages, MemoryRegion region) : memory_(std::move(pages)), registration_(std::move(region)) {}

	Memory memory_; /* declared first: unmapped only after the registration is gone */
	MemoryRegion registration_;
};

/** Memory of the device (ibv_alloc_dm(3)): scratch memory where chains store addresses for their next step. */
class PRISM_EXPORT DeviceMemory
{
public:
	DeviceMemory(DeviceMemory &&) = default;
	DeviceMemory &operator=(DeviceMemory &&) = delete; /* members would go in the wrong order */

	/** Allocates and registers @p length bytes. Errors: ENOMEM (device memory is used up), EOPNOTSUPP. */
	static Result<DeviceMemory> create(
		const ProtectionDomain &pd, std::size_t length, unsigned access_flags = access::all);

	/** Region whose addresses start at 0. */
	[[nodiscard]] RemoteRegion remote() const noexcept { return {0, bytes_, registration_.rkey()}; }
	[[nodiscard]] LocalSlice slice(std::size_t offset, std::uint32_t size) const noexcept
	{
		return {offset, size, registration_.lkey()};
	}

	/** Copy by the CPU (ibv_memcpy_to_dm(3)). Return 0 or errno. */
	int store(std::uint64_t offset, const void *from, std::size_t length) const noexcept;
	int load(void *to, std::uint64_t offset, std::size_t length) const noexcept;

private:
	struct Free {
		void operator()(ibv_dm *dm) const noexcept { ibv_free_dm(dm); }
	};
	using Allocation = std::unique_ptr<ibv_dm, Free>;

	DeviceMemory(Allocation dm, MemoryRegion region, std::size_t length)
		: allocation_(std::move(dm)), registration_(std::move(region)), bytes_(length)
	{
	}

	Allocation allocation_; /* declared first: freed only after the registration is gone */
	MemoryRegion registration_;
	std::size_t bytes_;
};

} // namespace prism

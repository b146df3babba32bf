// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// dlsym() and dlvsym() for programs that look functions up instead of being linked with them (NCCL, Python's ctypes). A
// handle of dlopen() leads past this library, to libibverbs's own functions, which know nothing of the userspace
// devices. So a function found by a handle is replaced if this library stands in for it.
//
// RTLD_NEXT and RTLD_DEFAULT depend on the caller, which the C library knows by the return address. So the real
// functions are jumped to, not called; their results need no replacement, as this library comes first in the search
// order.
#include "../soft/verbs/soft_device.h"
#include "../verbs/rdma_core_abi.h"
#include "next_lookup.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {

// libibverbs declares these nowhere, or by another name.
int _ibv_query_gid_ex(struct ibv_context *, uint32_t, uint32_t, struct ibv_gid_entry *, uint32_t, size_t);
ssize_t _ibv_query_gid_table(struct ibv_context *, struct ibv_gid_entry *, size_t, uint32_t, size_t);
int ibv_query_gid_type(struct ibv_context *, uint8_t, unsigned int, enum ibv_gid_type_sysfs *);
int ibv_read_sysfs_file(const char *, const char *, char *, size_t);

void *prism_dlsym_by_handle(void *handle, const char *name) __attribute__((visibility("hidden"), used));
void *prism_dlvsym_by_handle(void *handle, const char *name, const char *version)
	__attribute__((visibility("hidden"), used));
}

namespace
{

// Version of a function of libibverbs that differs between releases.
constexpr const char *any_version = "";

// A function of libibverbs, or if it has no version, of the next library after this one, with our replacement.
struct StandIn {
	std::string_view name;
	const char *version;
	void *ours;

	void *original() const
	{
		static void *const libibverbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

		if (!version)
			return prism_next_dlsym(RTLD_NEXT, name.data());
		return *version ? prism_next_dlvsym(libibverbs, name.data(), version)
				: prism_next_dlsym(libibverbs, name.data());
	}
};

template <typename Signature>
StandIn stand_in(std::string_view name, const char *version, Signature *ours)
{
	return {name, version, reinterpret_cast<void *>(ours)};
}

using Open = int(const char *, int, ...);

const auto &stand_ins()
{
	static const std::array all{
		stand_in("ibv_get_device_list", "IBVERBS_1.1", ibv_get_device_list),
		stand_in("ibv_free_device_list", "IBVERBS_1.1", ibv_free_device_list),
		stand_in("ibv_get_device_guid", "IBVERBS_1.1", ibv_get_device_guid),
		stand_in("ibv_import_device", "IBVERBS_1.10", ibv_import_device),
		stand_in("ibv_query_gid", "IBVERBS_1.1", ibv_query_gid),
		stand_in("_ibv_query_gid_ex", "IBVERBS_1.11", _ibv_query_gid_ex),
		stand_in("_ibv_query_gid_table", "IBVERBS_1.11", _ibv_query_gid_table),
		stand_in("ibv_query_gid_type", any_version, ibv_query_gid_type),
		stand_in("ibv_query_pkey", "IBVERBS_1.1", ibv_query_pkey),
		stand_in("ibv_get_pkey_index", "IBVERBS_1.5", ibv_get_pkey_index),
		stand_in("ibv_create_comp_channel", "IBVERBS_1.0", ibv_create_comp_channel),
		stand_in("ibv_destroy_comp_channel", "IBVERBS_1.0", ibv_destroy_comp_channel),
		stand_in("ibv_read_sysfs_file", "IBVERBS_1.0", ibv_read_sysfs_file),
		stand_in<Open>("open", nullptr, ::open),
		stand_in<Open>("open64", nullptr, ::open),
		stand_in<int(const char *, struct stat *)>("stat", nullptr, ::stat),
		stand_in<int(const char *, struct stat *)>("stat64", nullptr, ::stat),
		stand_in<int(int, struct stat *)>("fstat", nullptr, ::fstat),
		stand_in<int(int, struct stat *)>("fstat64", nullptr, ::fstat),
		stand_in("access", nullptr, access),
		stand_in("write", nullptr, write),
		stand_in("close", nullptr, close),
		stand_in("close_range", nullptr, close_range),
		stand_in("closefrom", nullptr, closefrom),
	};
	return all;
}

const void *object_of(const void *address)
{
	Dl_info info = {};

	return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

// Returns true for callers in this library and libprism, which want libibverbs's own functions.
bool is_one_of_us(const void *caller)
{
	const void *const object = object_of(caller);

	return object == object_of(reinterpret_cast<const void *>(prism_dlsym_by_handle)) ||
	       object == object_of(reinterpret_cast<const void *>(prismdv_is_soft_device));
}

void *exchange(void *found, const char *name, const void *caller)
{
	if (!found)
		return found;
	for (const StandIn &each : stand_ins())
		if (each.name == name)
			return !is_one_of_us(caller) && found == each.original() ? each.ours : found;
	return found;
}

} // namespace

void *prism_dlsym_by_handle(void *handle, const char *name)
{
	if (!prism_next_dlsym)
		prism_find_next_lookup();
	return exchange(prism_next_dlsym(handle, name), name, __builtin_return_address(0));
}

void *prism_dlvsym_by_handle(void *handle, const char *name, const char *version)
{
	if (!prism_next_dlvsym)
		prism_find_next_lookup();
	return exchange(prism_next_dlvsym(handle, name, version), name, __builtin_return_address(0));
}

// RTLD_DEFAULT is 0, RTLD_NEXT -1.
#if defined(__x86_64__) && defined(__LP64__)
// clang-format off
#define TAKES_LOOKUP(name)                                                                                             \
	__asm__(".text\n"                                                                                              \
		".globl " name "\n"                                                                                    \
		".type " name ", @function\n"                                                                          \
		name ":\n"                                                                                             \
		".cfi_startproc\n"                                                                                     \
		"	endbr64\n"                                                                                     \
		"	leaq 1(%rdi), %rax\n"                                                                          \
		"	cmpq $1, %rax\n"                                                                               \
		"	ja prism_" name "_by_handle\n"                                                                 \
		"	movq prism_next_" name "(%rip), %rax\n"                                                        \
		"	testq %rax, %rax\n"                                                                            \
		"	jne 1f\n"                                                                                      \
		"	pushq %rdi\n	.cfi_adjust_cfa_offset 8\n"                                                    \
		"	pushq %rsi\n	.cfi_adjust_cfa_offset 8\n"                                                    \
		"	pushq %rdx\n	.cfi_adjust_cfa_offset 8\n" /* this aligns the stack */                     \
		"	call prism_find_next_lookup\n"                                                                 \
		"	popq %rdx\n	.cfi_adjust_cfa_offset -8\n"                                                   \
		"	popq %rsi\n	.cfi_adjust_cfa_offset -8\n"                                                   \
		"	popq %rdi\n	.cfi_adjust_cfa_offset -8\n"                                                   \
		"	movq prism_next_" name "(%rip), %rax\n"                                                        \
		"1:	jmp *%rax\n"                                                                                   \
		".cfi_endproc\n"                                                                                       \
		".size " name ", . - " name "\n")
// clang-format on
TAKES_LOOKUP("dlsym");
TAKES_LOOKUP("dlvsym");
#endif

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Finds the real dlsym(). A library that takes the name of dlsym() cannot ask dlsym() for the next one, so the first
// one is found by hand, in the symbol table of the C library (2.34 and later; older ones had none).
//
// Compiled without sanitizers, and calls no function of the C library but those that it finds: the runtimes of
// sanitizers look functions up before they can be called themselves.
#include "next_lookup.hpp"

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

void *(*prism_next_dlsym)(void *handle, const char *name);
void *(*prism_next_dlvsym)(void *handle, const char *name, const char *version);

namespace
{

bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + static_cast<unsigned char>(*name);
	return hash;
}

class SymbolTable
{
public:
	explicit SymbolTable(const struct link_map &map) : base(map.l_addr)
	{
		for (const ElfW(Dyn) *entry = map.l_ld; entry->d_tag != DT_NULL; entry++) {
			if (entry->d_tag == DT_SYMTAB)
				symbols = at<const ElfW(Sym) *>(entry->d_un.d_ptr);
			else if (entry->d_tag == DT_STRTAB)
				names_ = at<const char *>(entry->d_un.d_ptr);
			else if (entry->d_tag == DT_GNU_HASH)
				hashes_ = at<const uint32_t *>(entry->d_un.d_ptr);
		}
	}

	// Finds a symbol of any version. Null if it is not defined here.
	void *find(const char *name) const
	{
		if (!symbols || !names_ || !hashes_)
			return nullptr;
		const uint32_t wanted = gnu_hash(name), buckets = hashes_[0], first = hashes_[1], filter = hashes_[2];
		const uint32_t *const bucket = hashes_ + 4 + filter * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
		const uint32_t *const chain = bucket + buckets;
		uint32_t index = bucket[wanted % buckets];

		if (index < first)
			return nullptr;
		for (;; index++) {
			const uint32_t hash = chain[index - first];
			if ((hash | 1) == (wanted | 1) && equal(names_ + symbols[index].st_name, name))
				return reinterpret_cast<void *>(base + symbols[index].st_value);
			if (hash & 1)
				return nullptr;
		}
	}

private:
	// Converts an address: the dynamic linker has added the base to those of the file, except on some machines.
	template <typename Pointer>
	Pointer at(ElfW(Addr) address) const
	{
		return reinterpret_cast<Pointer>(address < base ? base + address : address);
	}

	ElfW(Addr) base;
	const ElfW(Sym) *symbols = nullptr;
	const char *names_ = nullptr;
	const uint32_t *hashes_ = nullptr;
};

// Finds a symbol in the C library, which is the library that defines gnu_get_libc_version too.
void *find_in_libc(const char *name)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const SymbolTable table(*map);
		if (table.find("gnu_get_libc_version"))
			return table.find(name);
	}
	return nullptr;
}

} // namespace

void prism_find_next_lookup()
{
	auto *const first = reinterpret_cast<void *(*)(void *, const char *)>(find_in_libc("dlsym"));

	if (!first)
		std::abort();
	// Another library's definitions may come between.
	prism_next_dlvsym = reinterpret_cast<void *(*)(void *, const char *, const char *)>(first(RTLD_NEXT, "dlvsym"));
	prism_next_dlsym = reinterpret_cast<void *(*)(void *, const char *)>(first(RTLD_NEXT, "dlsym"));
	if (!prism_next_dlvsym || !prism_next_dlsym)
		std::abort();
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// dlsym() and dlvsym() after this library in the search order; this library takes their names (preload_dl.cpp).
#ifndef PRISM_LAUNCHER_NEXT_LOOKUP_HPP
#define PRISM_LAUNCHER_NEXT_LOOKUP_HPP

extern "C" {

// Null before prism_find_next_lookup() has been called.
extern void *(*prism_next_dlsym)(void *handle, const char *name) __attribute__((visibility("hidden")));
extern void *(*prism_next_dlvsym)(void *handle, const char *name, const char *version)
	__attribute__((visibility("hidden")));

// May be called at any time, by several threads, and before this library's constructors.
void prism_find_next_lookup() __attribute__((visibility("hidden")));
}

#endif

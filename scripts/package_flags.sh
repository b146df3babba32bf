# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by check.sh and tests/packages: Debian's compiler options, those of debian/rules, for packages that are tested
# and thrown away. They have no debug information, which packages are stripped of anyway, and no rewritten paths: so
# compilations of one source in two places are equal, and ccache recognises that. The caller sets its folder,
# CCACHE_DIR.
package_paths='reproducible=-fixfilepath,-fixdebugpath'
export DEB_BUILD_MAINT_OPTIONS="hardening=+all $package_paths"
# The compiler collects its garbage only from half a GiB on, not from 128 MiB: that saves a twelfth of its time and does
# not change its output.
compiler_memory='--param=ggc-min-expand=50 --param=ggc-min-heapsize=524288'
export DEB_CFLAGS_STRIP=-g DEB_CFLAGS_APPEND=$compiler_memory DEB_CXXFLAGS_STRIP=-g DEB_CXXFLAGS_APPEND=$compiler_memory
package_cflags="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS)"
package_cxxflags="$(dpkg-buildflags --get CXXFLAGS) $(dpkg-buildflags --get CPPFLAGS)"
package_ldflags=$(dpkg-buildflags --get LDFLAGS)
# Depend: the compiler reports the included files, instead of a second run of the preprocessor. Locale: debhelper sets
# one. Werror: sources that the check has compiled with it have no warnings, and give the same output without it.
export CCACHE_IGNOREOPTIONS=-Werror CCACHE_BASEDIR=$PWD CCACHE_COMPILERCHECK=content CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=locale

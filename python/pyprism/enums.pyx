# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Cython makes this module from enums.pxd.

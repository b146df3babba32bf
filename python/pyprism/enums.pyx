# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Cython makes this module from enums.pxd. From 3.1 on it leaves the constants in their enums' classes.
import enum

for group in list(globals().values()):
    if isinstance(group, enum.EnumMeta):
        globals().update(group.__members__)
del enum, group

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
int main()
{
	return 0;
}

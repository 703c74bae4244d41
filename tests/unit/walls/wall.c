// SPDX-License-Identifier: Apache-2.0
/* It is linked, not run. */
int main(void)
{
	return 0;
}

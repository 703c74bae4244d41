// SPDX-License-Identifier: Apache-2.0
/* What stands for a program of .NET in one file: it has the same symbol. */
const char DotNetRuntimeInfo[] = "";

// SPDX-License-Identifier: Apache-2.0
module server

go 1.19

# SPDX-License-Identifier: Apache-2.0
# The system calls of share/syscalls, for a unit of systemd (SYSCALL_FILTERS) and as a seccomp profile
# (seccomp.json in the build folder).
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/syscalls)
file(STRINGS ${CMAKE_SOURCE_DIR}/share/syscalls SYSCALL_ROWS REGEX "^[a-z]")
list(TRANSFORM SYSCALL_ROWS PREPEND "SystemCallFilter=" OUTPUT_VARIABLE SYSCALL_FILTERS)
list(JOIN SYSCALL_FILTERS "\n" SYSCALL_FILTERS)

# A runtime does these in a container, after it has set the profile, before it starts the program.
list(APPEND SYSCALL_ROWS "setgroups setresuid setresgid setuid setgid")
list(JOIN SYSCALL_ROWS " " SYSCALL_NAMES)
string(REPLACE " " "\", \"" SYSCALL_NAMES "${SYSCALL_NAMES}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/seccomp.json @ONLY CONTENT [[{
 "defaultAction": "SCMP_ACT_ERRNO",
 "defaultErrnoRet": 1,
 "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
 "syscalls": [{"action": "SCMP_ACT_ALLOW", "names": ["@SYSCALL_NAMES@"]}]
}
]])

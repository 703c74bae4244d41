# SPDX-License-Identifier: Apache-2.0
# What ctxprop is built with; each miss says which package brings it.
find_package(PkgConfig REQUIRED)

function(ctxprop_require target module package)
  pkg_check_modules(${target} IMPORTED_TARGET ${module})
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "${module} not found. On Debian and Ubuntu: apt-get install ${package}")
  endif()
endfunction()

ctxprop_require(LIBBPF libbpf>=1.1 libbpf-dev)
ctxprop_require(LIBELF libelf libelf-dev)
ctxprop_require(LIBDW libdw libdw-dev)
ctxprop_require(LIBMNL libmnl libmnl-dev)
ctxprop_require(JANSSON jansson libjansson-dev)
ctxprop_require(MICROHTTPD libmicrohttpd>=0.9.71 libmicrohttpd-dev)
ctxprop_require(SQLITE sqlite3 libsqlite3-dev)
ctxprop_require(LIBCURL libcurl>=7.87 libcurl4-openssl-dev)
ctxprop_require(PROTOBUF_C libprotobuf-c libprotobuf-c-dev)
ctxprop_require(ZLIB zlib zlib1g-dev)
find_package(LLHTTP REQUIRED)

function(ctxprop_program variable program package)
  find_program(${variable} ${program} PATHS /usr/sbin /sbin)
  if(NOT ${variable})
    message(FATAL_ERROR "${program} not found. On Debian and Ubuntu: apt-get install ${package}")
  endif()
endfunction()

ctxprop_program(CLANG clang clang)
ctxprop_program(LLVM_STRIP llvm-strip llvm)
ctxprop_program(BPFTOOL bpftool "bpftool (Debian) or linux-tools-common (Ubuntu)")
ctxprop_program(PROTOC_C protoc-c protobuf-c-compiler)

# SPDX-License-Identifier: Apache-2.0
#[=[
Finds llhttp and defines LLHTTP::LLHTTP. In this order:
1. its own CMake configuration, 2. pkg-config (both: libllhttp-dev, llhttp 9),
3. its generated C sources (libllhttp-source; node-llhttp of Debian 12), built as a static library.
LLHTTP_ORIGIN says which one it was.
]=]

# The first target of the list that exists becomes LLHTTP::LLHTTP.
function(llhttp_adopt origin)
  foreach(target ${ARGN})
    if(TARGET ${target} AND NOT TARGET LLHTTP::LLHTTP)
      add_library(LLHTTP::LLHTTP INTERFACE IMPORTED GLOBAL)
      set_property(TARGET LLHTTP::LLHTTP PROPERTY INTERFACE_LINK_LIBRARIES ${target})
      set(LLHTTP_ORIGIN ${origin} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Builds the sources next to `source` with its header, without our warnings.
function(llhttp_build source include)
  cmake_path(GET source PARENT_PATH folder)
  add_library(llhttp_sources STATIC EXCLUDE_FROM_ALL
              ${folder}/llhttp.c ${folder}/api.c ${folder}/http.c)
  target_include_directories(llhttp_sources SYSTEM PUBLIC ${include})
  target_compile_options(llhttp_sources PRIVATE -w)
  llhttp_adopt("sources in ${folder}" llhttp_sources)
  set(LLHTTP_ORIGIN "${LLHTTP_ORIGIN}" PARENT_SCOPE)
endfunction()

if(NOT TARGET LLHTTP::LLHTTP)
  find_package(llhttp CONFIG QUIET)
  llhttp_adopt("CMake configuration" llhttp::llhttp_shared llhttp::llhttp_static llhttp::llhttp)
endif()

if(NOT TARGET LLHTTP::LLHTTP)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(LLHTTP_PC QUIET IMPORTED_TARGET GLOBAL libllhttp)
  endif()
  llhttp_adopt("pkg-config" PkgConfig::LLHTTP_PC)
endif()

if(NOT TARGET LLHTTP::LLHTTP)
  # A source package comes with the header of the same version, so look beside it first.
  find_file(LLHTTP_SOURCE llhttp.c PATH_SUFFIXES llhttp/src llhttp PATHS /usr/share /usr/src)
  cmake_path(GET LLHTTP_SOURCE PARENT_PATH LLHTTP_FOLDER)
  find_path(LLHTTP_INCLUDE llhttp.h
            HINTS ${LLHTTP_FOLDER} ${LLHTTP_FOLDER}/include ${LLHTTP_FOLDER}/../include
            PATHS /usr/share/include /usr/include PATH_SUFFIXES llhttp)
  mark_as_advanced(LLHTTP_SOURCE LLHTTP_INCLUDE)
  if(LLHTTP_SOURCE AND LLHTTP_INCLUDE)
    llhttp_build(${LLHTTP_SOURCE} ${LLHTTP_INCLUDE})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LLHTTP REQUIRED_VARS LLHTTP_ORIGIN
  REASON_FAILURE_MESSAGE
    "On Debian 13 and later, and on Ubuntu: apt-get install libllhttp-dev. On Debian 12: apt-get install node-llhttp.")

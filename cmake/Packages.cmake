# SPDX-License-Identifier: Apache-2.0
# Debian packages by cpack, for the release on which they are built: `./run package`, which says who
# the maintainer is (CTXPROP_MAINTAINER, "name <address>").
set(DEBIAN_FOLDER ${CMAKE_SOURCE_DIR}/share/debian)
cmake_host_system_information(RESULT RELEASE QUERY DISTRIB_INFO)

set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ctxprop)
set(CPACK_PACKAGE_VERSION ${CTXPROP_VERSION})
set(CPACK_PACKAGE_CONTACT "${CTXPROP_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_STRIP_FILES ON)
# The policy is installed outside of the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# What only a package has: DebianFiles.cmake, which reads the next six.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/DebianFiles.cmake)
set(CPACK_CTXPROP_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_CTXPROP_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_CTXPROP_PACKAGES ctxprop ctxprop-dev)
set(CPACK_COMPONENTS_ALL runtime dev) # in the same order
set(CPACK_CTXPROP_SUITE ${RELEASE_VERSION_CODENAME})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# An upgrade of the release finds a newer package of the same version.
set(CPACK_DEBIAN_PACKAGE_RELEASE "1+${RELEASE_ID}${RELEASE_VERSION_ID}")

file(WRITE ${CMAKE_BINARY_DIR}/debian/conffiles "/etc/ctxprop/policy\n/etc/ctxprop/ctxpropd.conf\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ctxprop)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION net)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
    ${DEBIAN_FOLDER}/postinst ${DEBIAN_FOLDER}/prerm ${DEBIAN_FOLDER}/postrm ${CMAKE_BINARY_DIR}/debian/conffiles)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "trace context for every HTTP request of a host
ctxpropd gives plaintext HTTP/1 requests a W3C trace context as they leave the
host, follows them through programs that were never instrumented, and tells for
each profile sample which request it was for. It works on packets and in the
kernel, by BPF: there is no proxy, no library, and no program is restarted.

The command ctxprop shows traces, profiles and counters, and sets the rules that
say which requests are touched. The service is not started by the installation.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME ctxprop-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEV_DESCRIPTION "labels for ctxprop's profiles, and its published map (headers)
With ctxprop_labels.h a program gives the samples of its threads labels, such as
the tenant that it works for. ctxprop_traces.h is the layout of the pinned map
traces_ctx_v1, in which profilers find the trace that a thread works on.")

include(CPack)

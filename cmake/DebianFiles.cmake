# SPDX-License-Identifier: Apache-2.0
# Run by cpack over the folders that become packages (Packages.cmake): compresses what Debian wants
# compressed, and adds copyright, changelogs, the bill of materials and the operators' pages.
set(PAGES README accuracy agent api glossary install logs otlp performance production profile scale schema spans)

find_program(GZIP gzip REQUIRED)
find_program(PYTHON python3 REQUIRED)
set(ENV{DESTDIR} "") # that of the last component

function(compress file)
  execute_process(COMMAND ${GZIP} -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The time is that of SOURCE_DATE_EPOCH, if it is set.
function(write_changelog file package)
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${file}
       "ctxprop (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) ${CPACK_CTXPROP_SUITE}; urgency=medium\n\n"
       "  * Version ${CPACK_PACKAGE_VERSION}. What is new: /usr/share/doc/${package}/changelog.gz.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
endfunction()

foreach(component package IN ZIP_LISTS CPACK_COMPONENTS_ALL CPACK_CTXPROP_PACKAGES)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(doc ${root}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${doc})
  file(INSTALL ${CPACK_CTXPROP_SOURCE}/share/debian/copyright DESTINATION ${doc})
  file(INSTALL ${CPACK_CTXPROP_SOURCE}/CHANGELOG.md DESTINATION ${doc} RENAME changelog)
  write_changelog(${doc}/changelog.Debian ${package})
  file(GLOB texts ${doc}/changelog* ${root}/usr/share/man/*/*)
  foreach(text IN LISTS texts)
    compress(${text})
  endforeach()
endforeach()

list(TRANSFORM PAGES REPLACE "(.+)" "${CPACK_CTXPROP_SOURCE}/docs/\\1.md")
file(INSTALL ${PAGES} DESTINATION ${CPACK_TEMPORARY_DIRECTORY}/runtime/usr/share/doc/ctxprop)

execute_process(COMMAND ${PYTHON} -B ${CPACK_CTXPROP_SOURCE}/ship/bill.py --build ${CPACK_CTXPROP_BUILD}
                        --installed ${CPACK_TEMPORARY_DIRECTORY}/runtime
                        --out ${CPACK_TEMPORARY_DIRECTORY}/runtime/usr/share/doc/ctxprop/sbom.cdx.json
                COMMAND_ERROR_IS_FATAL ANY)

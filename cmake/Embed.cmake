# SPDX-License-Identifier: Apache-2.0
# Writes a C file that holds other files, byte by byte, as agent/web/files.h declares them:
#   cmake -DOUTPUT=files.c -DFOLDER=page -DFILES="index.html;..." -P Embed.cmake
set(types_html "text/html; charset=utf-8")
set(types_css "text/css; charset=utf-8")
set(types_svg "image/svg+xml")
set(types_js "text/javascript; charset=utf-8")

set(arrays "")
set(rows "")
foreach(file ${FILES})
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER ${file} name)
  string(REGEX REPLACE "^.*\\." "" suffix ${file})
  string(APPEND arrays "static const unsigned char ${name}[] = {${bytes}};\n")
  string(APPEND rows "    {\"/${file}\", \"${types_${suffix}}\", ${name}, sizeof(${name})},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"web/files.h\"\n\n${arrays}\n"
  "const struct web_file web_files[] = {\n${rows}};\n"
  "const size_t web_files_count = sizeof(web_files) / sizeof(web_files[0]);\n")

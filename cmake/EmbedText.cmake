# SPDX-License-Identifier: Apache-2.0
# Writes a header with a text file as an array that ends with 0:
#   cmake -DOUTPUT=name.h -DFILE=text -DNAME=array -P EmbedText.cmake
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "static const unsigned char ${NAME}[] = {${bytes}0};\n")

# SPDX-License-Identifier: Apache-2.0
# Writes a header with a text file as an array that ends with 0, and as NAME_HASH the source of it in a
# Content-Security-Policy, sha256-BASE64:
#   cmake -DOUTPUT=name.h -DFILE=text -DNAME=array -P EmbedText.cmake
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")

# 32 bytes and a 0 are 11 times three bytes, each of them four digits; of the 0 none is said.
set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
file(SHA256 ${FILE} hash)
string(APPEND hash "00")
set(base64 "")
foreach(at RANGE 0 60 6)
  string(SUBSTRING ${hash} ${at} 6 three)
  math(EXPR three "0x${three}")
  foreach(shift 18 12 6 0)
    math(EXPR digit "(${three} >> ${shift}) & 63")
    string(SUBSTRING ${digits} ${digit} 1 digit)
    string(APPEND base64 ${digit})
  endforeach()
endforeach()
string(REGEX REPLACE "A$" "=" base64 ${base64})

string(TOUPPER ${NAME} name)
file(WRITE ${OUTPUT} "#define ${name}_HASH \"sha256-${base64}\"\n"
  "static const unsigned char ${NAME}[] = {${bytes}0};\n")
